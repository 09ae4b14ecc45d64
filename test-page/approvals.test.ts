import assert from 'node:assert/strict';
import { aManifest } from '../test/support/builders.ts';
import { until } from '../test/support/until.ts';
import { axeFindings, browserTest, screenshot, until as untilPage } from './stage/stage.ts';

const TOKEN = 'token-of-an-admin';
const ASK = 'version: 1\nrules:\n  - { name: ask, match: { type: mcp_server }, outcome: require_approval }\n';
const manifests = Array.from({ length: 20 }, (_, index) => {
  const id = `server-${String(index).padStart(2, '0')}`;
  return aManifest({
    id,
    name: `com.acme/${id}`,
    title: `Server ${index}`,
    artifacts: [{ kind: 'pypi', spec: { package: id, version: '1.0.0' } }],
    mcp_registration: { server: { transport: 'SSE', url: `https://h.example/${id}/sse` } },
  });
});

browserTest('operations: shows how many entries wait, with a link to them', { manifests }, async ({ hub, open }) => {
  await hub.changePolicy(ASK);
  const page = await open('/operations');
  const attention = page.getByRole('region', { name: 'Entries that need attention' });
  await attention.getByText('20 entries waiting for approval.').waitFor();
  assert.deepEqual(await axeFindings(page), []);
  await page.evaluate('window.wasLoadedOnce = true');
  await attention.getByRole('link', { name: '20 entries' }).click();
  await page.getByRole('heading', { name: 'Server 0 1.0.0' }).waitFor();
  await page.getByRole('link', { name: 'Policy' }).click();
  await page.getByRole('heading', { name: 'Policy', level: 1 }).waitFor();
  assert.equal(await page.evaluate('window.wasLoadedOnce'), true);
});

browserTest(
  'approvals: twenty entries are reviewed by keyboard alone',
  { manifests, settings: { API_TOKEN: TOKEN } },
  async ({ hub, open }) => {
    await hub.changePolicy(ASK);
    const page = await open('/operations/approvals');
    await page.getByLabel('Token').fill(TOKEN);
    await page.keyboard.press('Enter');
    const review = page.getByRole('region', { name: 'Review' });
    await review.getByRole('heading', { name: 'Server 0 1.0.0' }).waitFor();
    await review.getByText('https://h.example/server-00/sse').first().waitFor();
    await review.getByText('com.acme', { exact: true }).waitFor();
    assert.deepEqual(await axeFindings(page), []);
    await screenshot(page, 'approvals');

    // Without the focus in the queue or its details, the keys do nothing.
    for (const key of ['j', 'a']) await page.keyboard.press(key);
    await review.getByRole('heading', { name: 'Server 0 1.0.0' }).waitFor();
    assert.equal(await page.getByRole('dialog').count(), 0);
    while ((await page.locator('.queue-row:focus').count()) === 0) await page.keyboard.press('Tab');
    await page.keyboard.press('j');
    await review.getByRole('heading', { name: 'Server 1 1.0.0' }).waitFor();
    await page.keyboard.press('k');
    await review.getByRole('heading', { name: 'Server 0 1.0.0' }).waitFor();
    await page.keyboard.press('Enter');
    assert.equal(await page.locator(':focus').getAttribute('aria-label'), 'Review');

    for (let index = 0; index < 20; index += 1) {
      await review.getByRole('heading', { name: `Server ${index} 1.0.0` }).waitFor();
      if (index % 5 === 4) {
        await page.keyboard.press('r');
        await page.locator('dialog input:focus').waitFor();
        await page.keyboard.type('Sends data abroad.');
        await page.keyboard.press('Enter');
      } else {
        await page.keyboard.press('a');
        await page.getByRole('heading', { name: `Approve Server ${index} 1.0.0?` }).waitFor();
        if (index === 0) await screenshot(page, 'approvals-dialog');
        await page.locator('dialog input:focus').waitFor();
        await page.keyboard.press('Enter');
      }
      await page
        .getByText(/^(Approved|Rejected): mcp_server:server-/)
        .filter({ hasText: manifests[index]?.id as string })
        .waitFor();
    }
    await page.getByText('Nothing is waiting for approval').waitFor();
    const of = async (state: 'approved' | 'rejected') =>
      (await hub.listApprovals({ state, limit: 50, offset: 0 })).total;
    assert.deepEqual([await of('approved'), await of('rejected')], [16, 4]);
    assert.deepEqual(
      (await hub.listAudit({ limit: 100 })).items.filter(({ operation }) => operation === 'decideApproval').length,
      20,
    );
  },
);

browserTest(
  'approvals: a decision made meanwhile by somebody else is reported',
  { manifests: manifests.slice(0, 2) },
  async ({ hub, open }) => {
    await hub.changePolicy(ASK);
    const page = await open('/operations/approvals', { expects: /409/ });
    const review = page.getByRole('region', { name: 'Review' });
    await review.getByText('https://h.example/server-00/sse').first().waitFor();
    await hub.decideApproval('mcp_server:server-00@1.0.0', { decision: 'reject', reason: 'No.' });
    await page.getByRole('button', { name: 'Approve…' }).click();
    await page.locator('dialog input:focus').waitFor();
    await page.keyboard.press('Enter');
    await page.getByRole('alert').getByText('was rejected by').waitFor();
    await page.keyboard.press('Escape');
    await review.getByRole('heading', { name: 'Server 1 1.0.0' }).waitFor();
    await page.getByRole('button', { name: 'Rejected' }).click();
    await review.getByText('No.').waitFor();
    await page.getByRole('button', { name: 'Revoke…' }).click();
    await page.locator('dialog input:focus').waitFor();
    await page.keyboard.press('Enter');
    await until(async () => (await hub.listApprovals({ state: 'pending', limit: 5, offset: 0 })).total === 2);
  },
);

browserTest(
  'approvals: after a decision, the focus is on the next entry; other tabs do not show the message',
  { manifests: manifests.slice(0, 3) },
  async ({ hub, open }) => {
    await hub.changePolicy(ASK);
    const page = await open('/operations/approvals');
    const hasFocus = (words: string) =>
      untilPage(
        page,
        `document.activeElement !== document.body && document.activeElement.textContent.includes('${words}')`,
      );
    const keys = page.locator('.keys');
    const review = page.getByRole('region', { name: 'Review' });
    await review.getByText("to be installed (rule 1 'ask')").waitFor();
    await screenshot(page, 'approvals-pending');
    await page.getByRole('button', { name: 'Approve…' }).click();
    await page.locator('dialog input:focus').waitFor();
    await page.keyboard.press('Enter');
    await hasFocus('Server 1');
    await page.getByRole('button', { name: 'Reject…' }).click();
    await page.getByLabel('Reason').fill('No.');
    await page.keyboard.press('Enter');
    await hasFocus('Server 2');
    assert.match((await keys.textContent()) ?? '', /approve/);
    await page.getByRole('button', { name: 'Approved' }).click();
    await review.getByRole('heading', { name: 'Server 0' }).waitFor();
    assert.doesNotMatch((await keys.textContent()) ?? '', /approve/);
    assert.equal(await page.getByText('Rejected: mcp_server').count(), 0);
    await screenshot(page, 'approvals-approved');
    await page.getByRole('button', { name: 'Pending' }).click();
    await page.getByRole('button', { name: 'Approve…' }).click();
    await page.locator('dialog input:focus').waitFor();
    await page.keyboard.press('Enter');
    await hasFocus('Nothing is waiting');
  },
);

browserTest(
  'approvals: on a phone, a click on an entry scrolls to its review',
  { manifests: manifests.slice(0, 12) },
  async ({ hub, open }) => {
    await hub.changePolicy(ASK);
    const page = await open('/operations/approvals');
    await page.setViewportSize({ width: 390, height: 700 });
    const review = page.getByRole('region', { name: 'Review' });
    await review.getByRole('heading', { name: 'Server 0' }).waitFor();
    assert.equal(await page.evaluate('scrollY'), 0);
    await page.locator('.queue-row', { hasText: 'Server 1 1.0.0' }).click();
    await review.getByRole('heading', { name: 'Server 1 1.0.0' }).waitFor();
    await untilPage(page, "document.querySelector('.review h2').getBoundingClientRect().top < innerHeight");
    await screenshot(page, 'approvals-phone');
    await page.setViewportSize({ width: 1280, height: 700 });
    await page.evaluate('scrollTo(0, 0)');
    await page.locator('.queue-row', { hasText: 'Server 2 1.0.0' }).click();
    await review.getByRole('heading', { name: 'Server 2 1.0.0' }).waitFor();
    assert.equal(await page.evaluate('scrollY'), 0, 'the review is next to the list');
  },
);

const MANY = Array.from({ length: 120 }, (_, index) => aManifest({ id: `s-${index}`, name: `s-${index}` }));

browserTest('approvals: the queue can be listed to its end', { manifests: MANY }, async ({ hub, open }) => {
  await hub.changePolicy(ASK);
  const page = await open('/operations/approvals');
  await page.getByRole('button', { name: 'Show more (70 left)' }).click();
  await page.getByRole('button', { name: 'Show more (20 left)' }).click();
  await page.getByRole('region', { name: '120 of 120' }).waitFor();
  assert.equal(await page.locator('.queue-row').count(), 120);
});

browserTest(
  'entity: the page shows what the policy does with it',
  { manifests: manifests.slice(0, 1) },
  async ({ hub, open }) => {
    await hub.changePolicy(ASK);
    const page = await open('/entities/mcp_server:server-00@1.0.0');
    const notice = page.getByText('Waiting for approval').locator('..');
    await notice.getByText("It is hidden from search by rule 1 'ask'.").waitFor();
    await notice.getByText(/^The policy requires approval before /).waitFor();
    await notice.getByText("It is kept out of the gateway by rule 1 'ask'.").waitFor();
    await notice.getByRole('link', { name: 'Approvals' }).waitFor();
    assert.equal(await page.getByRole('button', { name: /Install/ }).count(), 0);
    assert.deepEqual(await axeFindings(page), []);
    await screenshot(page, 'entity-waiting');
    await hub.decideApproval('mcp_server:server-00@1.0.0', { decision: 'reject', reason: 'Sends data abroad.' });
    await page.reload();
    await page.locator('.notice-title', { hasText: /^Rejected$/ }).waitFor();
    await page.getByText(/^A reviewer has rejected .* \(Sends data abroad\.\)/).waitFor();
    await screenshot(page, 'entity-rejected');
    await page.getByText('Review it in').getByRole('link', { name: 'Approvals' }).click();
    await page.getByRole('button', { name: 'Rejected', pressed: true }).waitFor();
    await page.getByRole('button', { name: 'Revoke' }).waitFor();
    await page.getByRole('button', { name: 'Approved' }).click();
    await page.getByText('No entry is approved').waitFor();
    await page.goBack();
    await page.getByRole('button', { name: 'Revoke' }).waitFor();
    await page.goBack();
    await hub.decideApproval('mcp_server:server-00@1.0.0', { decision: 'revoke', reason: 'Not any longer.' });
    const { digest } = await hub.getApproval('mcp_server:server-00@1.0.0');
    await hub.decideApproval('mcp_server:server-00@1.0.0', { decision: 'approve', digest });
    await page.reload();
    await page.getByRole('region', { name: 'At a glance' }).getByText('approved', { exact: true }).waitFor();
    await hub.changePolicy('version: 1\nrules:\n  - { match: { type: mcp_server }, install: block }\n');
    await page.reload();
    await page.getByText('Restricted by the policy of this hub').waitFor();
    await page.getByText('The policy does not allow').waitFor();
  },
);

browserTest('policy: is edited, checked with its effect, and applied', { manifests }, async ({ hub, open }) => {
  const page = await open('/operations/policy', { expects: /400/ });
  await page.getByText('This hub has no policy').waitFor();
  const text = page.getByLabel('Policy (YAML or JSON)');
  await text.fill('version: 1\nrules:\n  - match: { licence: MIT }\n    outcome: block\n');
  await page.getByRole('button', { name: 'Check' }).click();
  await page.getByRole('alert').getByText('line 3, column 14').waitFor();
  assert.equal(await page.getByRole('button', { name: 'Apply' }).isDisabled(), true);
  await text.fill(ASK);
  await page.getByRole('button', { name: 'Check' }).click();
  await page.getByText('It would affect 20 of 20 entries').waitFor();
  await page.getByText('register: allow → require_approval, 20 entries').waitFor();
  assert.deepEqual(await axeFindings(page), []);
  await screenshot(page, 'policy');
  assert.equal((await hub.getPolicy()).text, null);
  await page.getByRole('button', { name: 'Apply' }).click();
  await page.getByText('In force; 20 of 20 entries affected').waitFor();
  assert.equal((await hub.getPolicy()).text, ASK);
});

browserTest(
  'policy: an operator can only read it, and is told so',
  { settings: { API_TOKEN: TOKEN } },
  async ({ hub, open }) => {
    await hub.changePolicy(ASK);
    const { token } = await hub.createToken({ name: 'ada', role: 'operator', scope: [] });
    const page = await open('/operations/policy');
    await page.getByLabel('Token').fill(token);
    await page.keyboard.press('Enter');
    await page.getByText('Only admins can change the policy.').waitFor();
    assert.equal(await page.getByLabel('Policy (YAML or JSON)').isEditable(), false);
    assert.equal(await page.getByRole('button', { name: 'Check' }).count(), 0);
    await screenshot(page, 'policy-as-operator');
    assert.deepEqual(await axeFindings(page), []);
  },
);
