import assert from 'node:assert/strict';
import { aManifest } from '../support/builders.ts';
import { type IndexServer, startIndexServer } from '../support/index-server.ts';
import { remoteRow } from './operations-stage.ts';
import { axeFindings, browserTest, overflow, screenshot } from './stage.ts';

const ids = ['alpha', 'beta', 'gamma', 'delta'];
const PHONE = { width: 390, height: 844 };

/** An index that lists these manifests. */
function list(host: IndexServer, path: string, names: readonly string[], summary = 'Reads tables.'): void {
  const manifests = names.map((id) => ({ manifest: aManifest({ id, name: id, title: id, summary }) }));
  host.put(path, { manifests });
}

browserTest('remotes: a sync says what changed, and shows the notes of each remote', {}, async ({ open, hub }, t) => {
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
    'Took',
    'New',
    'Changed',
    'Unchanged',
    'Refused',
    'Gone',
    'Outcome',
  ]);
  await page.setViewportSize(PHONE);
  assert.ok((await overflow(page)) <= 0);
  await screenshot(page, 'operations-notes-phone');

  await notice.getByRole('link', { name: 'mcp_server:alpha@1.0.0' }).click();
  await page.getByText('The content of this version changed after it was published').waitFor();
  await page.getByText('Remote', { exact: true }).waitFor();
});

browserTest('remotes: another remote’s entries are reported as conflicts', {}, async ({ open, hub }, t) => {
  const host = await startIndexServer(t);
  list(host, '/first.json', ['alpha']);
  list(host, '/second.json', ['alpha'], 'Another manifest of the same entry.');
  await hub.addRemote(host.url('/first.json'));
  await hub.ingest(host.url('/first.json'));
  await hub.addRemote(host.url('/second.json'));
  const page = await open('/operations');
  await remoteRow(page, host.url('/second.json'))
    .getByRole('button', { name: /^Read now/ })
    .click();
  const notice = page.getByRole('region', { name: 'Remotes' }).locator('.notice-warn');
  await notice.getByText('1 conflict.').waitFor();
  await notice.getByText('the one with the highest priority owns it').waitFor();
  await page.goto(`${new URL(page.url()).origin}/entities/mcp_server:alpha@1.0.0`);
  const facts = page.getByRole('region', { name: 'At a glance' });
  await facts.getByText('Also listed by').waitFor();
  assert.match(await facts.innerText(), /Remote\s+\S+first\.json\s+Also listed by\s+\S+second\.json/);
});

browserTest('remotes: a remote is named, given a priority and disabled', {}, async ({ open, hub }, t) => {
  const host = await startIndexServer(t);
  list(host, '/index.json', ids);
  await hub.addRemote('https://other.example/index.json', { name: 'taken' });
  const page = await open('/operations', { expects: /40[09]/, reducedMotion: 'reduce', bypassCSP: true });
  await page.getByLabel('Address of an index').fill(host.url('/index.json'));
  await page.getByLabel('Name (optional)').fill('team/catalog');
  await page.getByRole('button', { name: 'Add', exact: true }).click();
  await page.getByRole('alert').getByText('The name may contain letters').waitFor();
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

browserTest('remotes: a removal deletes entries on request, or lists them', {}, async ({ open, hub }, t) => {
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
    if (purge) await dialog.getByLabel('Also delete entries that only this remote listed').check();
    assert.deepEqual(await axeFindings(page), []);
    await screenshot(page, 'operations-remove-remote');
    await dialog.getByRole('button', { name: 'Remove' }).click();
  };
  const attention = page.getByRole('region', { name: 'Entries to look at' });
  const status = page.getByRole('region', { name: 'Remotes' }).getByRole('status');

  await remove('/one.json', { purge: true });
  await status.getByText('removed. 2 entries deleted.').waitFor();
  assert.equal((await hub.listCatalog({ text: '', sort: 'name', limit: 10, offset: 0 })).total, 3);
  assert.equal(await attention.count(), 0, 'nothing is left to look at');

  await remove('/two.json', { purge: false });
  await status.getByText('removed. 3 entries are no longer listed by any remote.').waitFor();
  await attention.getByRole('heading', { name: 'Not listed by any remote 3' }).waitFor();
  assert.deepEqual(await axeFindings(page), []);
  await screenshot(page, 'operations-attention');
  await attention.getByRole('link', { name: 'gamma' }).click();
  await page.getByText('No remote lists this version').waitFor();
});
