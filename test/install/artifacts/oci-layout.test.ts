import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { ociInstaller } from '../../../src/install/artifacts/oci.ts';
import { digestOf, readManifest } from '../../../src/install/artifacts/oci-manifest.ts';
import { treeDigest } from '../../../src/lib/files.ts';
import { startOciHost, TYPES } from './oci-host.ts';
import { stage } from './stage.ts';

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
