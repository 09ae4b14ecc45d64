import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { type TestContext, test } from 'node:test';
import type { JsonObject } from '../../src/lib/json.ts';
import { checkArtifacts } from '../../src/trust/check-artifacts.ts';
import { testWorld } from '../support/world.ts';
import { type Registries, startRegistries, statement } from './registries.ts';

const hexOf = (content: string | Buffer) => createHash('sha256').update(content).digest('hex');
const HEX = hexOf('the image');
const DIGEST = `sha256:${HEX}`;
const SIGNED = 'https://sigstore.dev/cosign/sign/v1';

async function check(t: TestContext, { server, rootFile }: Registries, digest: string | undefined = DIGEST) {
  const { close, ...world } = testWorld();
  t.after(close);
  const image = `${new URL(server.origin).host}/acme/pdf`;
  const [signal] = await checkArtifacts(
    { artifacts: [{ kind: 'oci', spec: digest ? { image, digest } : { image, tag: '1.0' } }] },
    { ...world, npmRegistry: server.origin, pypiIndex: server.origin, rootFile, signal: t.signal },
  );
  assert.equal(signal?.signal, 'image_signature');
  return signal;
}

function putBlob({ server }: Registries, content: string | Buffer): string {
  const digest = `sha256:${hexOf(content)}`;
  server.put(`/v2/acme/pdf/blobs/${digest}`, content, { type: 'application/octet-stream' });
  return digest;
}

function payloadFor(digest: string): Buffer {
  return Buffer.from(
    JSON.stringify({
      critical: {
        identity: { 'docker-reference': 'acme/pdf' },
        image: { 'docker-manifest-digest': digest },
        type: 'cosign container image signature',
      },
      optional: null,
    }),
  );
}

function putSignature(registries: Registries, payload: Buffer, annotations: Record<string, string>): void {
  const layer = { mediaType: 'application/vnd.dev.cosign.simplesigning.v1+json', digest: putBlob(registries, payload) };
  registries.server.put(`/v2/acme/pdf/manifests/sha256-${HEX}.sig`, {
    schemaVersion: 2,
    layers: [{ ...layer, annotations }],
  });
}

function putReferrer(registries: Registries, path: string, bundle: unknown): void {
  const digest = putBlob(registries, JSON.stringify(bundle));
  const manifest = JSON.stringify({ schemaVersion: 2, layers: [{ digest }] });
  const reference = `sha256:${hexOf(manifest)}`;
  registries.server.put(`/v2/acme/pdf/manifests/${reference}`, manifest);
  registries.server.put(path, {
    manifests: [
      { digest: DIGEST, artifactType: 'application/spdx+json' },
      { digest: reference, artifactType: 'application/vnd.dev.sigstore.bundle.v0.3+json' },
    ],
  });
}

test('image: a signature stored next to the image is verified', async (t) => {
  const registries = await startRegistries(t);
  const payload = payloadFor(DIGEST);
  putSignature(registries, payload, await registries.authority.annotate(payload));
  const { state, detail, digest, source } = await check(t, registries);
  assert.deepEqual([state, digest, source?.repository], ['verified', DIGEST, 'github.com/acme/pdf'], detail);
});

test('image: a signature for another image fails', async (t) => {
  const registries = await startRegistries(t);
  const payload = payloadFor(`sha256:${'0'.repeat(64)}`);
  putSignature(registries, payload, await registries.authority.annotate(payload));
  const { state, detail } = await check(t, registries);
  assert.equal(state, 'failed');
  assert.match(detail, /another image/);
});

test('image: a payload that differs from the signed one fails', async (t) => {
  const registries = await startRegistries(t);
  putSignature(registries, payloadFor(DIGEST), await registries.authority.annotate(Buffer.from('{}')));
  assert.equal((await check(t, registries)).state, 'failed');
});

test('image: broken annotations fail', async (t) => {
  const registries = await startRegistries(t);
  putSignature(registries, payloadFor(DIGEST), { 'dev.sigstore.cosign/certificate': 'x' });
  assert.equal((await check(t, registries)).state, 'failed');
});

test('image: a signature by a key is not checked', async (t) => {
  const registries = await startRegistries(t);
  putSignature(registries, payloadFor(DIGEST), { 'dev.cosignproject.cosign/signature': 'AAAA' });
  const { state, detail } = await check(t, registries);
  assert.equal(state, 'not_checked');
  assert.match(detail, /signed with a key/);
});

for (const path of [`/v2/acme/pdf/referrers/${DIGEST}`, `/v2/acme/pdf/manifests/sha256-${HEX}`]) {
  test(`image: a bundle at ${path.slice(12, 21)} is verified`, async (t) => {
    const registries = await startRegistries(t);
    const document = statement({ name: '', digest: { sha256: HEX } }, SIGNED);
    putReferrer(registries, path, await registries.authority.attest(document));
    assert.equal((await check(t, registries)).state, 'verified');
  });
}

const refused: [what: string, document: JsonObject][] = [
  ['another digest', statement({ name: '', digest: { sha256: '0'.repeat(64) } }, SIGNED)],
  ['an SBOM', statement({ name: '', digest: { sha256: HEX } }, 'https://spdx.dev/Document')],
];
for (const [what, document] of refused) {
  test(`image: a bundle about ${what} is not its signature`, async (t) => {
    const registries = await startRegistries(t);
    putReferrer(registries, `/v2/acme/pdf/referrers/${DIGEST}`, await registries.authority.attest(document));
    assert.equal((await check(t, registries)).state, 'failed');
  });
}

test('image: one without signatures has the state absent', async (t) => {
  assert.equal((await check(t, await startRegistries(t))).state, 'absent');
});

test('image: a tag is not checked, because it may move', async (t) => {
  const { state, detail } = await check(t, await startRegistries(t), '');
  assert.equal(state, 'not_checked');
  assert.match(detail, /tag/);
});

test('image: uses a token where the registry issues them', async (t) => {
  const registries = await startRegistries(t);
  const { server } = registries;
  const challenge = `Bearer realm="${server.origin}/token",service="registry"`;
  const path = `/v2/acme/pdf/manifests/sha256-${HEX}.sig`;
  server.fail(path, { status: 401, times: 1, headers: { 'www-authenticate': challenge } });
  server.put('/token', { token: 'for-anybody' });
  assert.equal((await check(t, registries)).state, 'absent');
  assert.equal(server.seen(path).at(-1)?.headers.authorization, 'Bearer for-anybody');
});

test('image: a refusing registry is not treated as one without signatures', async (t) => {
  const registries = await startRegistries(t);
  registries.server.fail(`/v2/acme/pdf/manifests/sha256-${HEX}.sig`, { status: 403, times: 1 });
  assert.equal((await check(t, registries)).state, 'not_checked');
});
