// docs/install.md, docs/install-reference.md, docs/lockfile.md and docs/security.md name only what exists.
import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import { CLIENTS } from '../../src/catalog/client-config.ts';
import { entityFromManifest } from '../../src/catalog/entity.ts';
import { partsOf } from '../../src/gateway/registration/parts.ts';
import { LockedArtifact, LockedEntity, Lockfile } from '../../src/install/contract.ts';
import { isJsonObject, type JsonObject } from '../../src/lib/json.ts';
import { aPlan, aSubject } from '../install/subjects.ts';

const read = (name: string) => readFileSync(new URL(`../../docs/${name}.md`, import.meta.url), 'utf8');
const pages = ['install', 'install-reference', 'lockfile', 'security'].map((name) => ({ name, text: read(name) }));

test('security.md: every test file that it names exists', () => {
  const files = globSync('test/**/*.test.ts');
  const named = [...read('security').matchAll(/`([\w/.-]+\.test\.ts)`/g)].map(([, path = '']) => path);
  assert.ok(named.length > 20);
  assert.deepEqual(
    named.filter((path) => !files.some((file) => file === path || file.endsWith(`/${path}`))),
    [],
  );
});

test('install pages: every command and option that they name exists', () => {
  const reference = globSync('docs/cli/*.md')
    .map((path) => readFileSync(path, 'utf8'))
    .join('\n');
  for (const { name, text } of pages) {
    const lines = [...text.matchAll(/(?:^\$ |^|`)(hub [a-z]+[^`\n]*)/gm)].map(([, line = '']) => line);
    for (const line of lines) {
      const [command = ''] = /^hub [a-z]+/.exec(line) ?? [];
      assert.match(reference, new RegExp(`^## ${command}\\b`, 'm'), `${name}: ${line}`);
      for (const option of line.match(/--[a-z-]+/g) ?? [])
        assert.ok(reference.includes(`\`${option}`), `${name}: ${line}`);
    }
  }
});

test('install.md: every client is in the table', () => {
  const rows = [...read('install').matchAll(/^\| `(\w+)` \| (?:`\.(?!hub)|Printed)/gm)].map(([, client]) => client);
  assert.deepEqual(rows.toSorted(), CLIENTS.toSorted());
});

test('install.md: its example manifests can be planned', async () => {
  for (const name of ['clock', 'thinking']) {
    const text = readFileSync(new URL(`../../docs/examples/${name}.json`, import.meta.url), 'utf8');
    const plan = await aPlan(aSubject(JSON.parse(text)), { clients: ['claude'] });
    assert.deepEqual(
      [...plan.artifacts, ...plan.adapters].map(({ fault }) => fault),
      [undefined, undefined],
    );
  }
});

test('lockfile.md: the example is a lockfile, and every field is explained', () => {
  const text = read('lockfile');
  const example = JSON.parse(/```json\n(.+?)```/s.exec(text)?.[1] ?? '');
  assert.equal(JSON.stringify(Lockfile.parse(example)), JSON.stringify(example));
  const fields = [LockedEntity, LockedArtifact, LockedEntity.shape.provenance].flatMap(({ shape }) =>
    Object.keys(shape),
  );
  for (const field of fields) assert.match(text, new RegExp(`^\\|.*\`${field}\`.*\\|`, 'm'), field);
});

const page = readFileSync(new URL('../../docs/manifests.md', import.meta.url), 'utf8');
const examples = [...page.matchAll(/^```json\n(.+?)^```$/gms)].map(([, text = '']): JsonObject => JSON.parse(text));
const artifacts = examples.filter(({ kind }) => kind !== undefined);

test('manifests: the whole example is a manifest that can be planned', async () => {
  const [manifest = {}] = examples;
  assert.equal(entityFromManifest({ document: manifest }).uid, 'mcp_server:clock@1.0.0');
  const plan = await aPlan(aSubject(manifest));
  assert.deepEqual(
    [...plan.artifacts, ...plan.adapters].map(({ fault }) => fault),
    [undefined, undefined, undefined],
  );
});

test('manifests: every kind of artifact has an example that can be planned', async () => {
  const planned = (await aPlan(aSubject({ artifacts }))).artifacts;
  assert.deepEqual(
    planned.flatMap(({ fault }) => fault ?? []),
    [],
  );
  assert.deepEqual(planned.map(({ step }) => step).sort(), [
    'git.checkout',
    'mcpb.extract',
    'npm.install',
    'oci.pull',
    'pypi.install',
    'remote.skip',
    'zip.extract',
  ]);
});

test('manifests: adapters write where the table says', async () => {
  const rows = [...page.matchAll(/^\| `(\w+)` \| `(\w+)` \| .*?`([^`]+)`/gm)].filter(([, , key]) => key !== 'required');
  const adapters = rows.map(([, framework, template_key]) => ({ framework, template_key }));
  const planned = (await aPlan(aSubject({ name: 'clock', adapters }))).adapters;
  assert.equal(planned.length, 9);
  for (const [index, { path, generic }] of planned.entries())
    assert.deepEqual([path, generic], [rows[index]?.[3]?.replace('<name>', 'clock'), false]);
});

test('manifests: every part of the example registration can be registered', async () => {
  const registration = examples.find(({ server }) => isJsonObject(server)) ?? null;
  const parts = partsOf(registration, 'clock');
  assert.deepEqual(
    parts.map(({ kind, fault }) => [kind, fault]),
    [
      ['tools', undefined],
      ['resources', undefined],
      ['prompts', undefined],
    ],
  );
});
