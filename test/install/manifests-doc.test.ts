// docs/manifests.md is true: its examples can be read and planned, and its tables list what there is.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { entityFromManifest } from '../../src/catalog/entity.ts';
import { partsOf } from '../../src/gateway/parts.ts';
import { isJsonObject, type JsonObject } from '../../src/lib/json.ts';
import { aPlan, aSubject } from './subjects.ts';

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

test('manifests: every kind of artifact has an example, and the plan takes it', async () => {
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
  assert.equal(planned.length, 7);
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
