import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { LockedArtifact, Lockfile } from '../../src/install/contract.ts';
import { knownTrees, treeKey } from '../../src/install/known-trees.ts';

const inner = { resolved: 'inner@1.0.0', integrity: 'sha512-i' };

function lockfileOf(...artifacts: Partial<LockedArtifact>[]): Lockfile {
  const own = { kind: 'other', spec: {}, resolved: 'thing@1.0.0', integrity: 'sha512-t', path: 'node_modules/thing' };
  const provenance = { manifest_url: null, source_url: null, manifest_digest: 'sha256:0' };
  const entities = artifacts.map((artifact, index) => ({
    ...{ id: `tool:t${index}@1`, type: 'tool', name: 't', version: '1', adapters: [], provenance },
    artifacts: [{ ...own, ok: true, dependencies: [inner], ...artifact }],
  }));
  return { version: 1, entities };
}

test('known trees: of packages and of what came along, unless entities do not agree or nothing is in place', () => {
  const thing = treeKey({ resolved: 'thing@1.0.0', integrity: 'sha512-t' });
  const first = { tree: 'sha256:a', trees: { 'inner@1.0.0': 'sha256:b' } };
  const both = new Map([
    [thing, 'sha256:a'],
    [treeKey(inner), 'sha256:b'],
  ]);
  assert.deepEqual(knownTrees(undefined), new Map());
  assert.deepEqual(knownTrees(lockfileOf({})), new Map());
  assert.deepEqual(knownTrees(lockfileOf(first, {}, first)), both);
  assert.deepEqual(knownTrees(lockfileOf({ ...first, ok: false })), new Map());
  const done = { resolved: 'thing@1.0.0', integrity: 'sha512-t', path: 'node_modules/thing', dependencies: [inner] };
  assert.deepEqual(knownTrees(lockfileOf({ ...first, ok: false }), [{ ...done, ...first }]), both);
  for (const others of [['sha256:c'], ['sha256:c', 'sha256:b']]) {
    const more = others.map((tree) => ({ trees: { 'inner@1.0.0': tree } }));
    assert.doesNotMatch(knownTrees(lockfileOf(first, ...more)).get(treeKey(inner)) ?? '', /^sha256:/);
  }
});
