// Real programs, where they are at hand: Debian's docker-registry to pull from, skopeo to push, to pull and to check.
import assert from 'node:assert/strict';
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { imageKind } from '../../../../src/install/artifacts/image/image.ts';
import { treeDigest } from '../../../../src/lib/file-digest.ts';
import { unlessHere } from '../../../support/programs.ts';
import { startOciHost } from './oci-host.ts';
import { rawTar, rawTarGz } from '../raw-archives.ts';
import { building } from '../building.ts';

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
  const place = await building(t, { env: { PATH: '/nowhere' } });
  const { path } = await place.install(imageKind, { image: `${small.authority}/seed:latest` });
  await writeFile(join(around, 'policy.json'), JSON.stringify(POLICY));
  const args = ['--policy', join(around, 'policy.json'), 'copy', '--dest-tls-verify=false', '--format', format];
  await run('skopeo', [...args, `oci:${place.targetDir}/${path}:latest`, `docker://${authority}/some/${format}:1.0`]);
}

for (const format of ['oci', 'v2s2'] as const) {
  test(`oci: pulled from a real registry (${format}), and skopeo reads what was made`, { skip }, async (t) => {
    const { authority, around } = await startRealRegistry(t);
    await pushImage(t, authority, around, format);
    const place = await building(t, { env: { PATH: '/nowhere' } });
    const installed = await place.install(imageKind, { image: `${authority}/some/${format}:1.0` });
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

/** skopeo alone, with a policy: whatever else this machine has. */
async function skopeoStage(t: TestContext) {
  const around = await mkdtemp(join(tmpdir(), 'hub-skopeo-'));
  t.after(() => rm(around, { recursive: true, force: true }));
  await mkdir(join(around, '.config/containers'), { recursive: true });
  await mkdir(join(around, 'bin'));
  await writeFile(join(around, '.config/containers/policy.json'), JSON.stringify(POLICY));
  await symlink((await run('which', ['skopeo'])).stdout.trim(), join(around, 'bin/skopeo'));
  return building(t, { env: { PATH: join(around, 'bin'), HOME: around } });
}

for (const format of ['oci', 'v2s2'] as const)
  test(`oci: skopeo pulls where there is no engine (${format}), and the digest is the same`, { skip }, async (t) => {
    const { authority, around } = await startRealRegistry(t);
    await pushImage(t, authority, around, format);
    const spec = { image: `${authority}/some/${format}:1.0` };
    const bare = await building(t, { env: { PATH: '/nowhere' } });
    const { integrity, path } = await bare.install(imageKind, spec);
    const place = await skopeoStage(t);
    const installed = await place.install(imageKind, spec);
    assert.deepEqual([installed.extra?.tool, installed.integrity], ['skopeo', integrity]);
    assert.equal(await treeDigest(join(place.targetDir, `${path}`)), await treeDigest(join(bare.targetDir, `${path}`)));
    const locked = { resolved: installed.resolved, integrity: installed.integrity };
    assert.deepEqual(await place.install(imageKind, spec, { locked }), installed);
  });

test('oci: skopeo keeps layers that are not compressed, and the choice of the platform, as the hub itself does', {
  skip: unlessHere('skopeo'),
}, async (t) => {
  const small = await startOciHost(t, { needsToken: false });
  const layers = [rawTar([{ name: 'hello', content: 'world' }]), rawTarGz([{ name: 'more', content: 'of it' }])];
  const { index, own } = small.image('some/plain', '1.0', layers, 'application/vnd.oci.image.layer.v1.tar');
  const spec = { image: `${small.authority}/some/plain:1.0` };
  const [bare, place] = [await building(t, { env: { PATH: '/nowhere' } }), await skopeoStage(t)];
  const [direct, bySkopeo] = [await bare.install(imageKind, spec), await place.install(imageKind, spec)];
  assert.deepEqual([direct.extra?.tool, bySkopeo.extra?.tool], ['registry', 'skopeo']);
  assert.deepEqual([direct.integrity, bySkopeo.integrity], [index.digest, index.digest]);
  assert.deepEqual(await place.files(), await bare.files());
  assert.equal(await treeDigest(place.targetDir), await treeDigest(bare.targetDir));
  for (const { digest } of [index, own])
    assert.ok(
      (await place.files()).some((path) => path.endsWith(digest.slice('sha256:'.length))),
      digest,
    );
});
