import assert from 'node:assert/strict';
import { aManifest } from '../test/support/builders.ts';
import { pending, publish, withGateway } from './stage/operations-stage.ts';
import { axeFindings, browserTest, overflow, screenshot, until } from './stage/stage.ts';

const aServer = (id: string) =>
  aManifest({ id, name: id, mcp_registration: { server: { transport: 'SSE', url: `https://${id}.example/sse` } } });
const many = Array.from({ length: 103 }, (_, index) => aServer(`server-${index}`));

browserTest('pending: only the servers on screen are removed', { manifests: many }, async ({ open, hub }) => {
  const left = async () => (await hub.listPending({ limit: 1, offset: 0, errorOnly: false, text: '' })).total;
  const page = await open('/operations');
  const rows = pending(page).locator('.row');
  const remove = pending(page).getByRole('button', { name: /selected…$/ });
  await rows.nth(49).waitFor();
  await pending(page).getByLabel('All on this page').check();
  await pending(page).getByRole('button', { name: 'Older' }).click();
  await pending(page).getByText('51 to 100 of 103').waitFor();
  assert.ok(await remove.isDisabled(), 'another page');
  await until(page, 'document.querySelectorAll(".rows input:checked").length === 0');
  await rows.first().getByRole('checkbox').check();
  await pending(page).getByLabel('Filter pending servers').fill('server-7');
  await rows.nth(11).waitFor({ state: 'detached' });
  assert.ok(await remove.isDisabled(), 'another filter');
  await rows.first().getByRole('checkbox').check();
  await pending(page).getByLabel('Only with an error').check();
  await page.getByText('No pending server matches the filter').waitFor();
  await pending(page).getByLabel('Only with an error').uncheck();
  await rows.first().waitFor();
  assert.ok(await remove.isDisabled(), 'the other filter');

  await pending(page).getByLabel('Filter pending servers').fill('');
  await rows.nth(49).waitFor();
  for (const _ of [1, 2]) await pending(page).getByRole('button', { name: 'Older' }).click();
  await pending(page).getByText('101 to 103 of 103').waitFor();
  await rows.nth(3).waitFor({ state: 'detached' });
  await pending(page).getByLabel('All on this page').check();
  await remove.click();
  await page.getByRole('dialog', { name: 'Remove 3 servers?' }).getByRole('button', { name: 'Remove' }).click();
  await page.getByText('3 servers removed.').waitFor();
  // The current page no longer exists, so the previous one is shown.
  await pending(page).getByText('51 to 100 of 100').waitFor();
  await rows.nth(49).waitFor();
  assert.equal(await left(), 100);
});

const crowd = [...many, ...Array.from({ length: 1_100 }, (_, index) => aServer(`crowd-${index}`))];

browserTest('pending: all matching servers are removed, on every page', { manifests: crowd }, async ({ open, hub }) => {
  const left = async (text: string) => (await hub.listPending({ limit: 1, offset: 0, errorOnly: false, text })).total;
  const page = await open('/operations');
  const rows = pending(page).locator('.row');
  await rows.nth(49).waitFor();
  await pending(page).getByLabel('Filter pending servers').fill('crowd');
  await pending(page).getByText('1 to 50 of 1,100').waitFor();
  const all = pending(page).getByRole('button', { name: 'Remove all 1,100 that match…' });
  await screenshot(page, 'operations-remove-all');
  await all.click();
  const question = page.getByRole('dialog', { name: 'Remove 1,100 servers that match “crowd”?' });
  await question.getByRole('button', { name: 'Cancel' }).click();
  assert.equal(await left('crowd'), 1_100, 'nothing before the response');
  await all.click();
  await question.getByRole('button', { name: 'Remove' }).click();
  await pending(page).getByRole('status').getByText('1,100 servers removed.').first().waitFor();
  assert.deepEqual([await left('crowd'), await left('')], [0, 103]);
  await pending(page).getByLabel('Filter pending servers').fill('server-7');
  await rows.nth(11).waitFor({ state: 'detached' });
  await rows.first().waitFor();
  assert.equal(
    await pending(page)
      .getByRole('button', { name: /^Remove all/ })
      .count(),
    0,
    'all are on this page',
  );
});

browserTest(
  'pending: reports what was removed, also when a later part fails',
  { manifests: crowd },
  async ({ open }) => {
    const page = await open('/operations', { expects: /503/ });
    await pending(page).getByText('1 to 50 of 1,203').waitFor();
    let asked = 0;
    await page.route(/\/gateways\/pending\/delete$/, (route) => {
      asked += 1;
      const problem = { status: 503, title: 'Busy', detail: 'The hub cannot keep up.' };
      if (asked === 1) return route.continue();
      return route.fulfill({ status: 503, contentType: 'application/problem+json', body: JSON.stringify(problem) });
    });
    await pending(page).getByRole('button', { name: 'Remove all 1,203…' }).click();
    const question = page.getByRole('dialog', { name: 'Remove 1,203 servers?' });
    await question.getByRole('button', { name: 'Remove' }).click();
    await pending(page).getByText('The hub cannot keep up.').first().waitFor();
    await pending(page).getByText('1,000 servers removed before the failure.').first().waitFor();
    await pending(page).getByText('1 to 50 of 203').waitFor();
  },
);

browserTest('pending: large numbers are exact', { manifests: many }, async ({ open }) => {
  const page = await open('/');
  await page.route(/\/gateways\/pending\?/, async (route) => {
    const response = await route.fetch();
    await route.fulfill({ response, json: { ...(await response.json()), total: 10_669 } });
  });
  await page.getByRole('link', { name: 'Operations', exact: true }).click();
  await pending(page).getByText('1 to 50 of 10,669').waitFor();
  await pending(page).getByRole('button', { name: 'Remove all 10,669…' }).waitFor();
  assert.equal(await pending(page).locator('.head-count').innerText(), '10,669');
});

browserTest(
  'pending: registered servers whose update failed cannot be removed',
  { manifests: many },
  async ({ open }) => {
    const page = await open('/operations');
    await page.route(/\/gateways\/pending\?/, async (route) => {
      // Marks them as registered with a failed update.
      const answer = await (await route.fetch({ url: route.request().url().replace('&error_only=true', '') })).json();
      for (const item of answer.items) item.gateway_registered_at = '2026-06-01T12:00:00.000Z';
      await route.fulfill({ json: answer });
    });
    await pending(page).getByLabel('Only with an error').check();
    await pending(page).getByRole('button', { name: 'Remove all that match…' }).click();
    await pending(page).getByText('None of them can be removed').first().waitFor();
    assert.equal(await page.getByRole('dialog').count(), 0);
  },
);

browserTest(
  'pending: servers with errors are filtered, retried and removed',
  { settings: withGateway },
  async ({ open, hub }, t) => {
    const host = await publish(t);
    await hub.addRemote(host.url('/index.json'));
    const page = await open('/operations');
    await page.getByText('Nothing is pending').waitFor();
    await page.getByRole('button', { name: 'Sync all' }).click();
    await page.getByText(/2 servers registered, \d could not be registered\./).waitFor();
    const rows = pending(page).locator('.row');
    await rows.first().waitFor();
    assert.equal(await rows.count(), 1, 'registered servers are not pending');
    assert.match(await rows.innerText(), /beta[\s\S]*1 try/);
    assert.equal(await rows.locator('.reason-bad').count(), 1);
    await pending(page).getByRole('heading', { name: 'Pending servers 1', exact: true }).waitFor();
    await screenshot(page, 'operations-pending');

    await pending(page).getByLabel('Filter pending servers').fill('nothing like it');
    await page.getByText('No pending server matches the filter').waitFor();
    await pending(page).getByLabel('Filter pending servers').fill('beta');
    await rows.first().waitFor();
    await pending(page).getByRole('heading', { name: 'Pending servers 1 matching' }).waitFor();

    await pending(page).getByRole('button', { name: 'Retry all' }).click();
    await rows.getByText('2 tries').waitFor();
    await pending(page).getByRole('status').getByText('1 of 1 remote read').first().waitFor();

    const button = pending(page).getByRole('button', { name: /^Remove/ });
    assert.ok(await button.isDisabled());
    await pending(page).getByLabel('All on this page').check();
    await button.click();
    const question = page.getByRole('dialog', { name: 'Remove 1 server?' });
    await question.getByText('This removes it from the catalog.').waitFor();
    await question.getByRole('button', { name: 'Cancel' }).click();
    await button.click();
    await question.getByRole('button', { name: 'Remove' }).click();
    await pending(page).getByRole('status').getByText('1 server removed.').first().waitFor();
    await rows.first().waitFor({ state: 'detached' });
  },
);

browserTest(
  'pending: servers that can never be registered are counted separately, and shown on request',
  { settings: withGateway },
  async ({ open, hub }, t) => {
    const host = await publish(t);
    await hub.addRemote(host.url('/index.json'));
    await hub.syncRemotes();
    const page = await open('/operations', { reducedMotion: 'reduce', bypassCSP: true });
    const rows = pending(page).locator('.row');
    await pending(page).getByText('1 other server can never be registered').waitFor();
    await rows.getByRole('link', { name: 'beta' }).waitFor();
    assert.equal(await rows.count(), 1);

    await pending(page).getByRole('button', { name: 'Show it' }).click();
    await rows.getByRole('link', { name: 'local' }).waitFor();
    await rows.getByText('It runs as a local process (stdio)').waitFor();
    assert.equal(await rows.count(), 1);
    assert.equal(await rows.locator('.reason-bad').count(), 0, 'nothing has failed');
    assert.deepEqual(await axeFindings(page), []);
    await screenshot(page, 'operations-unregistrable');
    await page.setViewportSize({ width: 390, height: 844 });
    assert.ok((await overflow(page)) <= 0);
    await screenshot(page, 'operations-unregistrable-phone');

    await pending(page).getByRole('button', { name: 'Show servers that can be registered' }).click();
    await rows.getByRole('link', { name: 'beta' }).waitFor();
  },
);

browserTest('pending: a hub without a gateway says so', { manifests: [aServer('alone')] }, async ({ open }) => {
  const page = await open('/operations');
  await pending(page).getByText('This hub has no gateway (MCP_GATEWAY_URL is not set), so servers are not').waitFor();
});
