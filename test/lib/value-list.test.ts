import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { readValues, writeValues } from '../../src/lib/value-list.ts';
import { cpuMs } from '../support/in-time.ts';

const READ: [text: string, values: string[]][] = [
  ['', []],
  [' a ,, b,', ['a', 'b']],
  ['a,a', ['a']],
  ['"read, write"', ['read, write']],
  ['a, "read, write" ,b', ['a', 'read, write', 'b']],
  ['"Acme, ""the"" Inc.",b', ['Acme, "the" Inc.', 'b']],
  ['""', []],
  // A quote that does not surround a value is part of it.
  ['a"b,c', ['a"b', 'c']],
  ['5" disks,c', ['5" disks', 'c']],
  ['"a,b', ['"a', 'b']],
  ['"a"b,c', ['"a"b', 'c']],
  ['a "b, c" d', ['a "b', 'c" d']],
];
for (const [text, values] of READ) {
  test(`values: ${JSON.stringify(text)} is read as ${JSON.stringify(values)}`, () =>
    assert.deepEqual(readValues(text), values));
}

test('values: only those that need quotes are quoted', () => {
  assert.equal(writeValues(['a', 'b c', 'say "x"']), 'a,b c,say "x"');
  assert.equal(writeValues(['read, write', '"x"']), '"read, write","""x"""');
});

test('values: are read back as written', () => {
  const value = fc
    .string({ unit: fc.constantFrom('a', '"', ',', ' ', '\\', 'é'), minLength: 1 })
    .map((text) => `${text}.`.trim());
  fc.assert(
    fc.property(fc.uniqueArray(value), (values) => assert.deepEqual(readValues(writeValues(values)), values)),
    { numRuns: 2_000 },
  );
});

test('values: long texts with unclosed quotes are read quickly', async () => {
  for (const unit of ['"a,', '"""a,', '""a,', '"', ' ', '",']) {
    const took = await cpuMs(() => readValues(unit.repeat(100_000)));
    assert.ok(took < 5_000, `${unit}: ${took} ms`);
  }
});
