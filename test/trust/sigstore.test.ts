import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { test } from 'node:test';
import { createVerifyBundle } from '../../src/trust/sigstore.ts';
import publicRoot from '../../src/trust/trusted-root.json' with { type: 'json' };
import { type Bundle, startAuthority } from '../support/servers/sigstore.ts';

const STATEMENT = {
  _type: 'https://in-toto.io/Statement/v1',
  subject: [{ name: 'a', digest: { sha256: '00' } }],
  predicateType: 'https://slsa.dev/provenance/v1',
};

test('sigstore: the certificate names the signer and the repository', async () => {
  const authority = await startAuthority();
  const { source, statement } = createVerifyBundle(authority.root)(await authority.attest(STATEMENT));
  assert.deepEqual(JSON.parse(String(statement)), STATEMENT);
  assert.deepEqual(source, {
    repository: 'github.com/acme/pdf',
    commit: '0123456789abcdef0123456789abcdef01234567',
    workflow: 'https://github.com/acme/pdf/.github/workflows/release.yml@refs/tags/v1.0.0',
    identity: 'https://github.com/acme/pdf/.github/workflows/release.yml@refs/tags/v1.0.0',
    issuer: 'https://token.actions.githubusercontent.com',
  });
});

test('sigstore: a real bundle is valid with the hub’s built-in root, and with no other', async () => {
  const bundle = JSON.parse(await readFile(new URL('./real/npm-publish.sigstore.json', import.meta.url), 'utf8'));
  const { source } = createVerifyBundle(publicRoot)(bundle);
  assert.deepEqual([source.identity, source.issuer], ['brian@dehamer.com', 'https://github.com/login/oauth']);
  const other = createVerifyBundle((await startAuthority()).root);
  assert.throws(() => other(bundle));
});

const forgeries: [what: string, forge: (bundle: Bundle, other: Bundle) => unknown][] = [
  [
    'another statement',
    (bundle, other) => ({ ...bundle, dsseEnvelope: { ...bundle.dsseEnvelope, payload: other.dsseEnvelope.payload } }),
  ],
  [
    'another signature',
    (bundle, other) => ({
      ...bundle,
      dsseEnvelope: { ...bundle.dsseEnvelope, signatures: other.dsseEnvelope.signatures },
    }),
  ],
  [
    'another payload type',
    (bundle) => ({ ...bundle, dsseEnvelope: { ...bundle.dsseEnvelope, payloadType: 'text/plain' } }),
  ],
  [
    'no log entry',
    (bundle) => ({ ...bundle, verificationMaterial: { ...bundle.verificationMaterial, tlogEntries: [] } }),
  ],
  [
    'the log entry of another bundle',
    (bundle, other) => ({
      ...bundle,
      verificationMaterial: { ...bundle.verificationMaterial, tlogEntries: other.verificationMaterial.tlogEntries },
    }),
  ],
  [
    'the certificate of another bundle',
    (bundle, other) => ({
      ...bundle,
      verificationMaterial: { ...bundle.verificationMaterial, certificate: other.verificationMaterial.certificate },
    }),
  ],
  [
    'no certificate',
    ({ verificationMaterial: { tlogEntries }, ...bundle }) => ({ ...bundle, verificationMaterial: { tlogEntries } }),
  ],
  ['nothing', () => ({})],
  ['text', () => 'bundle'],
  ['null', () => null],
  ['no envelope', ({ dsseEnvelope: _, ...bundle }) => bundle],
];

for (const [what, forge] of forgeries) {
  test(`sigstore: a bundle with ${what} is invalid`, async () => {
    const authority = await startAuthority();
    const [bundle, other] = [await authority.attest(STATEMENT), await authority.attest({ ...STATEMENT, subject: [] })];
    const verify = createVerifyBundle(authority.root);
    verify(bundle);
    assert.throws(() => verify(forge(bundle, other)));
  });
}

test('sigstore: a bundle of another authority is invalid', async () => {
  const bundle = await (await startAuthority()).attest(STATEMENT);
  assert.throws(() => createVerifyBundle(publicRoot)(bundle), /certificate/i);
});

test('sigstore: a certificate that had expired when it was used is invalid', async () => {
  const authority = await startAuthority({ certificatesAt: new Date(Date.now() - 3_600_000) });
  const bundle = await authority.attest(STATEMENT);
  assert.throws(() => createVerifyBundle(authority.root)(bundle), /certificate/i);
});
