// Real programs where available: Debian's docker-registry as the registry, skopeo to push, pull and check.
import assert from 'node:assert/strict';
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { gzipSync } from 'node:zlib';
import { imageKind } from '../../../../src/install/artifacts/image/image.ts';
import { unlessHere } from '../../../support/programs.ts';
import { emptyFolder } from '../artifact-context.ts';
import { building } from '../building.ts';
import { rawTar } from '../raw-archives.ts';

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

/** An image of one layer in skopeo's `dir:` layout, pushed to the registry. */
async function pushImage(authority: string, around: string, format: 'oci' | 'v2s2'): Promise<void> {
  const folder = join(around, 'image');
  await mkdir(folder, { recursive: true });
  const put = async (bytes: Buffer, mediaType: string) => {
    const hex = createHash('sha256').update(bytes).digest('hex');
    await writeFile(join(folder, hex), bytes);
    return { mediaType, digest: `sha256:${hex}`, size: bytes.length };
  };
  const layer = rawTar([{ name: 'hello', content: 'world' }]);
  const rootfs = { type: 'layers', diff_ids: [`sha256:${createHash('sha256').update(layer).digest('hex')}`] };
  const config = { architecture: 'amd64', os: 'linux', config: {}, rootfs };
  const type = 'application/vnd.oci.image';
  const manifest = {
    schemaVersion: 2,
    mediaType: `${type}.manifest.v1+json`,
    config: await put(Buffer.from(JSON.stringify(config)), `${type}.config.v1+json`),
    layers: [await put(gzipSync(layer), `${type}.layer.v1.tar+gzip`)],
  };
  await writeFile(join(folder, 'manifest.json'), JSON.stringify(manifest));
  await writeFile(join(folder, 'version'), 'Directory Transport Version: 1.1\n');
  await writeFile(join(around, 'policy.json'), JSON.stringify(POLICY));
  const args = ['--policy', join(around, 'policy.json'), 'copy', '--dest-tls-verify=false', '--format', format];
  await run('skopeo', [...args, `dir:${folder}`, `docker://${authority}/some/${format}:1.0`]);
}

/** A PATH with only skopeo and its policy. */
async function skopeoOnly(t: TestContext) {
  const around = await emptyFolder(t);
  await mkdir(join(around, '.config/containers'), { recursive: true });
  await mkdir(join(around, 'bin'));
  await writeFile(join(around, '.config/containers/policy.json'), JSON.stringify(POLICY));
  await symlink((await run('which', ['skopeo'])).stdout.trim(), join(around, 'bin/skopeo'));
  return building(t, { env: { PATH: join(around, 'bin'), HOME: around } });
}

for (const format of ['oci', 'v2s2'] as const)
  test(`image: the hub and skopeo find the same digest in a real registry (${format})`, { skip }, async (t) => {
    const { authority, around } = await startRealRegistry(t);
    await pushImage(authority, around, format);
    const spec = { image: `${authority}/some/${format}:1.0` };
    const inspect = ['inspect', '--tls-verify=false', '--format', '{{.Digest}}'];
    const expected = (await run('skopeo', [...inspect, `docker://${spec.image}`])).stdout.trim();
    const bare = await building(t, { env: { PATH: '/nowhere' } });
    for (const stage of [bare, await skopeoOnly(t)]) {
      const installed = await stage.install(imageKind, spec);
      assert.equal(installed.integrity, expected);
      assert.match(installed.skipped ?? '', /The image is not pulled/);
    }
  });
