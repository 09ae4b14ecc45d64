import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { ociInstaller } from '../../../src/install/artifacts/oci.ts';
import { pullLayout } from '../../../src/install/artifacts/oci-layout.ts';
import { asOciManifest, digestOf, readManifest } from '../../../src/install/artifacts/oci-manifest.ts';
import type { LockedArtifact, LockedEntity } from '../../../src/install/contract.ts';
import { differences } from '../../../src/install/frozen.ts';
import { treeOf } from '../../../src/install/tree.ts';
import { verifyArtifact } from '../../../src/install/verify/artifacts.ts';
import { treeDigest } from '../../../src/lib/file-digest.ts';
import { aFolder } from '../installing.ts';
import { ARCHITECTURE, startOciHost, TYPES } from './oci-host.ts';
import { type Stage, stage } from './stage.ts';

test('oci: a blob that was changed since is pulled again, longer or shorter than it should be', async (t) => {
  const registry = await startOciHost(t);
  const { layers } = registry.image('thing', 'latest', [randomBytes(20_000)]);
  const place = await stage(t, { env: { PATH: '/nowhere' } });
  const spec = { image: `${registry.authority}/thing` };
  const installed = await place.install(ociInstaller, spec);
  const before = await treeDigest(place.targetDir);
  const blob = join(place.targetDir, installed.path ?? '', 'blobs', layers[0]?.digest.replace(':', '/') ?? '');
  for (const bytes of [500, 20_000, 30_000]) {
    await writeFile(blob, randomBytes(bytes));
    assert.deepEqual(await place.install(ociInstaller, spec), installed);
    assert.equal(await treeDigest(place.targetDir), before);
  }
});

test('oci: a pipe in the place of a blob is not waited for, and the blob is pulled again', {
  timeout: 60_000,
  skip: process.platform === 'win32',
}, async (t) => {
  const registry = await startOciHost(t);
  const { layers } = registry.image('thing', 'latest', [randomBytes(2_000)]);
  const place = await stage(t, { env: { PATH: '/nowhere' } });
  const spec = { image: `${registry.authority}/thing` };
  const installed = await place.install(ociInstaller, spec);
  const blob = join(place.targetDir, installed.path ?? '', 'blobs', layers[0]?.digest.replace(':', '/') ?? '');
  await rm(blob);
  execFileSync('mkfifo', [blob]);
  assert.deepEqual(await place.install(ociInstaller, spec), installed);
  assert.ok((await stat(blob)).isFile());
});

for (const algorithm of ['sha256', 'sha512']) {
  test(`oci: what is there already is not fetched again, known by ${algorithm}`, async (t) => {
    const contents = new Map(['{}', 'layer'].map((text) => [digestOf(Buffer.from(text), algorithm), text]));
    const [config, layer] = [...contents].map(([digest, text]) => ({
      mediaType: TYPES.layer,
      digest,
      size: text.length,
    }));
    const body = Buffer.from(JSON.stringify({ schemaVersion: 2, config, layers: [layer] }));
    const fetched: string[] = [];
    const registry = {
      manifest: async () => ({ body, digest: digestOf(body), mediaType: TYPES.manifest }),
      async blob({ digest }: { digest: string }, file: string) {
        fetched.push(digest);
        await writeFile(file, contents.get(digest) ?? '');
      },
    };
    const folder = await aFolder(t);
    const [earlier, later, last] = ['earlier', 'later', 'last'].map((name) => join(folder, name)) as [
      string,
      string,
      string,
    ];
    await pullLayout(registry, 'latest', earlier, { earlier: join(folder, 'none'), tag: undefined });
    await pullLayout(registry, 'latest', later, { earlier, tag: undefined });
    assert.deepEqual(fetched.sort(), [...contents.keys()].sort());
    assert.equal(await treeDigest(later), await treeDigest(earlier));
    await writeFile(join(later, 'blobs', layer?.digest.replace(':', '/') ?? ''), 'other');
    await pullLayout(registry, 'latest', last, { earlier: later, tag: undefined });
    assert.deepEqual([fetched.length, fetched.at(-1)], [3, layer?.digest]);
    assert.equal(await treeDigest(last), await treeDigest(earlier));
  });
}

test('oci: kinds of blobs keep their names, also those that every object has', () => {
  const digest = digestOf(Buffer.from('x'));
  const blob = (mediaType: string) => ({ mediaType, digest, size: 1 });
  const names = ['constructor', '__proto__', 'toString'];
  const body = Buffer.from(JSON.stringify({ schemaVersion: 2, config: blob('valueOf'), layers: names.map(blob) }));
  const docker = 'application/vnd.docker.distribution.manifest.v2+json';
  const written = JSON.parse(asOciManifest({ body, digest, mediaType: docker }).body.toString());
  assert.deepEqual([written.config, written.layers], [blob('valueOf'), names.map(blob)]);
});

test('oci: of several variants, the one for all of them or the newest is chosen', () => {
  const chosenOf = (variants: (string | undefined)[]) => {
    const manifests = variants.map((variant) => ({
      mediaType: TYPES.manifest,
      digest: digestOf(Buffer.from(variant ?? 'any')),
      size: 1,
      platform: { os: 'linux', architecture: 'arm', ...(variant ? { variant } : {}) },
    }));
    const body = Buffer.from(JSON.stringify({ schemaVersion: 2, manifests }));
    const platform = { os: 'linux', architecture: 'arm' };
    const read = readManifest({ body, digest: digestOf(body), mediaType: TYPES.index }, platform);
    return variants[manifests.findIndex(({ digest }) => read.kind === 'index' && digest === read.chosen.digest)];
  };
  assert.equal(chosenOf(['v6', 'v7']), 'v7');
  assert.equal(chosenOf(['v7', 'v6']), 'v7');
  assert.equal(chosenOf(['v6', undefined, 'v7']), undefined);
});

test('oci: on another kind of machine, a lockfile is held to what is the same for all of them', async (t) => {
  const registry = await startOciHost(t);
  const { index, layers } = registry.image('thing', 'latest', [randomBytes(2_000)]);
  const spec = { image: `${registry.authority}/thing` };
  const [here, there] = [await stage(t, { env: { PATH: '/nowhere' } }), await stage(t, { env: { PATH: '/nowhere' } })];
  const lockOf = async (place: Stage): Promise<LockedArtifact> => {
    const { extra: _extra, dependencies: _none, ...installed } = await place.install(ociInstaller, spec);
    const tree = await treeOf('oci', installed, place.targetDir);
    return { kind: 'oci', spec, ok: true, ...installed, ...(tree ? { tree } : {}) };
  };
  const other = await onMachine(t, 's390x', () => lockOf(there));
  const own = await lockOf(here);
  assert.deepEqual([own.integrity, other.integrity], [index.digest, index.digest]);
  assert.deepEqual([own.platform, other.platform], [`linux/${ARCHITECTURE}`, 'linux/s390x']);
  assert.notEqual(own.tree, other.tree);
  assert.deepEqual(differences(entityWith(other), entityWith(own)), []);
  assert.match(
    differences(entityWith({ ...own, tree: 'sha256:0' }), entityWith(own)).join(),
    /^tree of artifact 1 \(oci\)/,
  );

  const context = { targetDir: here.targetDir, run: here.context.run, signal: here.context.signal };
  assert.deepEqual(await verifyArtifact(other, context), { outcome: 'same' });
  await writeFile(join(here.targetDir, own.path ?? '', 'blobs', layers[0]?.digest.replace(':', '/') ?? ''), 'changed');
  assert.equal((await verifyArtifact(other, context)).outcome, 'different');
  assert.equal((await verifyArtifact(own, context)).outcome, 'different');
});

test('oci: an image that is the same for every machine names no platform', async (t) => {
  const registry = await startOciHost(t);
  const config = registry.blob('plain', '{}', TYPES.config);
  const image = { schemaVersion: 2, mediaType: TYPES.manifest, config, layers: [] };
  registry.manifest('plain', image, { tag: 'latest' });
  const place = await stage(t, { env: { PATH: '/nowhere' } });
  const installed = await place.install(ociInstaller, { image: `${registry.authority}/plain` });
  assert.equal(installed.platform, undefined);
});

test('oci: an image for another kind of machine is told as such, and one that says nothing is not guessed at', async (t) => {
  const registry = await startOciHost(t);
  const place = await stage(t, { env: { PATH: '/nowhere' } });
  const told = async (name: string, config: object) => {
    const blob = registry.blob(name, JSON.stringify(config), TYPES.config);
    const image = { schemaVersion: 2, mediaType: TYPES.manifest, config: blob, layers: [] };
    const { digest } = registry.manifest(name, image);
    const { extra, platform } = await place.install(ociInstaller, { image: `${registry.authority}/${name}`, digest });
    assert.equal(platform, undefined, 'the same digest is the same bytes everywhere');
    return [extra?.platform, extra?.warning];
  };
  const [platform, warning] = await told('other', { os: 'linux', architecture: 's390x' });
  assert.equal(platform, 'linux/s390x');
  assert.match(String(warning), /is for linux\/s390x, and this machine is linux\//);
  assert.deepEqual(await told('own', { os: 'linux', architecture: ARCHITECTURE }), [
    `linux/${ARCHITECTURE}`,
    undefined,
  ]);
  for (const config of [{}, { os: 7, architecture: 's390x' }, { os: 'a b', architecture: 'x' }])
    assert.deepEqual(await told('silent', config), [undefined, undefined]);
});

async function onMachine<T>(t: TestContext, arch: string, work: () => Promise<T>): Promise<T> {
  const own = Object.getOwnPropertyDescriptor(process, 'arch') ?? {};
  const restore = () => Object.defineProperty(process, 'arch', own);
  t.after(restore);
  Object.defineProperty(process, 'arch', { ...own, value: arch });
  try {
    return await work();
  } finally {
    restore();
  }
}

function entityWith(artifact: LockedArtifact): LockedEntity {
  return {
    ...{ id: 'tool:a@1.0.0', type: 'tool', name: 'a', version: '1.0.0', adapters: [] },
    artifacts: [artifact],
    provenance: { manifest_url: null, source_url: null, manifest_digest: 'sha256:0' },
  };
}
