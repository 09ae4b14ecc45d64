import assert from 'node:assert/strict';
import { readFile, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import type { LockedEntity } from '../../../src/install/contract.ts';
import {
  findLocked,
  mergeLockfile,
  parseLockfile,
  readLockfile,
  writeLockfile,
} from '../../../src/install/lockfile/lockfile.ts';
import { aFolder } from '../installing.ts';

function anEntity(id: string, fields: Record<string, unknown> = {}): LockedEntity {
  return {
    id,
    type: 'tool',
    name: 'a',
    version: '1.0.0',
    artifacts: [],
    adapters: [],
    provenance: { manifest_url: null, source_url: null, manifest_digest: 'sha256:0' },
    ...fields,
  };
}

test('lockfile: entities are merged by type and slug, and sorted', () => {
  const ids = ['tool:b@1.0.0', 'mcp_server:z@1.0.0', 'tool:a@2.0.0', 'tool:b@2.0.0-rc.1', 'agent:a@1.0.0'];
  const lockfile = ids.reduce<ReturnType<typeof mergeLockfile> | undefined>(
    (before, id) => mergeLockfile(before, anEntity(id)),
    undefined,
  );
  assert.deepEqual(
    lockfile?.entities.map(({ id }) => id),
    ['agent:a@1.0.0', 'mcp_server:z@1.0.0', 'tool:a@2.0.0', 'tool:b@2.0.0-rc.1'],
  );
  assert.equal(findLocked(lockfile, 'tool:b@9.9.9')?.id, 'tool:b@2.0.0-rc.1');
  assert.equal(findLocked(lockfile, 'tool:c@1.0.0'), undefined);
});

test('lockfile: does not depend on the order of installs', async (t) => {
  const [one, other] = [await aFolder(t), await aFolder(t)];
  const entities = ['tool:b@1.0.0', 'tool:a@1.0.0', 'agent:c@1.0.0'].map((id) => anEntity(id));
  for (const entity of entities) await writeLockfile(one, mergeLockfile(await readLockfile(one), entity));
  for (const entity of entities.toReversed())
    await writeLockfile(other, mergeLockfile(await readLockfile(other), entity));
  const [first, second] = await Promise.all([one, other].map((each) => readFile(join(each, 'hub.lock.json'), 'utf8')));
  assert.equal(first, second);
  assert.match(first ?? '', /\n$/);
});

test('lockfile: a deeply nested one is refused without recursion', () => {
  const nested = (levels: number) => {
    const spec = JSON.parse(`${'{"a":'.repeat(levels)}1${'}'.repeat(levels)}`);
    const artifacts = [{ kind: 'git', spec, resolved: null, integrity: null, path: null, ok: true }];
    return { version: 1, entities: [anEntity('tool:a@1.0.0', { artifacts })] };
  };
  assert.equal(parseLockfile(JSON.stringify(nested(64))).entities.length, 1);
  const [before, after] = JSON.stringify(nested(1)).split('{"a":1}');
  const levels = 20_000;
  const deep = `${before}{"a":${'['.repeat(levels)}${']'.repeat(levels)}}${after}`;
  assert.throws(() => parseLockfile(deep), {
    name: 'InstallError',
    message: /cannot be read, .* nested deeper than 128/,
  });
});

test('lockfile: keeps unknown fields of a newer hub in the file and in other entities', () => {
  const other = anEntity('tool:b@1.0.0', { other: 1 });
  const document = { version: 1, minor: 3, entities: [anEntity('tool:a@1.0.0', { note: 'of 1.0.0' }), other] };
  const merged = mergeLockfile(parseLockfile(JSON.stringify(document)), anEntity('tool:a@2.0.0'));
  assert.deepEqual(merged, { version: 1, minor: 3, entities: [anEntity('tool:a@2.0.0'), other] });
});

const UNREADABLE: Record<string, [string, RegExp]> = {
  'invalid JSON': ['{"version": 1,', /it is not JSON/],
  'an empty file': ['', /it is not JSON/],
  'an unknown old version': ['{"version": 0, "entities": []}', /it has format version 0/],
  'a newer major version': ['{"version": 2, "things": {}}', /it has format version 2.*use a newer hub/],
  'no version': [
    '{"entities": []}',
    /it is not a lockfile: \$\.version is missing; it must be a number\. Fix it or move it away/,
  ],
  'a list': ['[]', /it is not a lockfile/],
  'invalid entities': ['{"version": 1, "entities": [7]}', /it is not a lockfile: \$\.entities\.0 must be an object/],
};

for (const [name, [text, reason]] of Object.entries(UNREADABLE)) {
  test(`lockfile: refuses ${name}, with advice`, () => {
    assert.throws(() => parseLockfile(text), { name: 'InstallError', message: reason });
    assert.throws(() => parseLockfile(text), /cannot be read.*Fix it or move it away/);
  });
}

test('lockfile: a newer minor version is read and kept', () => {
  const newer = parseLockfile('{"version": 1.1, "entities": [], "more": true}');
  assert.deepEqual(mergeLockfile(newer, anEntity('tool:a@1.0.0')), {
    version: 1.1,
    entities: [anEntity('tool:a@1.0.0')],
    more: true,
  });
});

test('lockfile: refuses text that is not UTF-8, which could not be written back', async (t) => {
  const target = await aFolder(t);
  const bytes = Buffer.from('{"version": 1, "entities": [], "by": "caf\xe9"}', 'latin1');
  await writeFile(join(target, 'hub.lock.json'), bytes);
  await assert.rejects(readLockfile(target), {
    name: 'InstallError',
    message: /is not UTF-8, so it is left as it is/,
  });
});

test('lockfile: does not follow a link in its place', async (t) => {
  const [target, outside] = [await aFolder(t), await aFolder(t)];
  await writeFile(join(outside, 'secret'), 'untouched');
  await symlink(join(outside, 'secret'), join(target, 'hub.lock.json'));
  await assert.rejects(readLockfile(target), { name: 'InstallError' });
  await assert.rejects(writeLockfile(target, { version: 1, entities: [] }), { name: 'InstallError' });
  assert.equal(await readFile(join(outside, 'secret'), 'utf8'), 'untouched');
});
