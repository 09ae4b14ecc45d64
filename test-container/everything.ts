// One artifact of each kind, published on loopback, and the request that installs them all.
import type { TestContext } from 'node:test';
import type { InstallReport } from '../src/install/contract.ts';
import { startOciHost } from '../test/install/artifacts/image/oci-host.ts';
import { startNpmRegistry } from '../test/install/artifacts/npm-registry.ts';
import { startPackageIndex } from '../test/install/artifacts/package-index.ts';
import { rawZip } from '../test/install/artifacts/raw-archives.ts';
import { startGitHost } from '../test/install/git-host.ts';
import { startIndexServer } from '../test/support/servers/index-server.ts';
import { type RunningHub, TOKEN } from './running-hub.ts';

/** The expected steps of the install, in order. */
export const STEPS = [
  'pypi.install',
  'npm.install',
  'git.checkout',
  'zip.extract',
  'mcpb.extract',
  'oci.pull',
  'remote.skip',
  'adapters.write',
  'gateway.register',
  'lockfile.write',
];

export async function publishEverything(t: TestContext): Promise<object[]> {
  const python = await startPackageIndex(t);
  python.publish({
    name: 'clock',
    version: '1.0.0',
    module: 'def main():\n    print("clock runs")\n',
    files: { 'clock-1.0.0.dist-info/entry_points.txt': '[console_scripts]\nclock = clock:main\n' },
  });
  const npm = await startNpmRegistry(t);
  const greeter = '#!/usr/bin/env node\nconsole.log("greeter runs");\n';
  npm.publish({ name: 'greeter', version: '1.0.0', bin: { greeter: 'cli.js' }, files: { 'cli.js': greeter } });
  const git = await startGitHost(t);
  await git.create('tools');
  const files = await startIndexServer(t);
  files.put('/notes.zip', rawZip([{ name: 'notes.txt', content: 'notes\n' }]));
  const bundle = {
    manifest_version: '0.3',
    name: 'bundle',
    version: '1.0.0',
    server: { type: 'node', entry_point: 'index.js' },
  };
  const bundled = [
    { name: 'manifest.json', content: JSON.stringify(bundle) },
    { name: 'index.js', content: '' },
  ];
  files.put('/bundle.mcpb', rawZip(bundled));
  const images = await startOciHost(t);
  images.manifest('team/clock', '1.0.0');
  return [
    { kind: 'pypi', spec: { package: 'clock', version: '1.0.0', index_url: python.url } },
    { kind: 'npm', spec: { registry: 'npm', package: 'greeter', version: '1.0.0', registry_url: npm.host.origin } },
    { kind: 'git', spec: { repo: git.url('tools.git'), ref: 'main' } },
    { kind: 'zip', spec: { url: files.url('/notes.zip') } },
    { kind: 'mcpb', spec: { registry: 'mcpb', package: files.url('/bundle.mcpb') } },
    { kind: 'oci', spec: { image: `${images.authority}/team/clock`, tag: '1.0.0' } },
    { kind: 'other', spec: { transport: 'STREAMABLEHTTP', url: 'https://time.example.org/mcp' } },
  ];
}

export async function installEverything({ address, target }: RunningHub, artifacts: object[]): Promise<InstallReport> {
  const manifest = { type: 'tool', id: 'everything', version: '1.0.0', name: 'everything', artifacts };
  const response = await fetch(`${address}/catalog/install`, {
    method: 'POST',
    headers: { authorization: `Bearer ${TOKEN}`, 'content-type': 'application/json' },
    body: JSON.stringify({ id: 'tool:everything@1.0.0', target, manifest }),
  });
  const text = await response.text();
  if (response.status !== 200) throw new Error(`${response.status}: ${text}`);
  return JSON.parse(text);
}
