import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import type { Page } from 'playwright-core';
import { aManifest } from '../support/builders.ts';
import { SECRET, startFakeGateway } from '../support/fake-gateway.ts';
import { startIndexServer } from '../support/index-server.ts';
import { unusedAddress } from '../support/unused-address.ts';
import { axeFindings, browserTest, screenshot, until } from './stage.ts';

const TOKEN = 'token-of-an-admin';

/** A published catalog: some good servers, one that no gateway can reach, and one that is no manifest. */
async function publish(t: TestContext) {
  const host = await startIndexServer(t);
  const good = ['alpha', 'beta', 'gamma'].map((id) =>
    aManifest({
      id,
      name: id,
      title: id,
      mcp_registration: { server: { transport: 'SSE', url: `https://${id}.example/sse` } },
    }),
  );
  const local = aManifest({
    id: 'local',
    name: 'local',
    title: 'local',
    mcp_registration: { server: { transport: 'STDIO', exec: { cmd: ['run'] } } },
  });
  host.put('/index.json', {
    manifests: [...[...good, local].map(({ id }) => `/m/${id}.json`), '/m/broken.json'],
  });
  for (const manifest of [...good, local]) host.put(`/m/${manifest.id}.json`, manifest);
  host.put('/m/broken.json', { type: 'nonsense', id: 'broken' });
  return host;
}

const remoteRow = (page: Page, url: string) => page.locator('.row', { hasText: url });
const pending = (page: Page) => page.getByRole('region', { name: /Pending servers/ });

browserTest(
  'operations: the whole story of a remote: add, sync, rejections, history, remove',
  { settings: { API_TOKEN: TOKEN } },
  async ({ open, world }, t) => {
    const host = await publish(t);
    host.delay((path) => (path.startsWith('/m/') ? 150 : 0));
    const page = await open('/operations', { expects: /400/ });
    await page.getByText('Admins only').waitFor();
    assert.equal(await page.getByRole('heading', { name: 'Remotes' }).count(), 0);
    await page.getByLabel('Admin token').fill(TOKEN);
    await page.getByRole('button', { name: 'Continue' }).click();

    const remotes = page.getByRole('region', { name: 'Remotes' });
    await page.getByText('No remote yet').waitFor();
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
    await remotes.getByRole('status').getByText('/index.json was there already.').first().waitFor();
    assert.equal(await row.getByText('Manifests it refused').count(), 0, 'nothing was refused yet');
    assert.equal(await page.getByRole('alert').count(), 0, 'what was mended is not reported any more');

    await page.getByRole('button', { name: 'Sync all' }).click();
    await page.locator('.work').getByText('Sync of all remotes').waitFor();
    await page.locator('.work progress').first().waitFor();
    await page.getByText('1 of 1 remote read').waitFor();
    await row.getByText('4 manifests').waitFor();
    await row.getByText('Manifests it refused: 1').click();
    await row.locator('.rejections', { hasText: 'broken.json' }).waitFor();
    assert.match((await row.locator('.rejections').textContent()) ?? '', /type/);

    await page.getByRole('img', { name: 'The last 1 ingests: 0 unchanged, 0 updated, 4 created, 1 failed.' }).waitFor();
    world.setTime('2026-06-01T12:05:00.000Z');
    await row.getByRole('button', { name: 'Read now' }).click();
    await page.locator('.notice').getByText('4 as before').waitFor();
    await page.getByRole('img', { name: /The last 2 ingests/ }).waitFor();
    await page.getByText('As a table').click();
    assert.equal(await page.locator('.panel tbody tr').count(), 2);
    await screenshot(page, 'operations-remotes');

    await row.getByRole('button', { name: 'Remove' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Cancel' }).click();
    await row.getByRole('button', { name: 'Remove' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Remove' }).click();
    await page.getByText('No remote yet').waitFor();
    await remotes.getByRole('status').getByText('/index.json removed.').first().waitFor();
  },
);

browserTest('operations: a remote that cannot be read says why', {}, async ({ open, hub }, t) => {
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
    assert.ok(shown && cells && shown.x < 390, 'the reason begins on the screen');
    assert.ok(cells.height < 150, 'no row is tall for what is out of sight');
    await screenshot(page, `operations-history-${colorScheme}-phone`);
  }
});

browserTest(
  'operations: somebody else’s sync is shown, and a second one is refused in words',
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
    await page.getByText('A sync is under way').waitFor();
    await page.getByRole('button', { name: 'Sync all' }).click();
    await page.getByRole('alert').waitFor();
    held.resolve();
    await sync;
    await page.locator('.work').waitFor({ state: 'hidden' });
    await pending(page).locator('.row', { hasText: 'gamma' }).waitFor();
    await page.getByRole('img', { name: /The last 1 ingests/ }).waitFor();
  },
);

browserTest(
  'operations: a first look that fails is taken again, and then nothing is said of it',
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
    assert.equal(await alert.count(), 1, 'what somebody did, and did not work, is not forgotten by the next look');
  },
);

const many = Array.from({ length: 103 }, (_, place) =>
  aManifest({ id: `server-${place}`, name: `server-${place}`, title: `Server ${place}` }),
);

browserTest('operations: nothing is deleted that is not on screen', { manifests: many }, async ({ open, hub }) => {
  const left = async () => (await hub.listPending({ limit: 1, offset: 0, errorOnly: false, text: '' })).total;
  const page = await open('/operations');
  const rows = pending(page).locator('.row');
  const remove = pending(page).getByRole('button', { name: /selected$/ });
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
  await pending(page).getByLabel('Only with a reason').check();
  await page.getByText('Nothing pending passes the filter').waitFor();
  await pending(page).getByLabel('Only with a reason').uncheck();
  await rows.first().waitFor();
  assert.ok(await remove.isDisabled(), 'the other filter');

  await pending(page).getByLabel('Filter pending servers').fill('');
  await rows.nth(49).waitFor();
  for (const _ of [1, 2]) await pending(page).getByRole('button', { name: 'Older' }).click();
  await pending(page).getByText('101 to 103 of 103').waitFor();
  await rows.nth(3).waitFor({ state: 'detached' });
  await pending(page).getByLabel('All on this page').check();
  await remove.click();
  await page.getByRole('dialog', { name: 'Delete 3 servers?' }).getByRole('button', { name: 'Delete' }).click();
  await page.getByText('3 servers removed.').waitFor();
  // The page that was there is gone; the one before it is shown.
  await pending(page).getByText('51 to 100 of 100').waitFor();
  await rows.nth(49).waitFor();
  assert.equal(await left(), 100);
});

const crowd = [
  ...many,
  ...Array.from({ length: 1_100 }, (_, place) => aManifest({ id: `crowd-${place}`, name: `crowd-${place}` })),
];

browserTest('operations: all that match are deleted, on whatever page', { manifests: crowd }, async ({ open, hub }) => {
  const left = async (text: string) => (await hub.listPending({ limit: 1, offset: 0, errorOnly: false, text })).total;
  const page = await open('/operations');
  const rows = pending(page).locator('.row');
  await rows.nth(49).waitFor();
  await pending(page).getByLabel('Filter pending servers').fill('crowd');
  await pending(page).getByText('1 to 50 of 1,100').waitFor();
  const all = pending(page).getByRole('button', { name: 'Delete all 1,100 that match…' });
  await screenshot(page, 'operations-delete-all');
  await all.click();
  const question = page.getByRole('dialog', { name: 'Delete 1,100 servers that match “crowd”?' });
  await question.getByRole('button', { name: 'Cancel' }).click();
  assert.equal(await left('crowd'), 1_100, 'nothing before the answer');
  await all.click();
  await question.getByRole('button', { name: 'Delete' }).click();
  await pending(page).getByRole('status').getByText('1,100 servers removed.').first().waitFor();
  assert.deepEqual([await left('crowd'), await left('')], [0, 103]);
  await pending(page).getByLabel('Filter pending servers').fill('server-7');
  await rows.nth(11).waitFor({ state: 'detached' });
  await rows.first().waitFor();
  assert.equal(
    await pending(page)
      .getByRole('button', { name: /^Delete all/ })
      .count(),
    0,
    'all are on this page',
  );
});

browserTest(
  'operations: what is gone is told, also when a later part fails',
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
    await pending(page).getByRole('button', { name: 'Delete all 1,203…' }).click();
    const question = page.getByRole('dialog', { name: 'Delete 1,203 servers?' });
    await question.getByRole('button', { name: 'Delete' }).click();
    await pending(page).getByText('The hub cannot keep up.').first().waitFor();
    await pending(page).getByText('1,000 servers removed until then.').first().waitFor();
    await pending(page).getByText('1 to 50 of 203').waitFor();
  },
);

browserTest('operations: when nothing of all can be deleted, that is said', { manifests: many }, async ({ open }) => {
  const page = await open('/operations');
  await page.route(/\/gateways\/pending\?/, async (route) => {
    // As if they had been registered, and their update had failed.
    const answer = await (await route.fetch({ url: route.request().url().replace('&error_only=true', '') })).json();
    for (const item of answer.items) item.gateway_registered_at = '2026-06-01T12:00:00.000Z';
    await route.fulfill({ json: answer });
  });
  await pending(page).getByLabel('Only with a reason').check();
  await pending(page).getByRole('button', { name: 'Delete all that match…' }).click();
  await pending(page).getByText('None of them can be deleted').first().waitFor();
  assert.equal(await page.getByRole('dialog').count(), 0);
});

browserTest('operations: a hub whose database is away says so itself', {}, async ({ open, origin }) => {
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
  assert.match(text, /Hub\nIn trouble/);
  assert.match(text, /Database\nDoes not answer/);
  assert.match(text, /Gateway\nNot known/);
  assert.doesNotMatch(text, /SQLite|METRICS_TOKEN/);
  await screenshot(page, 'operations-in-trouble');
  await page.unroute(/\/config$/);
  await health.getByText('SQLite').waitFor();
  await health.getByText('None').waitFor();
});

/** Its clock is that of the hub's tests. */
async function withGateway(t: TestContext, answered?: Promise<void>) {
  const gateway = await startFakeGateway(t, {
    servers: { 'https://beta.example/sse': { fault: 'refused' } },
    credentials: { now: () => new Date('2026-06-01T12:00:00.000Z') },
  });
  gateway.onCall(() => answered);
  return { MCP_GATEWAY_URL: gateway.url, JWT_SECRET_KEY: SECRET };
}

const slowGateway = Promise.withResolvers<void>();

browserTest(
  'operations: what was read is shown while its servers are still being registered',
  { settings: (t) => withGateway(t, slowGateway.promise) },
  async ({ open, hub }, t) => {
    const host = await publish(t);
    await hub.addRemote(host.url('/index.json'));
    const page = await open('/operations');
    const row = remoteRow(page, host.url('/index.json'));
    await row.getByText('Never read').waitFor();
    await page.getByText('Nothing has been read yet.').waitFor();
    await page.getByRole('button', { name: 'Sync all' }).click();
    await row.getByText('4 manifests').waitFor();
    await page.getByRole('img', { name: /The last 1 ingests/ }).waitFor();
    assert.equal(await page.locator('.work').count(), 1, 'the sync goes on');
    slowGateway.resolve();
    await page.getByText('2 servers registered').waitFor();
  },
);

browserTest('operations: whether the gateway answers is tried, once', { settings: withGateway }, async ({ open }) => {
  const page = await open('/operations');
  const health = page.getByRole('region', { name: 'Health' });
  await health.getByText(/^Gateway\s*Answers/).waitFor();
  await page.getByRole('link', { name: 'Search' }).click();
  await page.getByRole('navigation').getByRole('link', { name: 'Operations' }).click();
  await health.getByText(/^Gateway\s*Answers/).waitFor();
  assert.equal(page.asked('/diagnostics').length, 1);
});

browserTest(
  'operations: a gateway that does not answer is told, with the token first, and can be tried again',
  { settings: async () => ({ MCP_GATEWAY_URL: await unusedAddress(), MCP_GATEWAY_TOKEN: 't', API_TOKEN: 'secret' }) },
  async ({ open }) => {
    const page = await open('/operations');
    const health = page.getByRole('region', { name: 'Health' });
    await health.getByText('tried once the token is there').waitFor();
    assert.deepEqual(page.asked('/diagnostics'), []);
    await page.getByLabel('Admin token').fill('secret');
    await page.getByRole('button', { name: 'Continue' }).click();
    await health.getByText(/^Gateway\s*Does not answer/).waitFor();
    await screenshot(page, 'operations-gateway-away');
    assert.deepEqual(await axeFindings(page), []);
    await health.getByRole('button', { name: 'Try again' }).click();
    await health.getByText(/^Gateway\s*Does not answer/).waitFor();
    assert.equal(page.asked('/diagnostics').length, 2);
  },
);

browserTest(
  'operations: pending servers with their reasons: filter, try again, delete',
  { settings: withGateway },
  async ({ open, hub }, t) => {
    const host = await publish(t);
    await hub.addRemote(host.url('/index.json'));
    const page = await open('/operations');
    await page.getByText('Nothing is pending').waitFor();
    await page.getByRole('button', { name: 'Sync all' }).click();
    await page.getByText('2 servers registered, 2 could not be registered.').waitFor();
    const rows = pending(page).locator('.row');
    await rows.nth(1).waitFor();
    assert.equal(await rows.count(), 2, 'those that are registered are not pending');
    const reasons = await rows.allInnerTexts();
    assert.ok(
      reasons.some((text) => /local/.test(text) && /STDIO/.test(text)),
      'no address',
    );
    assert.ok(
      reasons.some((text) => /beta/.test(text) && /1 try/.test(text)),
      'refused by the gateway',
    );
    const isBad = (name: string) => rows.filter({ hasText: name }).locator('.reason-bad').count();
    assert.deepEqual([await isBad('local'), await isBad('beta')], [0, 1], 'what is not for the gateway has not failed');
    await screenshot(page, 'operations-pending');

    await pending(page).getByLabel('Filter pending servers').fill('beta');
    await rows.nth(1).waitFor({ state: 'detached' });
    assert.equal(await rows.count(), 1);
    await pending(page).getByLabel('Filter pending servers').fill('nothing like it');
    await page.getByText('Nothing pending passes the filter').waitFor();
    await pending(page).getByLabel('Filter pending servers').fill('');
    await rows.nth(1).waitFor();

    await pending(page).getByRole('button', { name: 'Try all again' }).click();
    await rows.filter({ hasText: 'beta' }).getByText('2 tries').waitFor();
    await pending(page).getByRole('status').getByText('1 of 1 remote read').first().waitFor();

    const button = pending(page).getByRole('button', { name: /^Delete/ });
    assert.ok(await button.isDisabled());
    await pending(page).getByLabel('All on this page').check();
    await button.click();
    const question = page.getByRole('dialog', { name: 'Delete 2 servers?' });
    await question.getByText('brings them back with the next sync').waitFor();
    await question.getByRole('button', { name: 'Cancel' }).click();
    await pending(page).getByLabel('Select mcp_server:local@1.0.0').uncheck();
    await button.click();
    const single = page.getByRole('dialog', { name: 'Delete 1 server?' });
    await single.getByText('It leaves the catalog.').waitFor();
    await single.getByRole('button', { name: 'Delete' }).click();
    await pending(page).getByRole('status').getByText('1 server removed.').first().waitFor();
    await rows.nth(1).waitFor({ state: 'detached' });
    assert.deepEqual(
      (await hub.listPending({ limit: 10, offset: 0, errorOnly: false, text: '' })).items.map(({ uid }) => uid),
      ['mcp_server:local@1.0.0'],
    );
    await rows.getByRole('link', { name: 'local' }).click();
    await page.getByText('Why it is not registered').waitFor();
  },
);

browserTest('operations: without a remote it is said that there is nothing to read', {}, async ({ open }) => {
  const page = await open('/operations');
  await page.getByText('No remote yet').waitFor();
  for (const name of ['Sync all', 'Try all again']) {
    await page.getByRole('button', { name }).click();
    const panel = page.getByRole('region', { name: name === 'Sync all' ? 'Remotes' : /^Pending/ });
    await panel.getByText('There is nothing to read: no remote has been added.').first().waitFor();
    assert.equal(await page.getByText('0 of 0').count(), 0);
  }
});

browserTest('operations: health and figures at a glance', { demo: true }, async ({ open }) => {
  const page = await open('/operations');
  const health = page.getByRole('region', { name: 'Health' });
  await health.getByText('Memory').waitFor();
  const text = await health.innerText();
  for (const part of [
    /Hub\nWell/,
    /Database\nAnswers\n?SQLite/,
    /Agents\n7/,
    /Tools\n9/,
    /MCP servers\n14/,
    /Requests\n\d/,
  ])
    assert.match(text, part);
});

browserTest(
  'operations: figures with a token of their own stay with their owner',
  { settings: { METRICS_TOKEN: 'm' } },
  async ({ open }) => {
    const page = await open('/operations', { expects: /401/ });
    await page.getByText('METRICS_TOKEN').waitFor();
    await page.getByText('Well').waitFor();
  },
);

browserTest(
  'operations: a token that is no longer good is asked for again, and can be forgotten',
  { settings: { API_TOKEN: TOKEN } },
  async ({ open }) => {
    const page = await open('/operations', { expects: /401/ });
    await page.evaluate('sessionStorage.setItem("hub.token", "of-yesterday")');
    await page.reload();
    await page.getByLabel('Admin token').fill(TOKEN);
    await page.getByRole('button', { name: 'Continue' }).click();
    await page.getByText('No remote yet').waitFor();
    await page.getByRole('button', { name: 'Forget the token' }).click();
    await page.getByText('Admins only').waitFor();
    assert.equal(await page.evaluate('sessionStorage.length'), 0);
  },
);
