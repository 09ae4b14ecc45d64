import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import type { JsonObject } from '../../src/lib/json.ts';
import { checkArtifacts } from '../../src/trust/check-artifacts.ts';
import { testWorld } from '../support/world.ts';
import {
  INTEGRITY,
  npmStatement,
  PROVENANCE,
  putNpm,
  type Registries,
  startRegistries,
  statement,
} from './registries.ts';

async function check(t: TestContext, { server, rootFile }: Registries, spec: JsonObject) {
  const { close, ...world } = testWorld();
  t.after(close);
  const [signal] = await checkArtifacts(
    { artifacts: [{ kind: 'npm', spec }] },
    { ...world, npmRegistry: server.origin, pypiIndex: server.origin, rootFile, signal: t.signal },
  );
  assert.equal(signal?.signal, 'npm_provenance');
  return signal;
}

for (const name of ['pdf', '@acme/pdf']) {
  test(`npm: valid provenance of ${name} is verified`, async (t) => {
    const registries = await startRegistries(t);
    putNpm(registries.server, name, await registries.authority.attest(npmStatement(name)));
    const { source, ...signal } = await check(t, registries, { package: name, version: '1.0.0' });
    assert.deepEqual(signal, {
      signal: 'npm_provenance',
      artifact: `${name}@1.0.0`,
      state: 'verified',
      detail: 'Built from github.com/acme/pdf at 0123456789ab.',
      digest: INTEGRITY,
    });
    assert.equal(source?.issuer, 'https://token.actions.githubusercontent.com');
  });
}

const refused: [what: string, document: JsonObject, says: RegExp][] = [
  ['other bytes', npmStatement('pdf', '00'.repeat(64)), /other content/],
  ['another package', npmStatement('pdf-tables'), /another name/],
  ['another version', statement({ name: 'pkg:npm/pdf@2.0.0', digest: {} }), /another name/],
  ['another type', { ...npmStatement('pdf'), predicateType: 'https://x.example/scan' }, /of the type/],
  ['nothing', { predicateType: PROVENANCE }, /no statement/],
];
for (const [what, document, says] of refused) {
  test(`npm: provenance of ${what} fails`, async (t) => {
    const registries = await startRegistries(t);
    putNpm(registries.server, 'pdf', await registries.authority.attest(document));
    const { state, detail, source } = await check(t, registries, { package: 'pdf', version: '1.0.0' });
    assert.deepEqual([state, source], ['failed', null]);
    assert.match(detail, says);
  });
}

for (const bundle of [{}, null, 'x', { mediaType: 7 }, { verificationMaterial: [[]], dsseEnvelope: 'x' }]) {
  test(`npm: ${JSON.stringify(bundle)} as provenance fails with a message`, async (t) => {
    const registries = await startRegistries(t);
    putNpm(registries.server, 'pdf', bundle);
    const { state, detail } = await check(t, registries, { package: 'pdf', version: '1.0.0' });
    assert.equal(state, 'failed');
    assert.match(detail, /^The signature is not valid: .*\.$/);
  });
}

test('npm: bytes that differ from the manifest’s fail', async (t) => {
  const registries = await startRegistries(t);
  putNpm(registries.server, 'pdf', await registries.authority.attest(npmStatement('pdf')));
  const spec = { package: 'pdf', version: '1.0.0', integrity: `sha512-${'A'.repeat(86)}==` };
  assert.equal((await check(t, registries, spec)).state, 'failed');
});

test('npm: a version without provenance has the state absent', async (t) => {
  const registries = await startRegistries(t);
  registries.server.put('/pdf/1.0.0', { dist: { integrity: INTEGRITY } });
  const { state, detail, digest } = await check(t, registries, { package: 'pdf', version: '1.0.0' });
  assert.deepEqual([state, digest], ['absent', INTEGRITY]);
  assert.match(detail, /has no provenance/);
});

const unchecked: [what: string, spec: JsonObject, says: RegExp, prepare?: (registries: Registries) => void][] = [
  ['a range', { package: 'pdf', version: '^1.0.0' }, /exact version/],
  ['a tag', { package: 'pdf' }, /exact version/],
  ['an invalid name', { package: '../x', version: '1.0.0' }, /exact version/],
  [
    'a registry named by the manifest',
    { package: 'pdf', version: '1.0.0', registry_url: 'https://x.example' },
    /manifest names/,
  ],
  ['an unknown version', { package: 'other', version: '1.0.0' }, /no such version/],
  [
    'a failing registry',
    { package: 'pdf', version: '1.0.0' },
    /status 503/,
    ({ server }) => server.fail('/pdf/1.0.0', { status: 503, times: 1 }),
  ],
  [
    'a registry with an invalid response',
    { package: 'pdf', version: '1.0.0' },
    /no such version/,
    ({ server }) => server.put('/pdf/1.0.0', '<html>'),
  ],
  [
    'an overlong response',
    { package: 'pdf', version: '1.0.0' },
    /larger than/,
    ({ server }) => server.put('/pdf/1.0.0', 'x'.repeat(2_100_000)),
  ],
  [
    'a deeply nested response',
    { package: 'pdf', version: '1.0.0' },
    /too deep/,
    ({ server }) => server.put('/pdf/1.0.0', `${'['.repeat(99)}${']'.repeat(99)}`),
  ],
  [
    'provenance that cannot be loaded',
    { package: 'pdf', version: '1.0.0' },
    /but does not return it/,
    ({ server }) => server.remove('/-/npm/v1/attestations/pdf@1.0.0'),
  ],
];
for (const [what, spec, says, prepare] of unchecked) {
  test(`npm: ${what} leaves the package unchecked`, async (t) => {
    const registries = await startRegistries(t);
    putNpm(registries.server, 'pdf', {});
    prepare?.(registries);
    const { state, detail } = await check(t, registries, spec);
    assert.equal(state, 'not_checked', detail);
    assert.match(detail, says);
  });
}

test('npm: an unusable trusted root checks nothing', async (t) => {
  const registries = await startRegistries(t);
  const { state, detail } = await check(t, { ...registries, rootFile: '/none' }, { package: 'pdf', version: '1.0.0' });
  assert.equal(state, 'not_checked');
  assert.match(detail, /TRUST_ROOT_FILE/);
});

test('npm: a package that is started, but is not an artifact, is checked too', async (t) => {
  const { server, rootFile, authority } = await startRegistries(t);
  putNpm(server, 'pdf', await authority.attest(npmStatement('pdf')));
  const { close, ...world } = testWorld();
  t.after(close);
  const signals = await checkArtifacts(
    {
      artifacts: [{ kind: 'npm', spec: { package: 'pdf', version: '1.0.0' } }],
      packages: [{ registryType: 'npm', identifier: 'evil-pkg' }],
    },
    { ...world, npmRegistry: server.origin, pypiIndex: server.origin, rootFile, signal: t.signal },
  );
  assert.deepEqual(
    signals.map(({ artifact, state }) => [artifact, state]),
    [
      ['pdf@1.0.0', 'verified'],
      ['evil-pkg', 'not_checked'],
    ],
  );
});
