// Images, pulled by the hub itself from a registry on loopback: tokens, platforms, digests, connections that break off.
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { chmod, mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { imageKind } from '../../../../src/install/artifacts/image/image.ts';
import { treeDigest } from '../../../../src/lib/file-digest.ts';
import { digestOf, startOciHost, TYPES } from './oci-host.ts';
import { type Building, building } from '../building.ts';

/** Without any of the programs that pull images. */
const bare = (t: TestContext): Promise<Building> => building(t, { env: { PATH: '/nowhere' } });
const layers = () => [randomBytes(200_000), randomBytes(3_000)];

test('oci: an image with a token, for this platform, into a layout; twice is the same', async (t) => {
  const registry = await startOciHost(t);
  const { index, own, layers: stored } = registry.image('some/thing', '1.0', layers());
  const place = await bare(t);
  const spec = { image: `${registry.authority}/some/thing:1.0` };
  const installed = await place.install(imageKind, spec);
  assert.deepEqual(
    [installed.resolved, installed.integrity, installed.extra?.tool],
    [`${registry.authority}/some/thing@${index.digest}`, index.digest, 'registry'],
  );
  const path = installed.path ?? '';
  const layout = JSON.parse(await place.read(`${path}/index.json`));
  assert.deepEqual([layout.manifests.length, layout.manifests[0].digest], [1, own.digest]);
  for (const { digest } of [index, own, ...stored]) {
    const bytes = await readFile(join(place.targetDir, path, 'blobs', digest.replace(':', '/')));
    assert.equal(digestOf(bytes), digest);
  }
  const asked = registry.host.seen('/token').map(({ path: url }) => new URL(url, 'http://x').searchParams.get('scope'));
  assert.deepEqual(asked, ['repository:some/thing:pull']);

  const before = await treeDigest(place.targetDir);
  registry.host.forget();
  assert.deepEqual(await place.install(imageKind, spec), installed);
  assert.equal(await treeDigest(place.targetDir), before);
  assert.ok(
    !registry.host.requests.some(({ path: url }) => url.includes('/blobs/')),
    'blobs that are there are not asked for again',
  );
  await place.assertContained();
});

test('oci: what breaks off is continued, and a token that has run out is replaced', async (t) => {
  const registry = await startOciHost(t);
  const [large = Buffer.alloc(0)] = layers();
  const {
    layers: [layer],
  } = registry.image('thing', 'latest', [large]);
  registry.breakOff(60_000, 3);
  registry.tokenUses(2);
  const place = await bare(t);
  await place.install(imageKind, { image: `${registry.authority}/thing` });
  const ranges = registry.host.seen(`/v2/thing/blobs/${layer?.digest}`).filter(({ status }) => status === 206);
  assert.ok(ranges.length >= 3, `${ranges.length} parts`);
});

test('oci: a digest is checked, a moved tag does not matter to it', async (t) => {
  const registry = await startOciHost(t, { needsToken: false });
  const first = registry.image('thing', '1.0', layers());
  const second = registry.image('thing', '1.0', layers());
  const place = await bare(t);
  const image = `${registry.authority}/thing`;
  assert.equal((await place.install(imageKind, { image, tag: '1.0' })).integrity, second.index.digest);
  assert.equal(
    (await place.install(imageKind, { image: `${image}:1.0`, digest: first.index.digest })).integrity,
    first.index.digest,
  );
  assert.equal(
    (await place.install(imageKind, { image: `${image}@${first.own.digest}` })).integrity,
    first.own.digest,
  );
  const locked = { resolved: `${image}@${first.index.digest}`, integrity: first.index.digest };
  assert.equal((await place.install(imageKind, { image, tag: '1.0' }, { locked })).integrity, first.index.digest);
  assert.match(
    await place.failure(imageKind, { image: `${registry.authority}/other` }, { locked }),
    /lockfile says/,
  );
  assert.match(await place.failure(imageKind, { image, digest: second.index.digest }, { locked }), /lockfile says/);
  const unknown = `sha256:${'0'.repeat(64)}`;
  assert.match(await place.failure(imageKind, { image, digest: unknown }), /has no image/);
});

type Trouble = [name: string, prepare: (registry: Awaited<ReturnType<typeof startOciHost>>) => void, expected: RegExp];
const descriptor = (over: object = {}) => ({
  mediaType: TYPES.config,
  digest: `sha256:${'1'.repeat(64)}`,
  size: 5,
  ...over,
});
const asImage =
  (document: object): Trouble[1] =>
  (registry) =>
    void registry.manifest('thing', { schemaVersion: 2, ...document }, { tag: 'latest' });
const TROUBLES: Trouble[] = [
  ['no such image', () => {}, /has no image/],
  [
    'a manifest that is no JSON',
    (r) => void r.manifest('thing', Buffer.from('<html>'), { tag: 'latest' }),
    /no JSON object/,
  ],
  ['a manifest that is a list', (r) => void r.manifest('thing', [], { tag: 'latest' }), /no JSON object/],
  ['an old manifest', asImage({ schemaVersion: 1, fsLayers: [] }), /not known here/],
  ['a manifest of two kinds', asImage({ manifests: [], layers: [], config: descriptor() }), /not known here/],
  ['an index that says it is an image', asImage({ manifests: [descriptor()] }), /not known here/],
  [
    'a digest that leaves the folder',
    asImage({ config: descriptor({ digest: 'sha256:../../../../escaped' }), layers: [] }),
    /cannot be read/,
  ],
  [
    'a digest of another kind',
    asImage({ config: descriptor({ digest: `md5:${'1'.repeat(32)}` }), layers: [] }),
    /cannot be read/,
  ],
  ['a size below zero', asImage({ config: descriptor({ size: -1 }), layers: [] }), /cannot be read/],
  ['a size that is no number', asImage({ config: descriptor({ size: '5' }), layers: [] }), /cannot be read/],
  ['a size of terabytes', asImage({ config: descriptor({ size: 1e13 }), layers: [] }), /cannot be read/],
  [
    'layers of terabytes together',
    asImage({
      config: descriptor(),
      layers: Array.from({ length: 20 }, (_, n) =>
        descriptor({ size: 2e9, digest: `sha256:${String(n).padStart(64, '0')}` }),
      ),
    }),
    /larger than/,
  ],
  ['too many layers', asImage({ config: descriptor(), layers: Array(501).fill(descriptor()) }), /cannot be read/],
  ['a blob that is not there', asImage({ config: descriptor(), layers: [] }), /has no image/],
  [
    'a blob with other bytes',
    (r) => {
      const config = r.blob('thing', '{"a":1}', TYPES.config);
      r.corrupt('thing', config.digest, Buffer.from('{"a":2}'));
      r.manifest('thing', { schemaVersion: 2, config, layers: [] }, { tag: 'latest' });
    },
    /other bytes/,
  ],
  [
    'a blob that is longer than announced',
    (r) => {
      const config = r.blob('thing', '{"a":1}', TYPES.config);
      r.corrupt('thing', config.digest, Buffer.alloc(5_000));
      r.manifest('thing', { schemaVersion: 2, config, layers: [] }, { tag: 'latest' });
    },
    /larger than/,
  ],
  [
    'another platform only',
    (r) => {
      const manifests = [{ ...descriptor(), platform: { os: 'linux', architecture: 's390x' } }];
      r.manifest('thing', { schemaVersion: 2, manifests }, { tag: 'latest', mediaType: TYPES.index });
    },
    /only for linux\/s390x/,
  ],
  [
    'an index of itself',
    (r) => {
      let inner = r.manifest('thing', { schemaVersion: 2, manifests: [descriptor()] }, { mediaType: TYPES.index });
      for (let depth = 0; depth < 4; depth += 1)
        inner = r.manifest(
          'thing',
          { schemaVersion: 2, manifests: [inner] },
          { tag: 'latest', mediaType: TYPES.index },
        );
    },
    /list of lists/,
  ],
  [
    'a login',
    (r) =>
      r.host.answer(
        '/v2/thing/manifests/latest',
        (_q, a) => void a.writeHead(401, { 'www-authenticate': 'Basic realm="x"' }).end(),
      ),
    /without a login/,
  ],
  [
    'a realm that is a file',
    (r) =>
      r.host.answer(
        '/v2/thing/manifests/latest',
        (_q, a) => void a.writeHead(401, { 'www-authenticate': 'Bearer realm="file:///etc/passwd"' }).end(),
      ),
    /only http and https/,
  ],
  [
    'a realm of the metadata service',
    (r) =>
      r.host.answer(
        '/v2/thing/manifests/latest',
        (_q, a) => void a.writeHead(401, { 'www-authenticate': 'Bearer realm="http://169.254.169.254/"' }).end(),
      ),
    /never connected/,
  ],
  ['a token with a line break', (r) => r.host.put('/token', { token: 'a\r\nx-evil: 1' }), /no token|has no image/],
  [
    'too many requests',
    (r) => r.host.answer('/v2/thing/manifests/latest', (_q, a) => void a.writeHead(429).end()),
    /later/,
  ],
  [
    'a manifest of many megabytes',
    (r) => void r.manifest('thing', Buffer.alloc(5_000_000, ' '), { tag: 'latest' }),
    /larger than/,
  ],
  [
    'another digest than announced',
    (r) =>
      r.host.answer(
        '/v2/thing/manifests/latest',
        (_q, a) => void a.writeHead(200, { 'docker-content-digest': `sha256:${'0'.repeat(64)}` }).end('{}'),
      ),
    /does not have the digest/,
  ],
];
for (const [name, prepare, expected] of TROUBLES) {
  test(`oci: ${name}`, async (t) => {
    const registry = await startOciHost(t, { needsToken: name.includes('token') });
    prepare(registry);
    const place = await bare(t);
    assert.match(await place.failure(imageKind, { image: `${registry.authority}/thing` }), expected);
    assert.deepEqual(await place.files(), []);
    await place.assertContained();
  });
}

test('oci: a registry in a private network is not asked when that is off', async (t) => {
  const registry = await startOciHost(t);
  const place = await building(t, { allowPrivate: false, env: { PATH: '/nowhere' } });
  assert.match(await place.failure(imageKind, { image: `${registry.authority}/thing` }), /private or loopback/);
  assert.equal(registry.host.requests.length, 0);
});

/** Programs that do what the real ones would, as far as this goes. */
async function withPrograms(t: TestContext, scripts: Record<string, string>): Promise<Building> {
  const place = await building(t, { env: {} });
  const bin = join(place.targetDir, 'bin');
  await mkdir(bin);
  for (const [name, script] of Object.entries(scripts)) {
    await writeFile(join(bin, name), `#!/bin/sh\n${script}\n`);
    await chmod(join(bin, name), 0o755);
  }
  const { createRun } = await import('../../../../src/lib/run.ts');
  place.context.run = createRun({ PATH: `${bin}:/bin:/usr/bin` }, { url: async () => 'http://127.0.0.1:9' });
  return place;
}
const DIGEST = `sha256:${'a'.repeat(64)}`;
const ENGINE = (name: string) =>
  `case "$1" in pull) exit 0;; image) echo "other@sha256:${'b'.repeat(64)}"; echo "thing@${DIGEST}";; *) echo ${name} 1.0;; esac`;
const NO_ENGINE = 'echo "Client: 27"; echo "Cannot connect to the Docker daemon" >&2; exit 1';

test('oci: docker first, then podman; a client without an engine does not count', async (t) => {
  const run = async (scripts: Record<string, string>) => {
    const place = await withPrograms(t, scripts);
    return place.install(imageKind, { image: 'thing:1.0' }, { vetAddress: async () => [], run: place.context.run });
  };
  const both = await run({ docker: ENGINE('docker'), podman: ENGINE('podman') });
  assert.deepEqual([both.extra?.tool, both.resolved, both.path], ['docker', `docker.io/library/thing@${DIGEST}`, null]);
  assert.equal((await run({ docker: NO_ENGINE, podman: ENGINE('podman') })).extra?.tool, 'podman');
  const place = await withPrograms(t, { docker: 'if [ "$1" = pull ]; then echo "manifest unknown" >&2; exit 1; fi' });
  const sentence = await place.failure(
    imageKind,
    { image: 'thing' },
    { vetAddress: async () => [], run: place.context.run },
  );
  assert.equal(sentence, 'docker could not pull the image: the registry has no such image or tag.');
});
