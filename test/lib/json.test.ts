import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { test } from 'node:test';
import fc from 'fast-check';
import { isJsonObject, isWithinDepth, storableText } from '../../src/lib/json.ts';
import { jsonDigest } from '../../src/lib/json-digest.ts';
import { anyText } from './any-text.ts';

test('json: objects are objects; lists, null and plain values are not', () => {
  for (const object of [{}, { a: 1 }, Object.create(null)]) assert.equal(isJsonObject(object), true);
  for (const other of [[], null, undefined, 'text', 1, true]) assert.equal(isJsonObject(other), false);
});

test('digest: is the SHA-256 of the canonical form of RFC 8785', () => {
  const document = { b: [1, 'two', null], a: { '10': -0, '9': 1e21, é: '\u20ac\n' }, A: 1.5 };
  const canonical = '{"A":1.5,"a":{"10":0,"9":1e+21,"é":"€\\n"},"b":[1,"two",null]}';
  assert.equal(jsonDigest(document), sha256(canonical));
});

test('digest: ignores the order of keys, not the order of lists', () => {
  assert.equal(jsonDigest({ a: 1, b: { c: 2, d: 3 } }), jsonDigest({ b: { d: 3, c: 2 }, a: 1 }));
  assert.notEqual(jsonDigest([1, 2]), jsonDigest([2, 1]));
  fc.assert(
    fc.property(fc.dictionary(fc.string(), fc.jsonValue()), (object) => {
      const reversed = Object.fromEntries(Object.entries(object).toReversed());
      assert.equal(jsonDigest(reversed), jsonDigest(object));
    }),
  );
});

test('digest: depends on the value of a JSON text', () => {
  assert.equal(jsonDigest({ a: undefined, b: [undefined] }), jsonDigest({ b: [null] }));
  fc.assert(fc.property(fc.jsonValue(), (value) => assert.equal(jsonDigest(value), jsonDigest(reparsed(value)))));
  const date = new Date('2026-01-02');
  assert.equal(jsonDigest({ a: date, b: 1 }), jsonDigest({ b: 1, a: date }));
  assert.notEqual(jsonDigest({ b: 1, a: date }), jsonDigest({ b: 1, a: new Date('2026-01-03') }));
});

test('digest: keys such as __proto__ count like all others', () => {
  const withProto = JSON.parse('{"a": 1, "__proto__": {"b": 2}}');
  assert.equal(jsonDigest(withProto), sha256('{"__proto__":{"b":2},"a":1}'));
  assert.equal(jsonDigest({ a: '\ud83d' }), sha256('{"a":"\\ud83d"}'));
});

const DEPTHS: [json: string, depth: number][] = [
  ['1', 0],
  ['null', 0],
  ['"[[["', 0],
  ['{}', 1],
  ['{"a": 1}', 1],
  ['[[]]', 2],
  ['{"a": [1, {"b": null}], "c": []}', 3],
];
for (const [json, depth] of DEPTHS) {
  test(`depth: ${json} is nested ${depth} deep`, () => {
    for (const limit of [0, 1, 2, 3, 4]) assert.equal(isWithinDepth(JSON.parse(json), limit), depth <= limit);
  });
}

test('depth: agrees with counting by recursion', () => {
  const depthOf = (value: unknown): number =>
    typeof value === 'object' && value !== null ? 1 + Math.max(0, ...Object.values(value).map(depthOf)) : 0;
  fc.assert(
    fc.property(fc.jsonValue({ maxDepth: 6 }), fc.nat(7), (value, limit) =>
      assert.equal(isWithinDepth(value, limit), depthOf(value) <= limit),
    ),
  );
});

test('depth: a document of a million levels is refused without a crash', () => {
  let nested: unknown = 'bottom';
  for (let level = 0; level < 1_000_000; level += 1) nested = [nested];
  assert.equal(isWithinDepth(nested, 64), false);
});

test('storable text: is well-formed, without NUL, and otherwise unchanged', () => {
  assert.equal(storableText('a\u0000b \ud83d\ude00'), 'ab \ud83d\ude00');
  assert.equal(storableText('half \ud83d pair'), 'half \ufffd pair');
  fc.assert(
    fc.property(anyText(), (text) => {
      const stored = storableText(text);
      assert.ok(stored.isWellFormed() && !stored.includes('\u0000'));
      assert.equal(storableText(stored), stored);
      if (text.isWellFormed()) assert.equal(stored, text.split('\u0000').join(''));
    }),
  );
});

function sha256(text: string): string {
  return `sha256:${createHash('sha256').update(text).digest('hex')}`;
}

function reparsed(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value));
}
