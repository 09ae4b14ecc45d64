import assert from 'node:assert/strict';
import { aManifest } from '../support/builders.ts';
import { npmStatement, putNpm, startRegistries } from '../trust/registries.ts';
import { axeFindings, browserTest, screenshot } from './stage.ts';

const UID = 'mcp_server:pdf-tables@1.0.0';
const manifests = [aManifest({ artifacts: [{ kind: 'npm', spec: { package: 'pdf', version: '1.0.0' } }] })];
const settings = async (t: Parameters<typeof startRegistries>[0]) => {
  const { server, authority, settings } = await startRegistries(t);
  putNpm(server, 'pdf', await authority.attest(npmStatement('pdf')));
  return settings;
};

browserTest(
  'signatures: an operator checks them, and everybody sees the result',
  { manifests, settings },
  async ({ open }) => {
    const page = await open(`/entities/${UID}`);
    const signatures = page.getByRole('region', { name: 'Signatures' });
    await signatures.getByText('npm provenance: not checked. Nobody has checked it yet.').waitFor();
    await signatures.getByRole('button', { name: 'Check signatures' }).click();
    await signatures.getByText('npm provenance of pdf@1.0.0: verified. Built from github.com/acme/pdf').waitFor();
    assert.deepEqual(await axeFindings(page), []);
    await screenshot(page, 'signatures');

    const results = await open('/?q=pdf+tables');
    await results.getByText('signature verified').waitFor();
  },
);

browserTest('signatures: a reviewer checks them in the queue', { manifests, settings }, async ({ hub, open }) => {
  await hub.changePolicy('version: 1\ndefault: { install: require_approval }');
  const page = await open('/operations/approvals');
  const signatures = page.getByRole('region', { name: 'Review' }).getByRole('region', { name: 'Signatures' });
  await signatures.getByRole('button', { name: 'Check signatures' }).click();
  await signatures.getByText('verified. Built from github.com/acme/pdf').waitFor();
  assert.deepEqual(await axeFindings(page), []);
});
