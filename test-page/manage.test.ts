import assert from 'node:assert/strict';
import type { Page } from 'playwright-core';
import { aManifest } from '../test/support/builders.ts';
import { startIndexServer } from '../test/support/servers/index-server.ts';
import { npmStatement, putNpm, startRegistries } from '../test/trust/registries.ts';
import { axeFindings, browserTest, overflow, screenshot } from './stage/stage.ts';

const TOKEN = 'token-of-an-admin';
const PDF = '/entities/mcp_server:pdf-tables@1.0.0';
const versions = ['1.0.0', '1.1.0-beta.1', '0.9.0'].map((version) => aManifest({ version }));
/** Stores the token of an admin as a tab does. */
async function keep(page: Pick<Page, 'evaluate'>, token: string): Promise<void> {
  await page.evaluate(`sessionStorage.setItem('hub.token', ${JSON.stringify(token)})`);
  await page.evaluate("sessionStorage.setItem('hub.role', 'admin')");
}

const how = { reducedMotion: 'reduce', bypassCSP: true, expects: /40[14]/ } as const;

browserTest('manage: an entry is blocked with a reason, and unblocked', { manifests: versions }, async ({ open }) => {
  const page = await open(PDF, how);
  const manage = page.getByRole('region', { name: 'Manage' });
  await manage.getByRole('button', { name: 'Block…' }).click();
  const dialog = page.getByRole('dialog', { name: 'Block PDF Tables 1.0.0?' });
  await dialog.getByLabel('Reason').fill('Sends files to an unknown host.');
  assert.deepEqual(await axeFindings(page), []);
  await screenshot(page, 'entity-block');
  await dialog.getByRole('button', { name: 'Block', exact: true }).click();

  await page.getByText(/^Blocked by an operator since /).waitFor();
  await page.getByText('Sends files to an unknown host.').waitFor();
  assert.equal(await page.getByRole('button', { name: 'Install on the hub' }).count(), 0);
  const listed = page.getByRole('region', { name: 'Versions' }).getByRole('listitem');
  assert.match(await listed.filter({ hasText: '1.0.0' }).innerText(), /blocked/);
  assert.match(await listed.filter({ hasText: 'beta' }).innerText(), /pre-release/);
  assert.deepEqual(await axeFindings(page), []);
  await screenshot(page, 'entity-blocked');

  await page.getByRole('link', { name: 'Operations' }).click();
  const attention = page.getByRole('region', { name: 'Entries that need attention' });
  await attention.getByRole('heading', { name: 'Blocked 1' }).waitFor();
  await attention.getByText('Sends files to an unknown host.').waitFor();
  await attention.getByRole('link', { name: 'PDF Tables' }).click();

  await manage.getByRole('button', { name: 'Unblock' }).click();
  await page.getByRole('button', { name: 'Install on the hub' }).waitFor();
  assert.equal(await page.getByText('Blocked by an operator').count(), 0);
  await manage.getByRole('button', { name: 'Block…' }).waitFor();
});

browserTest('manage: a removed entry names the remotes that bring it back', {}, async ({ open, hub }, t) => {
  const host = await startIndexServer(t);
  host.put('/index.json', { manifests: [{ manifest: aManifest() }] });
  await hub.addRemote(host.url('/index.json'));
  await hub.syncRemotes();
  const page = await open(PDF, { ...how, viewport: { width: 390, height: 844 } });
  await page.getByRole('button', { name: 'Remove…' }).click();
  const dialog = page.getByRole('dialog', { name: 'Remove PDF Tables 1.0.0?' });
  await dialog.getByText('If a remote still lists it, the next sync restores it').waitFor();
  await screenshot(page, 'entity-remove-phone');
  await dialog.getByRole('button', { name: 'Cancel' }).click();
  await page.getByRole('button', { name: 'Remove…' }).click();
  await dialog.getByRole('button', { name: 'Remove', exact: true }).click();
  await page.getByRole('heading', { level: 1, name: 'Entry removed' }).waitFor();
  await page.getByText(host.url('/index.json')).waitFor();
  assert.deepEqual(await axeFindings(page), []);
  assert.ok((await overflow(page)) <= 0);
  await screenshot(page, 'entity-removed-phone');
  await page.reload();
  await page.getByText('Entry not found').waitFor();
});

browserTest(
  'manage: only admins see it, and a refused token is reported',
  { manifests: versions, settings: { API_TOKEN: TOKEN } },
  async ({ open }) => {
    const page = await open(PDF, how);
    const manage = page.getByRole('region', { name: 'Manage' });
    await page.getByRole('region', { name: 'Versions' }).waitFor();
    assert.equal(await manage.count(), 0);
    await keep(page, `${TOKEN} of yesterday`);
    await page.reload();
    await manage.getByRole('button', { name: 'Remove…' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByRole('button', { name: 'Remove', exact: true }).click();
    await dialog.getByRole('alert').waitFor();
    await dialog.getByRole('button', { name: 'Cancel' }).click();
    await manage.waitFor({ state: 'detached' });

    await keep(page, TOKEN);
    await page.reload();
    await manage.getByRole('button', { name: 'Remove…' }).click();
    await dialog.getByRole('button', { name: 'Remove', exact: true }).click();
    await page.getByRole('heading', { level: 1, name: 'Entry removed' }).waitFor();
    assert.equal(await page.getByText('The next sync restores it').count(), 0);
  },
);

const UID = 'mcp_server:pdf-tables@1.0.0';
const attested = [aManifest({ artifacts: [{ kind: 'npm', spec: { package: 'pdf', version: '1.0.0' } }] })];
const settings = async (t: Parameters<typeof startRegistries>[0]) => {
  const { server, authority, settings } = await startRegistries(t);
  putNpm(server, 'pdf', await authority.attest(npmStatement('pdf')));
  return settings;
};

browserTest(
  'signatures: an operator checks them, and everybody sees the result',
  { manifests: attested, settings },
  async ({ open }) => {
    const page = await open(`/entities/${UID}`);
    const signatures = page.getByRole('region', { name: 'Signatures' });
    await signatures.getByText('npm provenance: not checked. No check has run yet.').waitFor();
    await signatures.getByRole('button', { name: 'Check signatures' }).click();
    await signatures.getByText('npm provenance of pdf@1.0.0: verified. Built from github.com/acme/pdf').waitFor();
    assert.deepEqual(await axeFindings(page), []);
    await screenshot(page, 'signatures');

    const results = await open('/?q=pdf+tables');
    await results.getByText('signature verified').waitFor();
  },
);

browserTest(
  'signatures: a reviewer checks them in the queue',
  { manifests: attested, settings },
  async ({ hub, open }) => {
    await hub.changePolicy('version: 1\ndefault: { install: require_approval }');
    const page = await open('/operations/approvals');
    const signatures = page.getByRole('region', { name: 'Review' }).getByRole('region', { name: 'Signatures' });
    await signatures.getByRole('button', { name: 'Check signatures' }).click();
    await signatures.getByText('verified. Built from github.com/acme/pdf').waitFor();
    assert.deepEqual(await axeFindings(page), []);
  },
);
