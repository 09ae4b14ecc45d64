import assert from 'node:assert/strict';
import type { Page } from 'playwright-core';
import { aManifest } from '../test/support/builders.ts';
import { type IndexServer, startIndexServer } from '../test/support/servers/index-server.ts';
import { remoteRow } from './stage/operations-stage.ts';
import { axeFindings, axeFindingsInBothThemes, browserTest, overflow, screenshot, until } from './stage/stage.ts';

const ids = ['alpha', 'beta', 'gamma', 'delta'];
const PHONE = { width: 390, height: 844 };

/** An index that lists these manifests. */
function list(host: IndexServer, path: string, names: readonly string[], summary = 'Reads tables.'): void {
  const manifests = names.map((id) => ({ manifest: aManifest({ id, name: id, title: id, summary }) }));
  host.put(path, { manifests });
}

browserTest('remotes: a sync reports changes, and shows the notes of each remote', {}, async ({ open, hub }, t) => {
  const host = await startIndexServer(t);
  list(host, '/team.json', ids);
  list(host, '/other.json', ['omega']);
  await hub.addRemote(host.url('/team.json'), { name: 'team catalog' });
  await hub.addRemote(host.url('/other.json'));
  const page = await open('/operations', { reducedMotion: 'reduce', bypassCSP: true });
  const remotes = page.getByRole('region', { name: 'Remotes' });
  await remotes.getByText('team catalog').first().waitFor();
  await page.getByRole('button', { name: 'Sync all' }).click();
  await remotes.getByText('2 of 2 remotes read: 5 new, 0 changed.').waitFor();
  assert.equal(await remotes.locator('.notice-warn').count(), 0);

  list(host, '/team.json', ['alpha'], 'Reads tables, and other things.');
  await page.getByRole('button', { name: 'Sync all' }).click();
  await remotes.getByText('2 of 2 remotes read: 0 new, 1 changed, 1 unchanged.').waitFor();
  const notice = remotes.locator('.notice-warn');
  await notice.getByText('team catalog: The index lists 1 of the 4 manifests that it had').waitFor();
  await notice.getByRole('link', { name: 'mcp_server:alpha@1.0.0' }).waitFor();
  assert.deepEqual(await axeFindings(page), []);
  await screenshot(page, 'operations-notes');

  await page.getByText('As a table').click();
  await page.locator('.run-note', { hasText: 'The index lists 1 of the 4' }).waitFor();
  assert.deepEqual(await page.locator('.runs th').allInnerTexts(), [
    'Started',
    'Remote',
    'Duration',
    'New',
    'Changed',
    'Unchanged',
    'Refused',
    'Missing',
    'Outcome',
  ]);
  await page.setViewportSize(PHONE);
  assert.ok((await overflow(page)) <= 0);
  await screenshot(page, 'operations-notes-phone');

  await notice.getByRole('link', { name: 'mcp_server:alpha@1.0.0' }).click();
  await page.getByText('The content of this version changed after it was published').waitFor();
  await page.getByText('Remote', { exact: true }).waitFor();
});

browserTest('remotes: entries of another remote are reported as conflicts', {}, async ({ open, hub }, t) => {
  const host = await startIndexServer(t);
  list(host, '/first.json', ['alpha']);
  list(host, '/second.json', ['alpha'], 'Another manifest of the same entry.');
  await hub.addRemote(host.url('/first.json'));
  await hub.ingest(host.url('/first.json'));
  await hub.addRemote(host.url('/second.json'));
  const page = await open('/operations');
  await remoteRow(page, host.url('/second.json'))
    .getByRole('button', { name: /^Ingest now/ })
    .click();
  const notice = page.getByRole('region', { name: 'Remotes' }).locator('.notice-warn');
  await notice.getByText('1 conflict.').waitFor();
  await notice.getByText('the one with the highest priority owns it').waitFor();
  await page.goto(`${new URL(page.url()).origin}/entities/mcp_server:alpha@1.0.0`);
  const facts = page.getByRole('region', { name: 'At a glance' });
  await facts.getByText('Also listed by').waitFor();
  assert.match(await facts.innerText(), /Remote\s+127\S+first\.json\s+Also listed by\s+127\S+second\.json/);
  await hub.changeRemote(host.url('/first.json'), { name: 'main' });
  await page.reload();
  await facts.getByText('main', { exact: true }).waitFor();
});

browserTest('remotes: a remote can be named, prioritized and disabled', {}, async ({ open, hub }, t) => {
  const host = await startIndexServer(t);
  list(host, '/index.json', ids);
  await hub.addRemote('https://other.example/index.json', { name: 'taken' });
  const page = await open('/operations', { expects: /40[09]/, reducedMotion: 'reduce', bypassCSP: true });
  await page.getByLabel('Address of an index').fill(host.url('/index.json'));
  await page.getByLabel('Name (optional)').fill('team/catalog');
  await page.getByRole('button', { name: 'Add', exact: true }).click();
  await page.getByRole('alert').getByText('The name may contain only letters').waitFor();
  await page.getByLabel('Name (optional)').fill('team catalog');
  await page.getByRole('button', { name: 'Add', exact: true }).click();
  const row = remoteRow(page, host.url('/index.json'));
  await row.getByText('team catalog', { exact: true }).first().waitFor();

  await row.getByRole('button', { name: /^Edit/ }).click();
  const dialog = page.getByRole('dialog', { name: 'Edit remote' });
  assert.equal(await dialog.getByLabel('Name').inputValue(), 'team catalog');
  assert.deepEqual(await axeFindings(page), []);
  await dialog.getByLabel('Name').fill('taken');
  await dialog.getByRole('button', { name: 'Save' }).click();
  await dialog.getByRole('alert').getByText('Another remote is named').waitFor();
  await screenshot(page, 'operations-edit-remote');
  await dialog.getByLabel('Name').fill('our catalog');
  await dialog.getByLabel('Priority').fill('10');
  await dialog.getByLabel('Enabled').uncheck();
  await dialog.getByRole('button', { name: 'Save' }).click();
  await page.getByRole('status').getByText('our catalog saved.').waitFor();
  for (const badge of ['disabled', 'priority 10']) await row.getByText(badge, { exact: true }).waitFor();
  const { items } = await hub.listRemotes();
  const { name, priority, enabled } = items.find(({ url }) => url === host.url('/index.json')) ?? {};
  assert.deepEqual({ name, priority, enabled }, { name: 'our catalog', priority: 10, enabled: false });
  await page.setViewportSize(PHONE);
  assert.ok((await overflow(page)) <= 0);
  await screenshot(page, 'operations-named-remote-phone');
});

browserTest('remotes: a removal removes its entries on request, or lists them', {}, async ({ open, hub }, t) => {
  const host = await startIndexServer(t);
  list(host, '/one.json', ['alpha', 'beta']);
  list(host, '/two.json', ['gamma', 'delta', 'omega']);
  for (const path of ['/one.json', '/two.json']) await hub.addRemote(host.url(path));
  await hub.syncRemotes();
  const page = await open('/operations', { reducedMotion: 'reduce', bypassCSP: true });
  const remove = async (path: string, { purge }: { purge: boolean }) => {
    await remoteRow(page, host.url(path))
      .getByRole('button', { name: /^Remove/ })
      .click();
    const dialog = page.getByRole('dialog', { name: 'Remove this remote?' });
    if (purge) await dialog.getByLabel('Also remove entries that only this remote listed').check();
    assert.deepEqual(await axeFindings(page), []);
    await screenshot(page, 'operations-remove-remote');
    await dialog.getByRole('button', { name: 'Remove' }).click();
  };
  const attention = page.getByRole('region', { name: 'Entries that need attention' });
  const status = page.getByRole('region', { name: 'Remotes' }).getByRole('status');

  await remove('/one.json', { purge: true });
  await status.getByText('removed. 2 entries removed.').waitFor();
  assert.equal((await hub.listCatalog({ text: '', sort: 'name', limit: 10, offset: 0 })).total, 3);
  assert.equal(await attention.count(), 0, 'nothing is left to review');

  await remove('/two.json', { purge: false });
  await status.getByText('removed. 3 entries are no longer listed by any remote.').waitFor();
  await attention.getByRole('heading', { name: 'Not listed by any remote 3' }).waitFor();
  assert.deepEqual(await axeFindings(page), []);
  await screenshot(page, 'operations-attention');
  await attention.getByRole('link', { name: 'gamma' }).click();
  await page.getByText('No remote lists this version').waitFor();
});

const address = (page: Page) => page.getByLabel('Address of an index or of an MCP registry');

const CASES = [
  { given: 'ftp://files.example/', words: 'The address must start with http:// or https://.' },
  {
    given: 'http://name:secret@h.example/',
    words: 'The address must not contain a user name or a password; use the setting REMOTE_CREDENTIALS instead.',
  },
  {
    given: `http://h.example/${'a'.repeat(1_000)}`,
    words: 'The address must not be longer than 1000 characters.',
  },
];

browserTest('operations: a refused address is explained at its field', {}, async ({ open, hub }) => {
  for (const name of ['a', 'b', 'c']) await hub.addRemote(`https://${name}.example/index.json`);
  const page = await open('/operations', {
    expects: /400/,
    viewport: { width: 390, height: 844 },
    reducedMotion: 'reduce',
    bypassCSP: true,
  });
  await page.getByText('c.example').first().waitFor();
  await page.getByText('Nothing is pending').waitFor();
  const add = page.getByRole('button', { name: 'Add', exact: true });
  for (const { given, words } of CASES) {
    await address(page).fill(given);
    assert.equal(await page.getByRole('alert').count(), 0, 'a refusal disappears while the address is edited');
    assert.equal(await address(page).getAttribute('aria-invalid'), null, 'an edited address is not wrong yet');
    await add.click();
    const refusal = page.getByRole('alert');
    await refusal.getByText(words, { exact: true }).waitFor();
    assert.equal(await refusal.count(), 1);
    assert.equal(await address(page).getAttribute('aria-invalid'), 'true');
    const described = await address(page).getAttribute('aria-describedby');
    assert.equal(described, await refusal.getAttribute('id'));
    await until(page, "document.activeElement.type === 'url'");
    const [field, sentence] = [await address(page).boundingBox(), await refusal.boundingBox()];
    assert.ok(field && sentence);
    assert.ok(field.y >= 0 && sentence.y + sentence.height <= 845, 'the field and the message are in view');
    const gap = sentence.y - (field.y + field.height);
    assert.ok(gap >= 0 && gap < 80, `the message is right below the field, not ${gap} away`);
    assert.equal(await address(page).inputValue(), given, 'it can be corrected');
  }
  assert.deepEqual(await axeFindings(page), []);
  await screenshot(page, 'operations-refused-address-phone');
  await page.getByRole('link', { name: 'Catalog Hub' }).click();
  await page.getByRole('searchbox').waitFor();
  await page.getByRole('link', { name: 'Operations' }).first().click();
  await address(page).waitFor();
  assert.equal(await address(page).getAttribute('aria-invalid'), null, 'a new visit shows no refusal');
  assert.equal(await page.getByRole('alert').count(), 0);
  await address(page).fill('https://d.example/index.json');
  await address(page).press('Enter');
  await page.getByRole('status').getByText('https://d.example/index.json added').first().waitFor();
  assert.equal(await address(page).getAttribute('aria-invalid'), null);
  await until(page, "document.querySelector('input[type=url]').value === ''");
});

browserTest('remotes: an address corrected at once is not cleared', {}, async ({ open }) => {
  const page = await open('/operations', { expects: /400/ });
  await page.getByText('No remotes yet').waitFor();
  const slow = Promise.withResolvers<void>();
  await page.route(/\/remotes$/, async (route) => {
    if (route.request().method() === 'GET') await slow.promise;
    await route.continue();
  });
  await address(page).fill('ftp://files.example/');
  await page.getByRole('button', { name: 'Add', exact: true }).click();
  await page.getByRole('alert').waitFor();
  await address(page).fill('https://files.example/');
  const looked = page.waitForResponse((response) => /\/remotes$/.test(response.url()));
  slow.resolve();
  await looked;
  await page.getByText('No remotes yet').waitFor();
  await page.waitForTimeout(200);
  assert.equal(await address(page).inputValue(), 'https://files.example/');
});

const REFUSED = 12;

browserTest('operations: a scrollable list of refused manifests works by keyboard', {}, async (stage, t) => {
  const host = await startIndexServer(t);
  const paths = Array.from({ length: REFUSED }, (_, index) => `/m/refused-${index}.json`);
  host.put('/index.json', { manifests: paths });
  for (const path of paths) host.put(path, { type: 'nonsense' });
  await stage.hub.addRemote(host.url('/index.json'));
  await stage.hub.syncRemotes();
  const page = await stage.open('/operations', {
    viewport: { width: 390, height: 844 },
    reducedMotion: 'reduce',
    bypassCSP: true,
  });
  await page.getByText(`Refused manifests: ${REFUSED}`).press('Enter');
  await page.locator('.rejections', { hasText: 'refused-11.json' }).waitFor();
  assert.deepEqual(await axeFindingsInBothThemes(page), []);
  await screenshot(page, 'operations-rejections-phone');
  await page.keyboard.press('Tab');
  await page.keyboard.press('End');
  await until(page, "document.querySelector('.rejections').scrollTop > 0");
  const name = await page.evaluate('document.activeElement.ariaLabel');
  assert.equal(name, `Refused manifests of ${host.url('/index.json')}`);
});
