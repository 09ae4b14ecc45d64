import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { IngestResult, SyncReport } from '../../src/remotes/contract.ts';
import { HubFailure } from '../../web/src/api/failure.ts';
import { countWords, ingestWords, syncWords } from '../../web/src/operations/ingest-words.ts';
import { fieldRefusal } from '../../web/src/operations/remotes/field-refusal.ts';
import { removedSentence } from '../../web/src/operations/remotes/remote-words.ts';

const NO_COUNTS = {
  created: 0,
  updated: 0,
  unchanged: 0,
  unchecked: 0,
  duplicates: 0,
  conflicts: 0,
  failed: 0,
  missing: 0,
};
const NO_STATS = {
  ...NO_COUNTS,
  manifests_seen: 0,
  entities_upserted: 0,
  elapsed_secs: 0,
  errors: [],
  changed: [],
  shrunk: false,
};

const read = (url: string, stats: Partial<IngestResult['stats']> = {}): IngestResult => ({
  url,
  ok: true,
  stats: { ...NO_STATS, ...stats },
});

const reportOf = (results: IngestResult[], fields: Partial<SyncReport> = {}): SyncReport => ({
  seeded: false,
  ingested: results.filter(({ ok }) => ok).map(({ url }) => url),
  errors: {},
  synced: true,
  count: results.length,
  results,
  registered: 0,
  failed: 0,
  ...fields,
});

const nameOf = (url: string) => (url === 'https://a.example/' ? 'team' : url);

test('sync: adds up the counts of all remotes, and prefixes notes with their remote', () => {
  const shrunken = 'The index lists 1 of the 4 manifests that it had.';
  const words = syncWords(
    reportOf(
      [
        read('https://a.example/', { created: 2, unchanged: 3, note: shrunken }),
        read('https://b.example/', { updated: 1, missing: 1, changed: ['tool:x@1'] }),
      ],
      { registered: 1, failed: 2, note: 'Registration stopped: the gateway does not answer.' },
    ),
    nameOf,
  );
  assert.deepEqual(words, {
    tone: 'warn',
    sentence:
      '2 of 2 remotes read: 2 new, 1 changed, 3 unchanged, 1 missing. 1 server registered, 2 could not be registered.',
    notes: [{ remote: 'team', text: shrunken }, { text: 'Registration stopped: the gateway does not answer.' }],
    changed: ['tool:x@1'],
  });
});

test('sync: names the remotes that could not be read, with the reason', () => {
  const failed = { ...read('https://a.example/'), ok: false, error: 'It answered 404.' };
  const { sentence, notes } = syncWords(reportOf([failed, read('https://b.example/')]), nameOf);
  assert.match(sentence, /^1 of 2 remotes read/);
  assert.deepEqual(notes, [{ remote: 'team', text: 'It answered 404.' }]);
});

const TONES: [name: string, report: SyncReport, tone: 'good' | 'warn'][] = [
  ['nothing changed', reportOf([read('https://a.example/', { unchanged: 3 })]), 'good'],
  ['not checked', reportOf([read('https://a.example/', { unchecked: 3, note: 'Not checked.' })]), 'good'],
  ['a conflict', reportOf([read('https://a.example/', { conflicts: 1 })]), 'warn'],
  ['a note', reportOf([read('https://a.example/', { note: 'Shrunken.' })]), 'warn'],
  ['a failed remote', reportOf([{ ...read('https://a.example/'), ok: false, error: 'answered 404' }]), 'warn'],
  ['servers that can never be registered', reportOf([], { failed: 2, unregistrable: 2 }), 'good'],
  ['a failed registration', reportOf([], { failed: 3, unregistrable: 2 }), 'warn'],
  ['registration stopped', reportOf([], { stopped: true, note: 'Registration stopped: no answer.' }), 'warn'],
];

for (const [name, report, tone] of TONES)
  test(`sync: the tone of ${name} is ${tone}`, () => assert.equal(syncWords(report, nameOf).tone, tone));

test('sync: without an enabled remote has nothing to read', () => {
  assert.equal(syncWords(reportOf([]), nameOf).sentence, 'Nothing to read: no remote has been added.');
  const disabled = reportOf([], { count: 2 });
  assert.equal(syncWords(disabled, nameOf).sentence, 'Nothing to read: every remote is disabled.');
});

test('ingest: unchecked manifests are not reported as unchanged', () => {
  assert.equal(countWords({ ...NO_COUNTS, unchecked: 12 }), '0 new, 0 changed, 12 not checked');
  const all = { ...NO_COUNTS, unchanged: 1, failed: 2, missing: 3, duplicates: 2, conflicts: 1 };
  assert.equal(countWords(all), '0 new, 0 changed, 1 unchanged, 2 refused, 3 missing, 2 duplicates, 1 conflict');
});

test('ingest: an unreadable index is reported with the reason', () => {
  const { sentence } = ingestWords({ ...read('https://a.example/'), ok: false, error: 'answered 404' }, nameOf);
  assert.equal(sentence, 'team could not be read: answered 404');
});

test('remotes: a removal reports how many entries were removed or are no longer listed', () => {
  const removal = { removed: true, url: 'https://a.example/', purged: 0, missing: 0, passed_on: 0 };
  assert.equal(removedSentence(removal), 'https://a.example/ removed.');
  assert.equal(removedSentence({ ...removal, purged: 1 }), 'https://a.example/ removed. 1 entry removed.');
  assert.equal(
    removedSentence({ ...removal, missing: 1 }),
    'https://a.example/ removed. 1 entry is no longer listed by any remote.',
  );
});

test('remotes: a refusal is shown at the wrong field', () => {
  const refused = (path: string) =>
    new HubFailure('refused', 'The request is not valid.', { faults: [{ path, message: 'must not be empty' }] });
  const url = 'https://a.example/';
  assert.deepEqual(fieldRefusal(url, refused('name')), { field: 'name', sentence: 'The name must not be empty.' });
  assert.deepEqual(fieldRefusal(url, refused('url')), { field: 'url', sentence: 'The address must not be empty.' });
  assert.equal(fieldRefusal(url, new HubFailure('busy', 'Another remote has this name.')), undefined);
});
