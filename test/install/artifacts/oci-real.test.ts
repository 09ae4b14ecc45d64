// Real programs, where they are at hand: Debian's docker-registry to pull from, skopeo to push, to pull and to check.
import assert from 'node:assert/strict';
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { ociInstaller } from '../../../src/install/artifacts/oci.ts';
import { unlessHere } from '../../support/programs.ts';
import { startOciHost } from './oci-host.ts';
import { rawTarGz } from './raw-archives.ts';
import { stage } from './stage.ts';

const run = promisify(execFile);
const REGISTRY = 'docker-registry';
const skip = unlessHere(REGISTRY, 'skopeo');
const POLICY = { default: [{ type: 'insecureAcceptAnything' }] };

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  assert.ok(address && typeof address === 'object');
  return address.port;
}

async function startRealRegistry(t: TestContext): Promise<{ authority: string; around: string }> {
  const around = await mkdtemp(join(tmpdir(), 'hub-registry-'));
  const authority = `127.0.0.1:${await freePort()}`;
  const config = {
    version: 0.1,
    log: { level: 'error' },
    storage: { filesystem: { rootdirectory: join(around, 'data') } },
    http: { addr: authority },
  };
  await writeFile(join(around, 'config.yml'), JSON.stringify(config));
  const child: ChildProcess = spawn(REGISTRY, ['serve', join(around, 'config.yml')], { stdio: 'ignore' });
  t.after(async () => {
    child.kill('SIGKILL');
    await rm(around, { recursive: true, force: true });
  });
  for (let tries = 0; tries < 100; tries += 1) {
    const reply = await fetch(`http://${authority}/v2/`).catch(() => undefined);
    if (reply?.ok) return { authority, around };
    await sleep(100);
  }
  return assert.fail('the registry did not start');
}

/** An image in a layout, made by the client under test from the small registry, then pushed to the real one. */
async function pushImage(t: TestContext, authority: string, around: string, format: 'oci' | 'v2s2'): Promise<void> {
  const small = await startOciHost(t, { needsToken: false });
  small.image('seed', 'latest', [rawTarGz([{ name: 'hello', content: 'world' }])]);
  const place = await stage(t, { env: { PATH: '/nowhere' } });
  const { path } = await place.install(ociInstaller, { image: `${small.authority}/seed:latest` });
  await writeFile(join(around, 'policy.json'), JSON.stringify(POLICY));
  const args = ['--policy', join(around, 'policy.json'), 'copy', '--dest-tls-verify=false', '--format', format];
  await run('skopeo', [...args, `oci:${place.targetDir}/${path}:latest`, `docker://${authority}/some/${format}:1.0`]);
}

for (const format of ['oci', 'v2s2'] as const) {
  test(`oci: pulled from a real registry (${format}), and skopeo reads what was made`, { skip }, async (t) => {
    const { authority, around } = await startRealRegistry(t);
    await pushImage(t, authority, around, format);
    const place = await stage(t, { env: { PATH: '/nowhere' } });
    const installed = await place.install(ociInstaller, { image: `${authority}/some/${format}:1.0` });
    assert.equal(installed.extra?.tool, 'registry');
    const { stdout } = await run('skopeo', [
      'inspect',
      '--tls-verify=false',
      '--format',
      '{{.Digest}}',
      `docker://${authority}/some/${format}:1.0`,
    ]);
    assert.equal(installed.integrity, stdout.trim());
    const copied = join(around, `copied-${format}`);
    await run('skopeo', [
      '--policy',
      join(around, 'policy.json'),
      'copy',
      `oci:${place.targetDir}/${installed.path}:1.0`,
      `dir:${copied}`,
    ]);
    assert.ok(existsSync(join(copied, 'manifest.json')));
  });
}

test('oci: skopeo pulls where there is no engine, and the digest is the same', { skip }, async (t) => {
  const { authority, around } = await startRealRegistry(t);
  await pushImage(t, authority, around, 'oci');
  const bare = await stage(t, { env: { PATH: '/nowhere' } });
  const { integrity } = await bare.install(ociInstaller, { image: `${authority}/some/oci:1.0` });
  const home = join(around, 'home');
  const place = await stage(t, { env: { ...process.env, HOME: home } });
  await run('mkdir', ['-p', join(home, '.config/containers')]);
  await writeFile(join(home, '.config/containers/policy.json'), JSON.stringify(POLICY));
  const installed = await place.install(ociInstaller, { image: `${authority}/some/oci:1.0` });
  assert.deepEqual([installed.extra?.tool, installed.integrity], ['skopeo', integrity]);
  const locked = { resolved: installed.resolved, integrity: installed.integrity };
  assert.deepEqual(await place.install(ociInstaller, { image: `${authority}/some/oci:1.0` }, { locked }), installed);
});
