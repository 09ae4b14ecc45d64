import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { readPostings, writePosting } from '../../../src/search/index/postings.ts';
import { buildSegment } from '../../../src/search/index/segment-builder.ts';
import { writeSegment } from '../../../src/search/index/segment-writer.ts';
import { createSnapshotReader, openParts, type SnapshotParts } from '../../../src/search/index/snapshot.ts';
import { sourceFromSegment } from '../../../src/search/index/source.ts';
import { ByteWriter } from '../../../src/search/index/strings.ts';
import { rank } from '../../../src/search/ranking/ranker.ts';
import { aManifest } from '../../support/builders.ts';
import { asks } from '../search-stage.ts';
import { familiesFrom } from './families.ts';

const pdf = aManifest();
const handwriting = aManifest({ version: '2.0.0', description: 'Also reads handwriting.' });
const frost = aManifest({ type: 'tool', id: 'frost', name: 'garden/frost', description: 'Warns of night frost.' });

function partsOf(id: number, ...manifests: Parameters<typeof familiesFrom>) {
  const families = familiesFrom(...manifests);
  return { id, block: buildSegment(families), dead: new SharedArrayBuffer(families.length) };
}

function found(parts: SnapshotParts, text: string): string[] {
  const snapshot = createSnapshotReader()(parts);
  const { hits } = rank(snapshot, { ...asks(text, { mode: 'keyword' }), now: new Date(), vector: undefined });
  return hits.map(({ uid }) => uid);
}

test('segment: all versions of a name are one document, described by the newest', () => {
  const { segment } = openParts(partsOf(1, pdf, handwriting));
  assert.deepEqual([segment.documentCount, segment.memberCount, segment.textCount], [1, 2, 1]);
  assert.ok(segment.terms.find('handwrit') >= 0);
  assert.deepEqual(
    [segment.uids.at(0), segment.uids.at(1)],
    ['mcp_server:pdf-tables@2.0.0', 'mcp_server:pdf-tables@1.0.0'],
  );
});

test('segment: a pre-release describes a name only when it has no release', () => {
  const stable = openParts(partsOf(1, pdf, { ...handwriting, version: '2.0.0-rc.1' })).segment;
  assert.equal(stable.uids.at(0), 'mcp_server:pdf-tables@1.0.0');
  assert.equal(stable.terms.find('handwrit'), -1);
});

test('segment: documents with the same text share it', () => {
  const { segment } = openParts(partsOf(1, pdf, aManifest({ type: 'tool' })));
  assert.deepEqual([segment.documentCount, segment.textCount], [2, 1]);
});

test('segment: an unreadable manifest leaves only the name', () => {
  const families = familiesFrom(pdf).map((family) => ({ ...family, manifest: 'not a manifest' }));
  const parts = { id: 1, block: buildSegment(families), dead: new SharedArrayBuffer(1) };
  assert.deepEqual(found([parts], 'io.example.docs/pdf-tables'), ['mcp_server:pdf-tables@1.0.0']);
});

test('segment: one, several and merged segments find the same', () => {
  const one = partsOf(1, pdf, handwriting, frost);
  const several = [partsOf(1, pdf, handwriting), partsOf(2, frost)];
  const block = writeSegment(several.map((each) => sourceFromSegment(openParts(each).segment, () => true)));
  const merged = { id: 3, block, dead: new SharedArrayBuffer(2) };
  for (const text of [
    'night frost',
    'pdf tables',
    'handwriting',
    'frots',
    'garden/frost',
    'mcp_server:pdf-tables@1.0.0',
  ]) {
    assert.deepEqual(found(several, text), found([one], text), text);
    assert.deepEqual(found([merged], text), found([one], text), text);
  }
});

test('segment: deleted documents are not found, and a merge drops them', () => {
  const parts = partsOf(1, pdf, frost);
  const before = openParts(parts).segment;
  const document = before.names.at(0) === 'garden/frost' ? 0 : 1;
  new Uint8Array(parts.dead)[document] = 1;
  assert.deepEqual(found([parts], 'frost'), []);
  const open = openParts(parts);
  const block = writeSegment([sourceFromSegment(open.segment, (each) => open.dead[each] === 0)]);
  const { segment } = openParts({ id: 2, block, dead: new SharedArrayBuffer(1) });
  assert.deepEqual([segment.documentCount, segment.terms.find('frost')], [1, -1]);
});

test('postings: are read as written', () => {
  const posting = fc.record({
    document: fc.nat({ max: 3_000_000 }),
    impact: fc.integer({ min: 1, max: 255 }),
    fields: fc.nat({ max: 255 }),
  });
  fc.assert(
    fc.property(fc.uniqueArray(posting, { selector: ({ document }) => document }), (postings) => {
      const sorted = postings.map((each) => ({ ...each })).sort((one, other) => one.document - other.document);
      const writer = new ByteWriter();
      for (const [index, each] of sorted.entries()) writePosting(writer, each, sorted[index - 1]?.document ?? -1);
      assert.deepEqual(readPostings(writer.written(), 0, writer.length), sorted);
    }),
  );
});
