import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import semver from 'semver';
import { versionKey } from '../../src/catalog/version-order.ts';
import { anyText } from '../lib/any-text.ts';

const OLDEST_FIRST: [title: string, versions: string[]][] = [
  ['numbers compare as numbers', ['0.1', '0.9', '0.10', '1.9.0', '1.10.0', '2.0.0', '10.0.0']],
  ['ignores a leading `v`', ['4.5.12', 'v4.5.13', '4.5.14', 'V5.0.0', '5.0.1']],
  ['missing numbers count as 0', ['0.9.9', '1', '1.0', '1.0.0', '1.0.0.1', '1.0.1']],
  ['a fourth number follows the third', ['1.2.3', '1.2.3.4', '1.2.3.10', '1.2.4']],
  ['build metadata only breaks ties', ['1.0.8', '1.0.9', '1.0.9+7f25f570', '1.0.9+8', '1.0.10']],
  ['pre-releases come before their release', ['1.0.0-alpha', '1.0.0-alpha.1', '1.0.0-beta', '1.0.0-rc.2', '1.0.0']],
  ['Python pre-releases, too', ['0.9', '1.0a1', '1.0b2', '1.0.dev3', '1.0rc1', '1.0', '1.0.post1', '1.1']],
  ['numbers of pre-releases compare as numbers', ['1.0.0-rc.2', '1.0.0-rc.10', '1.0.0-rc.x', '1.0.0']],
  ['dates are numbers', ['2025-12-31', '2026-05-22', '2026-05-22.v1', '2026-05-22.v2', '2026-10-01']],
  ['numbers of any length', ['9007199254740993.0.0', '9007199254740994.0.0', '20260522101112131415', '1'.repeat(128)]],
  ['names come before numbers', ['canary-20260101', 'canary-20260201', 'main', 'refs/heads/main', '0', '0.0.1']],
  ['zero is the lowest number', ['latest', '0.0.0-rc.1', '0', '0.0.0', '0.0.1']],
];
for (const [title, versions] of OLDEST_FIRST) {
  test(`version order: ${title}: ${versions.join(' < ').slice(0, 80)}`, () =>
    assert.deepEqual(oldestFirst(versions.toReversed()), versions));
}

const identifier = fc.oneof(
  fc.nat(12).map(String),
  fc.maxSafeNat().map(String),
  fc.constantFrom('alpha', 'beta', 'rc', 'a', 'a-', 'A'),
  fc.stringMatching(/^[0-9]{0,2}[A-Za-z-][0-9A-Za-z-]{0,4}$/),
);
const number = fc.oneof({ weight: 4, arbitrary: fc.nat(2) }, fc.nat(1000), fc.maxSafeNat());
const semanticVersion = fc
  .record({
    numbers: fc.tuple(number, number, number),
    prerelease: fc.array(identifier, { maxLength: 3 }),
    build: fc.array(fc.stringMatching(/^[0-9A-Za-z-]{1,4}$/), { maxLength: 2 }),
  })
  .map(({ numbers, prerelease, build }) =>
    [numbers.join('.'), prerelease.length && `-${prerelease.join('.')}`, build.length && `+${build.join('.')}`]
      .filter(Boolean)
      .join(''),
  );

test('version order: agrees with semver for all semver versions', () => {
  fc.assert(
    fc.property(semanticVersion, semanticVersion, (a, b) => {
      const precedence = semver.compare(a, b);
      if (precedence !== 0) assert.equal(keyOrder(a, b), precedence, `${a} and ${b}`);
    }),
    { numRuns: 2000 },
  );
});

/** Texts that are versions, look like versions, or are neither. */
const anyVersion = fc.oneof(
  semanticVersion,
  fc.stringMatching(/^[v=]{0,1}[0-9]{1,3}([.-][0-9a-z]{1,4}){0,4}$/),
  anyText(128),
);

test('version order: different texts are never equal, so the newest is well defined', () => {
  const wellFormed = fc.oneof(semanticVersion, fc.string({ unit: 'grapheme-ascii', maxLength: 100 }));
  fc.assert(fc.property(wellFormed, wellFormed, (a, b) => assert.equal(versionKey(a) === versionKey(b), a === b)));
});

test('version order: is total for any texts', () => {
  fc.assert(
    fc.property(anyVersion, anyVersion, anyVersion, (a, b, c) => {
      assert.equal(keyOrder(a, b) + keyOrder(b, a), 0);
      if (keyOrder(a, b) <= 0 && keyOrder(b, c) <= 0) assert.ok(keyOrder(a, c) <= 0);
      const keys = [a, b, c].map(versionKey).sort();
      assert.deepEqual([c, a, b].map(versionKey).sort(), keys);
    }),
  );
});

test('version order: keys are short ASCII, so every database sorts them by bytes', () => {
  fc.assert(fc.property(anyVersion, (version) => assert.match(versionKey(version), /^[\x21-\x7e]{1,600}$/)));
});

function keyOrder(a: string, b: string): number {
  const [keyA, keyB] = [versionKey(a), versionKey(b)];
  return keyA < keyB ? -1 : keyA > keyB ? 1 : 0;
}

function oldestFirst(versions: string[]): string[] {
  return versions.toSorted(keyOrder);
}
