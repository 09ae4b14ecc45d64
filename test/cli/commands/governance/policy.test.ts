import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { ApprovalPage, ApprovalReview, PolicyChange, PolicyTest } from '../../../../src/policy/contract.ts';
import { aManifest } from '../../../support/builders.ts';
import { tempDir } from '../../../support/databases/databases.ts';
import { testBothWays, testOnServer } from '../../hubs.ts';
import { inTerminal } from '../../terminal/in-terminal.ts';

const server = (id: string) =>
  aManifest({
    id,
    name: `com.acme/${id}`,
    mcp_registration: { server: { transport: 'SSE', url: `https://h.example/${id}/sse` } },
  });
const manifests = [server('alpha'), server('beta')];
const uid = (id: string) => `mcp_server:${id}@1.0.0`;
const ASK = 'version: 1\nrules:\n  - { name: ask, match: { type: mcp_server }, outcome: require_approval }\n';

testBothWays('hub policy: validates, counts, applies, shows and explains', { manifests }, async (t, { hub, json }) => {
  const file = join(await tempDir(t), 'policy.yaml');
  assert.match((await hub('policy', 'show')).out, /^This hub has no policy/);
  await writeFile(file, 'version: 1\nrules:\n  - match: { licence: MIT }\n    outcome: block\n');
  const broken = await hub('policy', 'check', file);
  assert.equal(broken.exitCode, 2);
  assert.match(broken.error, /line 3, column 14: rules\.0\.match\.licence is not a known field here/);
  assert.equal((await hub('policy', 'apply', file)).exitCode, 2);
  assert.equal((await hub('policy', 'check', `${file}.not-there`)).exitCode, 2);

  await writeFile(file, ASK);
  assert.equal((await hub('policy', 'check', file)).out, 'The policy can be used: 1 rule.\n');
  const dry = await hub('policy', 'apply', file, '--dry-run');
  assert.match(dry.out, /^2 of 2 entities affected\.\n {2}search: allow → require_approval {2}2\n/);
  assert.match(dry.out, /Nothing was changed/);
  const applied = await json<PolicyChange>('policy', 'apply', file);
  assert.deepEqual([applied.exitCode, applied.answer.affected], [0, 2]);
  assert.ok((await hub('policy', 'show')).out.startsWith(ASK));
  const tested = await hub('policy', 'test', uid('alpha'));
  assert.match(tested.out, /install +require_approval \(not approved yet\) {2}rule 1 'ask'\n/);
  await writeFile(file, 'version: 1\n');
  const tried = await json<PolicyTest>('policy', 'test', uid('alpha'), '--file', file);
  assert.deepEqual(new Set(tried.answer.decisions.map(({ result }) => result)), new Set(['allowed']));
  assert.equal((await hub('policy', 'test', 'mcp_server:nothing@1')).exitCode, 3);
  assert.equal((await hub('policy', 'test', 'alpha')).out, tested.out);
  const shown = (await hub('show', uid('alpha'))).out;
  assert.match(shown, /Hidden by +rule 1 'ask'/);
  assert.match(shown, /Install +The policy requires approval/);
  assert.match((await hub('catalog', '--hidden')).out, /alpha[\s\S]*beta/);
  assert.equal((await hub('catalog', '--hidden', '--blocked')).exitCode, 2);
});

testOnServer(
  'hub approvals: lists, reviews, approves, rejects and revokes',
  { manifests },
  async (t, { hub, json, environment }) => {
    const file = join(await tempDir(t), 'policy.yaml');
    await writeFile(file, ASK);
    assert.equal((await hub('approvals')).out, 'No entity is pending.\n');
    await hub('policy', 'apply', file);
    const waiting = await hub('approvals');
    assert.match(waiting.out, /^ENTITY +PUBLISHER +LICENSE +REQUIRED BY\n/);
    assert.match((await hub('approvals', '--limit', '1')).out, /1 of 2 entities; next page: --offset 1\n$/);
    assert.match(waiting.out, /alpha.*com\.acme.*Apache-2\.0.*rule 1 'ask'.*2 of 2 entities\n$/s);
    const review = await json<ApprovalReview>('approvals', uid('alpha'));
    assert.equal(review.answer.launch, 'https://h.example/alpha/sse');
    const reviewed = (await hub('approvals', 'alpha')).out;
    assert.match(reviewed, /Runs +https:\/\/h\.example\/alpha\/sse/);
    assert.match(reviewed, /^Required by {2}search: .*\n(.*\n)*Includes {5}server\.server\.url: /m);

    const blind = await hub('approve', uid('alpha'));
    assert.deepEqual([blind.exitCode, /reviewed content with --digest/.test(blind.error)], [2, true]);
    const ask = async () => 'y';
    const asked = await inTerminal(['approve', uid('alpha')], { environment, ask });
    assert.equal(asked.out, `approved  ${uid('alpha')}\n`);
    assert.match(asked.error, /Runs +https:\/\/h\.example\/alpha\/sse/);
    const declined = await inTerminal(['approve', uid('beta')], { environment, ask: async () => '' });
    assert.equal(declined.out, 'Nothing was decided.\n');
    const { digest } = (await json<ApprovalReview>('approvals', uid('beta'))).answer;
    assert.equal((await hub('reject', uid('beta'))).exitCode, 2, 'without a reason');
    assert.equal((await hub('reject', uid('beta'), '--reason', 'Sold.')).exitCode, 0);
    assert.match((await hub('policy', 'test', uid('beta'))).out, /install +require_approval \(rejected\)/);
    assert.match((await hub('policy', 'test', uid('alpha'))).out, /install +require_approval \(approved\)/);
    const other = await hub('approve', uid('beta'), '--digest', digest);
    assert.equal(other.exitCode, 1);
    assert.match(other.error, /was rejected by .*\(Sold\)/);
    assert.match((await hub('approvals', '--state', 'rejected')).out, /beta.*Sold\./);
    assert.equal((await hub('revoke', uid('alpha'), uid('beta'))).exitCode, 0);
    assert.equal((await json<ApprovalPage>('approvals')).answer.total, 2);
  },
);

testOnServer('hub remotes set --register: decides what reaches the gateway', {}, async (_t, { hub }) => {
  await hub('remotes', 'add', 'https://catalog.example.org/index.json', '--name', 'team');
  const { out, exitCode } = await hub('remotes', 'set', 'team', '--register', 'approved');
  assert.equal(exitCode, 0);
  assert.match(out, /REGISTERS/);
  assert.match(out, /approved/);
  assert.equal((await hub('remotes', 'set', 'team', '--register', 'some')).exitCode, 2);
});
