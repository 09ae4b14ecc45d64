import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { type TestContext, test } from 'node:test';
import type { JsonObject } from '../../src/lib/json.ts';
import { checkArtifacts } from '../../src/trust/check-artifacts.ts';
import { type IndexServer, startIndexServer } from '../support/servers/index-server.ts';
import { testWorld } from '../support/world.ts';

// A real release: its file, the digest of the file, and PyPI's response about it.
const FILE = 'pypi_attestations-0.0.19.tar.gz';
const SHA256 = '9bb1add04b1b4e182be6b0b80931593f7a291eb49d69b4fd728a5d4cbcdc4bd3';
const RELEASE = '/pypi/pypi-attestations/0.0.19/json';
const provenancePath = (file: string) => `/integrity/pypi-attestations/0.0.19/${file}/provenance`;
const readProvenance = async () =>
  JSON.parse(await readFile(new URL(`./real/${FILE}.provenance.json`, import.meta.url), 'utf8'));

const file = (filename: string, sha256 = SHA256) => ({ filename, digests: { sha256 } });

async function check(t: TestContext, server: IndexServer, spec: JsonObject = {}) {
  const { close, ...world } = testWorld();
  t.after(close);
  const [signal] = await checkArtifacts(
    { artifacts: [{ kind: 'pypi', spec: { package: 'pypi_attestations', version: '0.0.19', ...spec } }] },
    { ...world, npmRegistry: server.origin, pypiIndex: server.origin, rootFile: undefined, signal: t.signal },
  );
  assert.equal(signal?.signal, 'pypi_attestation');
  return signal;
}

async function startIndex(t: TestContext, files: unknown[], provenance?: unknown): Promise<IndexServer> {
  const server = await startIndexServer(t);
  server.put(RELEASE, { urls: files });
  server.put(provenancePath(FILE), provenance ?? (await readProvenance()));
  return server;
}

test('pypi: the attestation of a real release is verified with the hub’s built-in root', async (t) => {
  const { source, ...signal } = await check(t, await startIndex(t, [file(FILE)]));
  assert.deepEqual(signal, {
    signal: 'pypi_attestation',
    artifact: 'pypi-attestations==0.0.19',
    state: 'verified',
    detail: 'Built from github.com/trailofbits/pypi-attestations at 08802efe1f8e.',
    digest: `sha256:${SHA256}`,
  });
  assert.match(source?.workflow ?? '', /release\.yml@refs\/tags\/v0\.0\.19$/);
});

test('pypi: other bytes under the same name fail', async (t) => {
  const { state, detail } = await check(t, await startIndex(t, [file(FILE, '0'.repeat(64))]));
  assert.equal(state, 'failed');
  assert.match(detail, /other content/);
});

test('pypi: the attestation of another file fails', async (t) => {
  const server = await startIndex(t, [file('other-0.0.19.tar.gz')]);
  server.put(provenancePath('other-0.0.19.tar.gz'), await readProvenance());
  const { state, detail } = await check(t, server);
  assert.equal(state, 'failed');
  assert.match(detail, /another name/);
});

test('pypi: an attestation without a log entry fails', async (t) => {
  const provenance = await readProvenance();
  for (const { verification_material } of provenance.attestation_bundles[0].attestations)
    verification_material.transparency_entries = [];
  assert.equal((await check(t, await startIndex(t, [file(FILE)], provenance))).state, 'failed');
});

test('pypi: unreadable attestations fail', async (t) => {
  const provenance = { attestation_bundles: [{ attestations: [{ version: 2 }, null] }] };
  assert.equal((await check(t, await startIndex(t, [file(FILE)], provenance))).state, 'failed');
});

test('pypi: one file without an attestation means that the release has none', async (t) => {
  const { state, detail } = await check(t, await startIndex(t, [file(FILE), file('wheel-0.0.19-py3-none-any.whl')]));
  assert.equal(state, 'absent');
  assert.match(detail, /^wheel-0\.0\.19/);
});

const unchecked: [what: string, spec: JsonObject, files: unknown[], says: RegExp][] = [
  ['a range', { version: '>=0.0.19' }, [file(FILE)], /exact version/],
  ['a wildcard', { version: '==0.*' }, [file(FILE)], /exact version/],
  ['an index named by the manifest', { index_url: 'https://x.example/simple' }, [file(FILE)], /manifest names/],
  ['a release without files', {}, [], /no such version/],
  ['a file named like a path', {}, [file('../../x')], /no such version/],
  ['a release with many files', {}, Array.from({ length: 21 }, (_, index) => file(`f${index}.whl`)), /21 files/],
];
for (const [what, spec, files, says] of unchecked) {
  test(`pypi: ${what} is not checked`, async (t) => {
    const { state, detail } = await check(t, await startIndex(t, files), spec);
    assert.equal(state, 'not_checked');
    assert.match(detail, says);
  });
}

test('pypi: an index that fails midway is not treated as one without attestations', async (t) => {
  const server = await startIndex(t, [file(FILE)]);
  server.fail(provenancePath(FILE), { status: 500, times: 1 });
  assert.equal((await check(t, server)).state, 'not_checked');
});
