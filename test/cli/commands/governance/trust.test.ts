import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import type { TrustChecked } from '../../../../src/trust/contract.ts';
import { aManifest } from '../../../support/builders.ts';
import { tempDir } from '../../../support/databases/databases.ts';
import { npmStatement, putNpm, startRegistries } from '../../../trust/registries.ts';
import { testOnServer } from '../../hubs.ts';
import { inTerminal } from '../../terminal/in-terminal.ts';

const UID = 'mcp_server:pdf-tables@1.0.0';
// Nothing listens there.
const settings = { TRUST_NPM_REGISTRY: 'http://127.0.0.1:9' };
const manifests = [
  aManifest({ name: 'pdf-tables', artifacts: [{ kind: 'npm', spec: { package: 'pdf', version: '1.0.0' } }] }),
  aManifest({ id: 'remote', name: 'remote', artifacts: [] }),
];

testOnServer(
  'hub trust: prints what was found, or why nothing was',
  { settings, manifests },
  async (_t, { hub, json }) => {
    assert.match((await hub('show', UID)).out, /^Trust {5}npm provenance: not checked\. No check has run yet\.$/m);
    const { exitCode, out } = await hub('trust', UID);
    assert.equal(exitCode, 0);
    assert.match(
      out,
      /^mcp_server:pdf-tables@1\.0\.0: not checked\n {2}npm provenance of pdf@1\.0\.0: not checked\. .*reached/,
    );
    assert.match((await hub('show', UID)).out, /^Trust {5}npm provenance of pdf@1\.0\.0: not checked\./m);
    assert.match((await hub('approvals', UID)).out, /^Trust {8}npm provenance of pdf@1\.0\.0: not checked\./m);
    assert.match(
      (await hub('trust', 'mcp_server:remote')).out,
      /: absent\n {2}It installs nothing that could be signed\.\n$/,
    );
    const { answer } = await json<TrustChecked>('trust', 'mcp_server:pdf-tables');
    assert.deepEqual([answer.id, answer.state], [UID, 'not_checked']);
    assert.equal((await hub('trust', 'tool:none')).exitCode, 3);
  },
);

test('hub search: marks verified and failed signatures', async (t) => {
  const { server, authority, settings } = await startRegistries(t);
  for (const id of ['signed', 'stolen', 'plain'])
    server.put(
      `/${id}.json`,
      aManifest({ id, name: id, artifacts: [{ kind: 'npm', spec: { package: id, version: '1.0.0' } }] }),
    );
  server.put('/index.json', { manifests: ['signed.json', 'stolen.json', 'plain.json'] });
  const bundle = await authority.attest(npmStatement('signed'));
  for (const name of ['signed', 'stolen']) putNpm(server, name, bundle);
  const environment = { ...settings, PATH: process.env.PATH ?? '', DB_PATH: join(await tempDir(t), 'catalog.sqlite') };
  const hub = (...args: string[]) => inTerminal(args, { environment });
  await hub('remotes', 'add', server.url('/index.json'));
  await hub('sync');
  for (const name of ['signed', 'stolen', 'plain']) await hub('trust', name);
  const { out } = await hub('search', 'pdf', '--mode', 'keyword');
  assert.match(out, /^mcp_server:signed@1\.0\.0 signature verified$/m);
  assert.match(out, /^mcp_server:stolen@1\.0\.0 signature failed$/m);
  assert.match(out, /^mcp_server:plain@1\.0\.0$/m);
});
