import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import {
  ENTITY_TYPES,
  type EntityReference,
  formatUid,
  parseReference,
  slugFault,
  versionFault,
} from '../../src/catalog/uid.ts';
import { anyText } from '../lib/any-text.ts';

const IDS: [id: string, reference: EntityReference][] = [
  ['tool:pdf@1.0.0', { type: 'tool', slug: 'pdf', version: '1.0.0' }],
  ['mcp_server:io.example/PDF@v4.5.13', { type: 'mcp_server', slug: 'io.example/PDF', version: 'v4.5.13' }],
  ['agent:@scope/pdf@1.0.0', { type: 'agent', slug: '@scope/pdf', version: '1.0.0' }],
  ['tool:npm/@scope/pdf@1.0.0', { type: 'tool', slug: 'npm/@scope/pdf', version: '1.0.0' }],
  ['tool:pdf@refs/heads/main', { type: 'tool', slug: 'pdf', version: 'refs/heads/main' }],
  ['tool:a:b@1.0.9+7f25f570', { type: 'tool', slug: 'a:b', version: '1.0.9+7f25f570' }],
  ['tool:größe-😀@1', { type: 'tool', slug: 'größe-😀', version: '1' }],
  ['tool:..hidden.@1..2', { type: 'tool', slug: '..hidden.', version: '1..2' }],
  ['tool:pdf', { type: 'tool', slug: 'pdf' }],
  ['tool:@scope/pdf', { type: 'tool', slug: '@scope/pdf' }],
];
for (const [id, reference] of IDS) {
  test(`uid: ${id} names ${reference.slug} in ${reference.version ?? 'its newest version'}`, () => {
    assert.deepEqual(parseReference(id), reference);
    const { version } = reference;
    if (version) assert.equal(formatUid({ ...reference, version }), id);
  });
}

const MALFORMED: [id: string, why: string][] = [
  ['', 'it is empty'],
  ['pdf@1.0.0', 'it has no type'],
  [':pdf@1.0.0', 'its type is empty'],
  ['model:pdf@1.0.0', 'its type is unknown'],
  ['Tool:pdf@1.0.0', 'types are lower case'],
  ['constructor:pdf@1.0.0', 'its type is unknown'],
  ['tool:', 'its slug is empty'],
  ['tool:pdf@', 'its version is empty'],
  ['tool:pdf\u0000@1.0.0', 'it contains NUL'],
  ['tool:pdf@1.0\u0000', 'its version contains NUL'],
  ['tool:pdf reader@1.0.0', 'it contains a space'],
  ['tool:pdf\u00a0reader@1.0.0', 'it contains a non-breaking space'],
  ['tool:pdf@1.0.0\n', 'it ends with a line break'],
  ['tool:pdf\u007f@1.0.0', 'it contains a control character'],
  ['tool:..@1.0.0', 'it would point to a parent folder'],
  ['tool:a/../../b@1.0.0', 'it would point to a parent folder'],
  ['tool:pdf@..', 'its version would point to a parent folder'],
  ['tool:pdf@../../1', 'its version would point to a parent folder'],
  ['tool:./pdf@1.0.0', 'it would point to the same folder'],
  ['tool:/pdf@1.0.0', 'it would be an absolute path'],
  ['tool:a//b@1.0.0', 'it has an empty segment'],
  ['tool:a/@1.0.0', 'it ends with an empty segment'],
  ['tool:half\ud83d@1.0.0', 'it contains a lone surrogate'],
  [`tool:${'s'.repeat(257)}@1`, 'its slug is too long'],
  [`tool:pdf@${'1'.repeat(129)}`, 'its version is too long'],
  [`tool:${'s/'.repeat(100_000)}`, 'it is far too long'],
];
for (const [id, why] of MALFORMED) {
  test(`uid: ${JSON.stringify(id).slice(0, 40)} is not an id: ${why}`, () =>
    assert.equal(parseReference(id), undefined));
}

test('uid: slugs of 256 and versions of 128 characters are the longest', () => {
  const longest = { type: 'mcp_server', slug: 's'.repeat(256), version: '1'.repeat(128) } as const;
  assert.deepEqual(parseReference(formatUid(longest)), longest);
});

test('uid: an error completes a sentence that starts with the name of the part', () => {
  assert.equal(slugFault('pdf'), undefined);
  assert.equal(slugFault(''), 'must not be empty');
  assert.equal(slugFault('s'.repeat(257)), 'must not be longer than 256 characters');
  assert.equal(slugFault('a b'), 'must not contain spaces or control characters');
  assert.equal(slugFault('\udc00'), 'must be well-formed Unicode');
  assert.equal(slugFault('a/..'), "must not contain '.', '..' or empty path segments");
  assert.equal(versionFault('refs/heads/main'), undefined);
  assert.equal(versionFault('1@2'), "must not contain '@', which separates slug and version");
  assert.equal(versionFault('1'.repeat(129)), 'must not be longer than 128 characters');
});

const segment = fc.oneof(fc.stringMatching(/^[\w@:.~+%-]{1,20}$/), anyText(10));
const path = fc.array(segment, { minLength: 1, maxLength: 5 }).map((segments) => segments.join('/'));
const uidParts = fc.record(
  {
    type: fc.constantFrom(...ENTITY_TYPES),
    slug: path.filter((slug) => !slugFault(slug)),
    version: path.filter((version) => !versionFault(version)),
  },
  { noNullPrototype: true },
);

test('uid: formatting and parsing returns the same parts', () => {
  fc.assert(fc.property(uidParts, (parts) => assert.deepEqual(parseReference(formatUid(parts)), parts)));
});

test('uid: parsing and formatting returns the same text', () => {
  const anyId = fc.tuple(fc.constantFrom(...ENTITY_TYPES, 'model'), anyText());
  fc.assert(
    fc.property(anyId, ([type, rest]) => {
      const reference = parseReference(`${type}:${rest}`);
      if (!reference) return;
      const { version } = reference;
      const written = version === undefined ? `${type}:${reference.slug}` : formatUid({ ...reference, version });
      assert.equal(written, `${type}:${rest}`);
    }),
  );
});
