// How the steps of an install report system errors.
import assert from 'node:assert/strict';
import { open, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { mayUseCredentials } from '../../src/install/artifacts/address.ts';
import { vendorNames } from '../../src/install/artifacts/destination.ts';
import { vendorTree } from '../../src/install/artifacts/place.ts';
import { outputEnd, runToEnd } from '../../src/install/artifacts/program.ts';
import { type LockedEntity, Lockfile } from '../../src/install/contract.ts';
import { explain, isUnexpected } from '../../src/install/errors.ts';
import { launcherName } from '../../src/install/launchers.ts';
import { runStep } from '../../src/install/step.ts';
import { testWorld } from '../support/world.ts';
import { artifactContext } from './artifacts/artifact-context.ts';
import { aFolder } from './installing.ts';

const INSIDE_THE_HUB = /went wrong inside the hub/;

test('explain: a folder that changes while it is read fails the step with a message', async (t) => {
  const folder = await aFolder(t);
  await writeFile(join(folder, 'file'), '');
  const found: Record<string, () => Promise<unknown>> = {
    'A file is where a folder should be': () => vendorTree(join(folder, 'file')),
    'longer than this filesystem allows': () => open(join(folder, 'x'.repeat(300))),
  };
  for (const [sentence, work] of Object.entries(found)) {
    const world = testWorld();
    t.after(world.close);
    const { result } = await runStep('zip.extract', { onEvent: () => {}, log: world.log }, async () => ({
      value: await work(),
    }));
    assert.equal(result.ok, false);
    assert.match(String(result.extra?.error), new RegExp(sentence));
    assert.ok(!String(result.extra?.error).includes(folder));
    assert.deepEqual(world.logged, [], 'it is not logged as an error of the hub');
  }
});

for (const code of ['ENOENT', 'EACCES', 'ENOTDIR', 'ENOSPC', 'EROFS', 'EMFILE', 'EBUSY', 'EDQUOT']) {
  test(`explain: ${code} becomes a sentence without paths`, () => {
    const message = `${code}: no, open '/srv/secret/place'`;
    const sentence = explain(Object.assign(new Error(message), { code, errno: -1, syscall: 'open' }));
    assert.match(sentence, /^[A-Z].{20,}\.$/);
    assert.doesNotMatch(sentence, INSIDE_THE_HUB);
    assert.doesNotMatch(sentence, /secret/);
  });
}

test('explain: an unknown system error is reported by its code, and logged', () => {
  const error = Object.assign(new Error('EOWNERDEAD: x'), { code: 'EOWNERDEAD', errno: -130, syscall: 'rename' });
  assert.match(explain(error), /\(EOWNERDEAD in rename\)/);
  assert.equal(isUnexpected(error), true);
  assert.match(explain(new TypeError('x is not a function')), INSIDE_THE_HUB);
  assert.match(explain(Object.assign(new Error('x'), { code: 'ERR_INVALID_ARG_TYPE' })), INSIDE_THE_HUB);
});

const locked = (id: string, name: string): LockedEntity => ({
  ...{ id, type: 'mcp_server', name: 'clock', version: '1.0.0', artifacts: [], adapters: [] },
  launchers: [{ name, artifact: 0, program: name }],
  provenance: { manifest_url: null, source_url: null, manifest_digest: 'sha256:0' },
});

test('launchers: a name of another entity is not reused', () => {
  const subject = { slug: 'io.example/time' };
  assert.equal(launcherName('clock', { subject, others: [] }), 'clock');
  assert.equal(launcherName('clock', { subject, others: [locked('mcp_server:clock@1.0.0', 'clock')] }), 'time-clock');
});

test('lockfile: reading and writing it changes no byte', () => {
  const lockfile = { version: 1, entities: [locked('mcp_server:clock@1.0.0', 'clock')] };
  assert.equal(JSON.stringify(Lockfile.parse(lockfile)), JSON.stringify(lockfile));
});

for (const [written, shown] of [
  ['404 https://me:pass@host.example/npm/left-pad', '404 https://host.example/npm/left-pad'],
  ['GET https://host.example/npm/?token=s3cr3t-s3cr3t failed', 'GET https://host.example/npm/?token=*** failed'],
  [
    "fatal: unable to access 'https://x-token:abc@host.example/a.git/'",
    "fatal: unable to access 'https://host.example/a.git/'",
  ],
  ['nothing secret in https://host.example/a?page=2', 'nothing secret in https://host.example/a?page=2'],
] as const) {
  test(`programs: output is shown without secrets: ${shown}`, () => {
    assert.equal(outputEnd(written), shown);
  });
}

test('programs: shows no login, even when the output is cut within an address', () => {
  const address = 'GET https://me:hunter2@host.example/npm';
  for (let more = 0; more < address.length; more += 1) {
    const output = `${address} ${'x'.repeat(2_000 - address.length + more)}`;
    assert.doesNotMatch(outputEnd(output), /hunter|ter2/, String(more));
  }
});

test('programs: shows only the host of the operator’s registry, however the program ends', async (t) => {
  const context = await artifactContext(t);
  const line =
    "GET https://me:pw@host.example/s3cret/npm/left-pad, '//host.example/s3cret/:x', https://host.example/, host.example with url: /s3cret/x";
  const shown =
    "GET https://host.example/*** '//host.example/***', https://host.example/*** host.example with url: ***";
  const request = { program: 'sh', cwd: context.stagingDir, whenMissing: '', isRegistrySecret: true, why: () => '' };
  const failing = runToEnd({ ...request, args: ['-c', `echo "${line}"; echo "${line}" >&2; exit 1`] }, context);
  await assert.rejects(failing, { extra: { output: `${shown}\n\n${shown}` } });
});

test('programs: shows the end of the output', () => {
  assert.equal(outputEnd(`${'x'.repeat(5_000)}end\n`).length, 2_000);
  assert.match(outputEnd(`${'x'.repeat(5_000)}end\n`), /end$/);
});

for (const line of ['fatal: No space left on device', 'npm error code ENOSPC', 'write blob: disk quota exceeded']) {
  test(`programs: a failure with '${line}' is reported as a full disk, whatever follows`, async (t) => {
    const context = await artifactContext(t);
    const request = { program: 'sh', cwd: context.stagingDir, whenMissing: '' };
    const script = (exitCode: number) => ['-c', `echo '${line}' >&2; echo 'fatal: it failed' >&2; exit ${exitCode}`];
    const run = (exitCode: number) =>
      runToEnd({ ...request, args: script(exitCode), why: () => 'It failed.' }, context);
    await assert.rejects(run(1), { message: /^The disk is full: free some space/ });
    assert.equal(await run(0), '');
  });
}

const COMMIT = 'a'.repeat(40);
const NAMES: [address: string, names: string[]][] = [
  ['https://github.com/owner/repo', ['repo', 'owner-repo']],
  ['https://github.com/owner/repo.git', ['repo', 'owner-repo']],
  ['ssh://git@github.com/owner/repo.git', ['repo', 'owner-repo']],
  ['https://github.com/owner/repo/archive/refs/heads/main.zip', ['repo', 'owner-repo']],
  ['https://github.com/owner/repo/archive/refs/tags/v1.2.3.tar.gz', ['repo', 'owner-repo']],
  [`https://github.com/owner/repo/archive/${COMMIT}.zip`, ['repo', 'owner-repo']],
  ['https://github.com/owner/repo/releases/download/v1.0/thing.mcpb', ['thing', 'repo-thing']],
  ['https://gitlab.example/group/thing/-/archive/main/thing-main.zip', ['thing-main', 'thing-thing-main']],
  ['https://example.org/thing-1.0.zip', ['thing-1.0', 'example.org-thing-1.0']],
  ['https://example.org/latest', ['archive']],
  ['https://example.org/', ['archive']],
  ['https://example.org/%2e%2e%2f%2e%2e/a%20b.zip', ['a-b']],
  ['file:///srv/thing.git', ['thing', 'srv-thing']],
];

for (const [address, names] of NAMES)
  test(`vendor names of ${address}: ${names.join(', ')}`, () => {
    assert.deepEqual(vendorNames(address), names);
  });

test('credentials are sent to named hosts only, and match whole path segments', () => {
  const trust = { credentialsFor: ['git.example.com', 'ghcr.io/team'] };
  assert.ok(mayUseCredentials(trust, 'git.example.com', '/any/repo'));
  assert.ok(mayUseCredentials(trust, 'GHCR.io', 'team/tool'));
  assert.ok(mayUseCredentials(trust, 'ghcr.io', 'team'));
  for (const [host, path] of [
    ['ghcr.io', 'teams/tool'],
    ['ghcr.io', ''],
    ['git.example.com.evil', ''],
    ['git.example.com:8443', ''],
  ] as const)
    assert.ok(!mayUseCredentials(trust, host, path), `${host}/${path}`);
});
