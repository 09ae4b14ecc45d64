import assert from 'node:assert/strict';
import { aManifest } from '../test/support/builders.ts';
import { startIndexServer } from '../test/support/servers/index-server.ts';
import { unusedAddress } from '../test/support/servers/unused-address.ts';
import { pending, publish, remoteRow, withGateway } from './stage/operations-stage.ts';
import { axeFindings, browserTest, screenshot, until } from './stage/stage.ts';

const TOKEN = 'token-of-an-admin';
/** A hub without entries and remotes. */
const empty = { isShared: true };

browserTest(
  'operations: the life of a remote: add, sync, rejections, history, remove',
  { settings: { API_TOKEN: TOKEN } },
  async ({ open, world }, t) => {
    const host = await publish(t);
    host.delay((path) => (path.startsWith('/m/') ? 150 : 0));
    const page = await open('/operations', { expects: /400/ });
    await page.getByText('Operators only').waitFor();
    assert.equal(await page.getByRole('heading', { name: 'Remotes' }).count(), 0);
    await page.getByLabel('Token', { exact: true }).fill(TOKEN);
    await page.getByRole('button', { name: 'Sign in' }).click();

    const remotes = page.getByRole('region', { name: 'Remotes' });
    await page.getByText('No remotes yet').waitFor();
    await page.getByLabel('Address of an index').fill('http://name:secret@h.example/');
    await page.getByRole('button', { name: 'Add' }).click();
    await page.getByRole('alert').waitFor();
    await page.getByLabel('Address of an index').fill(host.url('/index.json'));
    await page.getByRole('button', { name: 'Add' }).click();
    const row = remoteRow(page, host.url('/index.json'));
    await row.getByText('Never read').waitFor();
    await remotes.getByRole('status').getByText('/index.json added').first().waitFor();
    await page.getByLabel('Address of an index').fill(host.url('/index.json'));
    await page.getByRole('button', { name: 'Add' }).click();
    await remotes.getByRole('status').getByText('Already added: ').first().waitFor();
    assert.equal(await row.getByText('Refused manifests').count(), 0, 'nothing is refused yet');
    assert.equal(await page.getByRole('alert').count(), 0, 'a corrected address is no longer reported');

    await page.getByRole('button', { name: 'Sync all' }).click();
    await page.locator('.work').getByText('Syncing all remotes').waitFor();
    await page.locator('.work progress').first().waitFor();
    await page.getByText('1 of 1 remote read').waitFor();
    await row.getByText('4 manifests').waitFor();
    await row.getByText('Refused manifests: 1').click();
    await row.locator('.rejections', { hasText: 'broken.json' }).waitFor();
    assert.match((await row.locator('.rejections').textContent()) ?? '', /type/);

    await page.getByRole('img', { name: 'The last ingest: 1 refused, 4 new, 0 changed, 0 unchanged.' }).waitFor();
    world.setTime('2026-06-01T12:05:00.000Z');
    await row.getByRole('button', { name: /^Ingest now \(.+\)$/ }).click();
    await page.locator('.notice').getByText('0 new, 0 changed, 4 unchanged, 1 refused.').waitFor();
    await page.getByRole('img', { name: /The last 2 ingests/ }).waitFor();
    await page.getByText('As a table').click();
    assert.equal(await page.locator('.panel tbody tr').count(), 2);
    await page.locator('.panel tbody tr').nth(1).getByText('What changed').click();
    assert.equal(await page.locator('.run-changes a').count(), 4);
    await screenshot(page, 'operations-remotes');

    await row.getByRole('button', { name: 'Remove' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Cancel' }).click();
    await row.getByRole('button', { name: 'Remove' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Remove' }).click();
    await page.getByText('No remotes yet').waitFor();
    await remotes.getByRole('status').getByText('/index.json removed.').first().waitFor();
  },
);

browserTest(
  'operations: charts have names, show deletions, and tell remotes apart',
  {},
  async ({ open, hub, world }, t) => {
    const host = await publish(t);
    await hub.addRemote(host.url('/index.json'), { name: 'team' });
    await hub.syncRemotes();
    world.setTime('2026-06-01T12:05:00.000Z');
    await hub.addRemote(host.url('/gone.json'), { name: 'lost' });
    const page = await open('/operations');
    await page.getByRole('button', { name: 'Sync all' }).click();
    const remotes = page.getByRole('region', { name: 'Remotes' });
    await remotes.getByText('1 of 2 remotes read').waitFor();
    await remotes
      .getByRole('listitem')
      .filter({ hasText: /^lost: .*404/ })
      .waitFor();
    const history = page.getByRole('region', { name: 'Ingest history' });
    assert.match(await history.innerText(), /1: team, 2: lost\. Oldest first/);
    await history.getByText('As a table').click();
    assert.deepEqual((await history.locator('.run-remote [title]').allInnerTexts()).sort(), ['lost', 'team', 'team']);
    const session = await page.context().newCDPSession(page);
    const { nodes } = await session.send('Accessibility.getFullAXTree');
    const figures = nodes.filter(({ role }) => role?.value === 'figure').map(({ name }) => name?.value);
    assert.deepEqual(figures, ['Catalog size', 'Search latency', 'Ingest history']);
    await page.getByRole('img', { name: /^4 entries \(all versions\); unchanged since/ }).waitFor();

    await hub.removeRemote(host.url('/index.json'), { purge: true });
    await page.reload();
    await page.getByRole('img', { name: /^0 entries now \(all versions\); between 0 and 4 since/ }).waitFor();
    await screenshot(page, 'operations-emptied');
  },
);

browserTest('operations: an unreadable remote says why', {}, async ({ open, hub }, t) => {
  const host = await startIndexServer(t);
  await hub.addRemote(host.url('/gone.json'));
  const page = await open('/operations');
  await page.getByRole('button', { name: 'Sync all' }).click();
  await page.getByText('0 of 1 remote read').waitFor();
  const row = remoteRow(page, host.url('/gone.json'));
  await row.getByText('failed', { exact: true }).waitFor();
  assert.match((await row.locator('.reason-bad').textContent()) ?? '', /^It answered .*404.*\.$/);
  assert.match((await row.textContent()) ?? '', /Tried .* · 0 manifests failed/);
  await screenshot(page, 'operations-failed-remote');
  await page.getByText('As a table').click();
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.setViewportSize({ width: 390, height: 844 });
    await page.emulateMedia({ colorScheme });
    const reason = page.locator('tbody tr').getByText('404');
    const [shown, cells] = [await reason.boundingBox(), await page.locator('tbody tr').boundingBox()];
    assert.ok(shown && cells && shown.x < 390, 'the start of the reason is visible');
    assert.ok(cells.height < 150, 'no row grows for hidden content');
    await screenshot(page, `operations-history-${colorScheme}-phone`);
  }
});

browserTest(
  'operations: another user’s sync is shown, and a second one is refused with a message',
  {},
  async ({ open, hub }, t) => {
    const host = await publish(t);
    const held = Promise.withResolvers<void>();
    host.answer('/m/alpha.json', async (_request, response) => {
      await held.promise;
      response.end(JSON.stringify(aManifest({ id: 'alpha' })));
    });
    await hub.addRemote(host.url('/index.json'));
    const page = await open('/operations', { expects: /409/ });
    await remoteRow(page, host.url('/index.json')).waitFor();
    const sync = hub.syncRemotes();
    await page.getByText('Sync in progress').waitFor();
    await page.getByRole('button', { name: 'Sync all' }).click();
    await page.getByRole('alert').waitFor();
    held.resolve();
    await sync;
    await page.locator('.work').waitFor({ state: 'hidden' });
    await pending(page).locator('.row', { hasText: 'gamma' }).waitFor();
    await page.getByRole('img', { name: /The last ingest:/ }).waitFor();
  },
);

browserTest(
  'operations: a failed first request is retried, and its error then disappears',
  {},
  async ({ open, hub }, t) => {
    const host = await publish(t);
    await hub.addRemote(host.url('/index.json'));
    const page = await open('/', { expects: /ERR_CONNECTION_REFUSED/ });
    await page.route(/\/remotes$/, (route) => route.abort('connectionrefused'));
    await page.getByRole('navigation', { name: 'Pages' }).getByRole('link', { name: 'Operations' }).click();
    const alert = page.getByRole('alert');
    await alert.getByText('The hub does not answer').waitFor();
    await page.unroute(/\/remotes$/);
    await remoteRow(page, host.url('/index.json')).waitFor();
    assert.equal(await alert.count(), 0);

    await page.getByLabel('Address of an index').fill('http://name:secret@h.example/');
    await page.route(/\/remotes$/, (route) =>
      route.request().method() === 'POST' ? route.abort('connectionrefused') : route.continue(),
    );
    await page.getByRole('button', { name: 'Add' }).click();
    await alert.waitFor();
    page.forget();
    await until(page, 'performance.getEntriesByName(location.origin + "/ingest/status").length > 3');
    assert.equal(await alert.count(), 1, 'polling does not clear the error of a user action');
  },
);

browserTest('operations: a script that fails to load is reported, and loaded again', empty, async ({ open }) => {
  const page = await open('/', { expects: /ERR_CONNECTION_REFUSED/ });
  await page.route(/\/assets\/operator-pages/, (route) => route.abort('connectionrefused'));
  await page.getByRole('navigation', { name: 'Pages' }).getByRole('link', { name: 'Operations' }).click();
  await page.getByRole('alert').getByText('This page could not be loaded').waitFor();
  await page.unroute(/\/assets\/operator-pages/);
  await page.getByRole('button', { name: 'Reload' }).click();
  await page.getByRole('region', { name: 'Health' }).waitFor();
});

browserTest('operations: shows that the database of the hub is unreachable', empty, async ({ open, origin }) => {
  const page = await open('/', { expects: /503|401|ERR_CONNECTION_REFUSED/ });
  const fulfil = (path: RegExp, status: number, contentType: string, body: object) =>
    page.route(path, (route) => route.fulfill({ status, contentType, body: JSON.stringify(body) }));
  await fulfil(/\/health/, 503, 'application/json; charset=utf-8', { status: 'error', version: '9.8.7', db: 'error' });
  await fulfil(/\/metrics/, 503, 'application/problem+json', { status: 503, detail: 'The hub cannot keep up.' });
  await page.route(/\/config$/, (route) => route.abort('connectionrefused'));
  await page.goto(`${origin}/operations`);
  const health = page.getByRole('region', { name: 'Health' });
  await health.getByText('version 9.8.7').waitFor();
  await health.getByText('The hub cannot keep up.').waitFor();
  const text = await health.innerText();
  assert.match(text, /Hub\nUnhealthy/);
  assert.match(text, /Database\nUnreachable/);
  assert.match(text, /Gateway\nUnknown/);
  assert.doesNotMatch(text, /SQLite|METRICS_TOKEN/);
  await screenshot(page, 'operations-in-trouble');
  await page.unroute(/\/config$/);
  await health.getByText('SQLite').waitFor();
  await health.getByText('Not configured').waitFor();
});

const slowGateway = Promise.withResolvers<void>();

browserTest(
  'operations: results are shown while servers are still being registered',
  { settings: (t) => withGateway(t, slowGateway.promise) },
  async ({ open, hub }, t) => {
    const host = await publish(t);
    await hub.addRemote(host.url('/index.json'));
    const page = await open('/operations');
    const row = remoteRow(page, host.url('/index.json'));
    await row.getByText('Never read').waitFor();
    await page.getByText('to see how many manifests each ingest adds').waitFor();
    await page.getByRole('button', { name: 'Sync all' }).click();
    await row.getByText('4 manifests').waitFor();
    await page.getByRole('img', { name: /The last ingest:/ }).waitFor();
    assert.equal(await page.locator('.work').count(), 1, 'the sync continues');
    slowGateway.resolve();
    await page.getByText('2 servers registered').waitFor();
    await page.getByRole('img', { name: '2 registered or updated on 1 Jun 2026' }).waitFor();
    await screenshot(page, 'operations-registrations');
  },
);

browserTest('operations: checks the gateway once', { settings: withGateway }, async ({ open }) => {
  const page = await open('/operations');
  const health = page.getByRole('region', { name: 'Health' });
  await health.getByText(/^Gateway\s*Connected/).waitFor();
  await page.getByRole('link', { name: 'Search' }).click();
  await page.getByRole('navigation').getByRole('link', { name: 'Operations' }).click();
  await health.getByText(/^Gateway\s*Connected/).waitFor();
  assert.equal(page.asked('/diagnostics').length, 1);
});

browserTest(
  'operations: an unreachable gateway is reported once a token is given, and can be retried',
  { settings: async () => ({ MCP_GATEWAY_URL: await unusedAddress(), MCP_GATEWAY_TOKEN: 't', API_TOKEN: 'secret' }) },
  async ({ open }) => {
    const page = await open('/operations');
    const health = page.getByRole('region', { name: 'Health' });
    await health.getByText('only operators can check it').waitFor();
    assert.deepEqual(page.asked('/diagnostics'), []);
    await page.getByLabel('Token', { exact: true }).fill('secret');
    await page.getByRole('button', { name: 'Sign in' }).click();
    await health.getByText(/^Gateway\s*Unreachable/).waitFor();
    await screenshot(page, 'operations-gateway-away');
    assert.deepEqual(await axeFindings(page), []);
    await health.getByRole('button', { name: 'Try again' }).click();
    await health.getByText(/^Gateway\s*Unreachable/).waitFor();
    assert.equal(page.asked('/diagnostics').length, 2);
  },
);

browserTest('operations: a sync without a remote says that there is nothing to read', empty, async ({ open }) => {
  const page = await open('/operations');
  await page.getByText('No remotes yet').waitFor();
  await page.getByRole('button', { name: 'Sync all' }).click();
  const panel = page.getByRole('region', { name: 'Remotes' });
  await panel.getByText('Nothing to read: no remote has been added.').first().waitFor();
  assert.equal(await page.getByText('0 of 0').count(), 0);
  assert.equal(await page.getByRole('button', { name: /Retry all/ }).count(), 0, 'nothing to try without a gateway');
});

browserTest('operations: shows health and metrics at a glance', { demo: true }, async ({ open }) => {
  const page = await open('/operations');
  const health = page.getByRole('region', { name: 'Health' });
  await health.getByText('Memory').waitFor();
  const text = await health.innerText();
  for (const part of [
    /Hub\nHealthy/,
    /Database\nConnected\n?SQLite/,
    /Agents\n7/,
    /Tools\n9/,
    /MCP servers\n17/,
    /Requests\n\d/,
  ])
    assert.match(text, part);
  await page.getByText('Add a remote and sync it to see how the catalog grows with each ingest.').waitFor();
});

browserTest('operations: the labels of a chart are not cut off', { demo: true }, async ({ open, origin }) => {
  const page = await open('/', { viewport: { width: 375, height: 800 } });
  const bounds = [0.003, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10];
  const bucket = (bound: number, index: number) =>
    `hub_http_request_duration_seconds_bucket{le="${bound}",route="/catalog/search"} ${index + 1}`;
  await page.route(/\/metrics/, (route) => route.fulfill({ body: bounds.map(bucket).join('\n') }));
  for (const bars of [11, 10, 9]) {
    bounds.length = bars;
    await page.goto(`${origin}/operations`);
    const chart = page.getByRole('figure', { name: 'Search latency' });
    const edges = await chart.locator('svg').boundingBox();
    assert.ok(edges);
    for (const label of await chart.locator('.trend-label:not(:empty)').all()) {
      const box = await label.boundingBox();
      const text = `${await label.textContent()}, ${bars} bars`;
      assert.ok(box && box.x >= edges.x - 1 && box.x + box.width <= edges.x + edges.width + 1, text);
    }
  }
  await screenshot(page, 'operations-latency-phone');
});

browserTest(
  'operations: metrics with a separate token are hidden',
  { settings: { METRICS_TOKEN: 'm' } },
  async ({ open }) => {
    const page = await open('/operations', { expects: /401/ });
    await page.getByText('METRICS_TOKEN').waitFor();
    await page.getByText('Healthy').waitFor();
  },
);

browserTest(
  'operations: an expired token is requested again, and can be forgotten',
  { settings: { API_TOKEN: TOKEN } },
  async ({ open }) => {
    const page = await open('/operations', { expects: /401/ });
    await page.evaluate('sessionStorage.setItem("hub.token", "of-yesterday")');
    await page.reload();
    await page.getByLabel('Token', { exact: true }).fill(TOKEN);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByText('No remotes yet').waitFor();
    await page.getByText('Signed in as API_TOKEN (admin)').waitFor();
    await until(page, 'document.activeElement.matches("h1")');
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByText('Operators only').waitFor();
    await until(page, 'document.activeElement.matches("h1")');
    assert.equal(await page.evaluate('sessionStorage.length'), 0);
  },
);

browserTest(
  'page: a private catalog asks for a token first, and says what needs another role',
  { demo: true, settings: { API_TOKEN: TOKEN, READ_ACCESS: 'token' } },
  async ({ open, hub }) => {
    const { token } = await hub.createToken({ name: 'reader', role: 'reader', scope: [] });
    const page = await open('/', { expects: /401/ });
    await page.getByRole('heading', { name: 'Sign in' }).waitFor();
    await screenshot(page, 'sign-in');
    assert.deepEqual(await axeFindings(page), []);
    await page.getByLabel('Token', { exact: true }).fill(token);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByRole('link', { name: 'PDF Tables' }).first().waitFor();
    await page.getByRole('link', { name: 'Operations' }).click();
    await page.getByText('Operators only').waitFor();
    await page.getByText('Signed in as reader (reader)').waitFor();
    await page.getByText('This token has the role reader; the role operator is needed here.').waitFor();
    await screenshot(page, 'operations-as-reader');
    await page.getByLabel('Token', { exact: true }).fill(TOKEN);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByText('Signed in as API_TOKEN (admin)').waitFor();
    await until(page, 'document.activeElement.matches("h1")');
  },
);

browserTest('operations: the audit log shows who changed what', {}, async ({ open, hub }) => {
  const token = {
    name: 'ada',
    kind: 'token',
    role: 'operator',
    scope: [],
    isKnown: true,
    via: 'http',
    address: '10.0.0.7',
  } as const;
  for (let number = 1; number <= 21; number += 1)
    await hub.as(token).addRemote(`https://catalog.example.org/${number}.json`);
  const page = await open('/operations');
  const log = page.getByRole('region', { name: 'Audit log' });
  await log.getByText('Who changed what').press('Enter');
  await log.getByRole('row', { name: /ada · operator · 10\.0\.0\.7 Add remote .*\/21\.json ok/ }).waitFor();
  assert.equal(await log.getByRole('row').count(), 21);
  await hub.as({ ...token, role: 'admin' }).changePolicy('version: 1');
  await page.reload();
  await log.getByText('Who changed what').press('Enter');
  await log.getByRole('row', { name: /Change policy/ }).waitFor();
  const lines = await page.evaluate(`(() => {
    const range = document.createRange();
    range.selectNodeContents(document.querySelector('[aria-labelledby=audit] tbody td'));
    return range.getClientRects().length;
  })()`);
  assert.equal(lines, 1, 'a digest in another cell leaves room for the time');
  assert.deepEqual(await axeFindings(page), []);
  await screenshot(page, 'operations-audit');
  await log.getByRole('button', { name: 'Show older entries' }).click();
  await log.getByRole('row', { name: /\/1\.json ok/ }).waitFor();
  assert.equal(await log.getByRole('button').count(), 0);
});

browserTest('operations: webhooks are listed with their last delivery and their log', {}, async ({ open, hub }) => {
  const url = `http://127.0.0.1:9/hub?token=hidden`;
  await hub.addWebhook({ name: 'chat', url, events: ['approval.needed', 'sync.finished'] });
  const page = await open('/operations');
  const panel = page.getByRole('region', { name: 'Webhooks' });
  await panel.getByText('Receivers of events from this hub').press('Enter');
  await panel.getByRole('row', { name: /chat .*nothing sent yet/ }).waitFor();
  for (let number = 1; number <= 21; number += 1) await hub.testWebhook('chat');
  await panel.getByRole('button', { name: 'Deliveries of chat' }).press('Enter');
  await panel.getByRole('heading', { name: 'Deliveries of chat' }).waitFor();
  const given = panel.getByRole('row', { name: /webhook\.test The receiver could not be reached.* given up/ });
  assert.equal(await given.count(), 20);
  assert.deepEqual(await axeFindings(page), []);
  await screenshot(page, 'operations-webhooks');
  await panel.getByRole('button', { name: 'Show older entries' }).click();
  await given.nth(20).waitFor();
});

browserTest('operations: registry views are added, changed and removed', {}, async ({ open, hub }) => {
  const page = await open('/operations', { expects: /400/ });
  const panel = page.getByRole('region', { name: 'Registry views' });
  await panel.getByText('Subsets of the registry').press('Enter');
  await panel
    .getByRole('row', { name: /approved What the policy of this hub allows\. all; only what the policy allows/ })
    .waitFor();
  await panel.getByLabel('Name', { exact: true }).fill('Team One');
  await panel.getByRole('button', { name: 'Add view' }).press('Enter');
  await panel.getByText(/lowercase letters, digits/).waitFor();
  await panel.getByLabel('Name', { exact: true }).fill('team');
  await panel.getByLabel(/^Servers/).fill('com.acme/*, org.example/notes');
  await panel.getByRole('button', { name: 'Add view' }).press('Enter');
  await panel.getByRole('row', { name: /^team com\.acme\/\*, org\.example\/notes .*\/registry\/team/ }).waitFor();
  assert.equal(await panel.getByLabel('Name', { exact: true }).inputValue(), '');
  assert.deepEqual(await axeFindings(page), []);
  await screenshot(page, 'operations-views');
  await panel.getByRole('button', { name: 'Change team' }).press('Enter');
  await panel.getByLabel('Only servers that the policy allows and that are not waiting for approval').check();
  await panel.getByRole('button', { name: 'Save view' }).press('Enter');
  await panel.getByRole('row', { name: /^team .*; only what the policy allows/ }).waitFor();
  assert.equal((await hub.listViews()).items[1]?.approved, true);
  await panel.getByRole('button', { name: 'Remove team' }).press('Enter');
  await page.getByRole('dialog').getByRole('button', { name: 'Remove' }).press('Enter');
  await panel.getByRole('row', { name: /^team/ }).waitFor({ state: 'detached' });
  assert.equal((await hub.listViews()).items.length, 1);
});
