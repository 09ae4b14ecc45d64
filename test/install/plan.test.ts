import assert from 'node:assert/strict';
import { test } from 'node:test';
import { installerKindOf } from '../../src/install/artifacts/installer-kind.ts';
import { planInstall } from '../../src/install/plan.ts';
import type { JsonObject } from '../../src/lib/json.ts';
import { aSubject, HOSTILE_TEXTS } from './subjects.ts';

const KINDS: [string, JsonObject, string][] = [
  ['pypi', { package: 'x' }, 'pypi'],
  ['PyPI', { package: 'x' }, 'pypi'],
  ['oci', { image: 'x' }, 'oci'],
  ['git', { repo: 'x' }, 'git'],
  ['zip', { url: 'x' }, 'zip'],
  ['other', { registry: 'npm', package: 'x' }, 'npm'],
  ['other', { registry: 'mcpb', package: 'https://x.example/a.mcpb' }, 'mcpb'],
  ['other', { registry: 'pypi', package: 'x' }, 'pypi'],
  ['other', { transport: 'SSE', url: 'https://x.example' }, 'remote'],
  ['other', { url: 'https://x.example' }, 'unsupported'],
  ['other', { registry: 'nuget', package: 'x', transport: 'x', url: 'x' }, 'unsupported'],
  ['other', {}, 'unsupported'],
  ['constructor', {}, 'unsupported'],
  ['', { registry: 7 }, 'unsupported'],
];

for (const [kind, spec, expected] of KINDS) {
  test(`plan: '${kind}' with ${JSON.stringify(spec)} is ${expected}`, () =>
    assert.equal(installerKindOf(kind, spec), expected));
}

test('plan: every artifact has a step, a command to read and a reason; nothing is left out', () => {
  const specs: [string, JsonObject, string, RegExp][] = [
    ['pypi', { package: 'x', version: '1.2.3' }, 'pypi.install', /x==1\.2\.3/],
    ['oci', { image: 'r.example/x:1' }, 'oci.pull', /r\.example\/x:1/],
    ['git', { repo: 'https://g.example/x', ref: 'v1' }, 'git.checkout', /https:\/\/g\.example\/x v1/],
    ['zip', { url: 'https://z.example/y.zip' }, 'zip.extract', /https:\/\/z\.example\/y\.zip/],
    ['other', { registry: 'npm', package: '@a/b', version: '1.0.0' }, 'npm.install', /@a\/b@1\.0\.0/],
    [
      'npm',
      { package: 'c', registry_url: 'https://n.example/r' },
      'npm.install',
      /--registry=https:\/\/n\.example\/r -- c@/,
    ],
    [
      'pypi',
      { package: 'y', registry_url: 'https://p.example/s' },
      'pypi.install',
      /--index-url https:\/\/p\.example\/s /,
    ],
    ['other', { transport: 'SSE', url: 'https://x.example' }, 'remote.skip', /nothing/],
    ['weird', {}, 'artifact.unsupported', /nothing/],
  ];
  const { artifacts } = planInstall(aSubject({ artifacts: specs.map(([kind, spec]) => ({ kind, spec })) }));
  assert.equal(artifacts.length, specs.length);
  for (const [index, [kind, spec, step, command]] of specs.entries()) {
    const planned = artifacts[index];
    assert.deepEqual([planned?.kind, planned?.spec, planned?.step, planned?.fault], [kind, spec, step, undefined]);
    assert.match(planned?.command ?? '', command);
    assert.ok(planned?.reason);
  }
});

test('plan: the digest of a bundle is taken from the packages, where registries keep it', () => {
  const url = 'https://x.example/a.mcpb';
  const fileSha256 = 'a'.repeat(64);
  const { artifacts } = planInstall(
    aSubject({
      artifacts: [{ kind: 'other', spec: { registry: 'mcpb', package: url } }],
      packages: [{ registryType: 'mcpb', identifier: url, fileSha256 }],
    }),
  );
  assert.equal(artifacts[0]?.spec.fileSha256, fileSha256);
  assert.match(artifacts[0]?.command ?? '', /a{64}/);
});

for (const path of [
  'package.json',
  'Package-Lock.json',
  '.npmrc',
  '.venv/x',
  'vendor/x',
  'src/.git/hooks/x',
  '.hub/x',
]) {
  test(`plan: no adapter is written to ${path}, which others have`, () => {
    const { adapters } = planInstall(aSubject({ adapters: [{ framework: 'langgraph', template_key: 'node', path }] }));
    assert.match(adapters[0]?.fault ?? '', /which others write|kept for the hub/);
  });
}

test('plan: credentials in the address of a repository are not shown', () => {
  const artifacts = [{ kind: 'git', spec: { repo: 'https://user:password@g.example/x' } }];
  assert.doesNotMatch(planInstall(aSubject({ artifacts })).artifacts[0]?.command ?? '', /password/);
});

test('plan: whatever a manifest holds, there is a plan, and it is the same again', () => {
  const values: unknown[] = [...HOSTILE_TEXTS, 7, null, true, [], {}, [[]]];
  for (const value of values) {
    for (const kind of ['pypi', 'oci', 'git', 'zip', 'other', value]) {
      const spec = Object.fromEntries(
        ['package', 'version', 'image', 'tag', 'digest', 'repo', 'ref', 'url', 'dest', 'registry', 'index_url'].map(
          (name) => [name, value],
        ),
      );
      const adapters = [{ framework: value, template_key: value, path: value, params: value }];
      const subject = aSubject({
        artifacts: [
          { kind, spec },
          { kind, spec: value },
        ],
        adapters,
        mcp_registration: { server: value },
      });
      const plan = planInstall(subject);
      assert.equal(plan.artifacts.length, 2);
      assert.deepEqual(plan, planInstall(subject));
      for (const { path, fault } of plan.adapters) assert.ok(fault !== undefined || !/(^|\/)\.\.(\/|$)|^\//.test(path));
    }
  }
});
