import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createLiveDirectory } from '../../src/search/live-directory.ts';
import type { DirectoryEntry, SearchStore } from '../../src/search/store.ts';
import { NO_FILTERS } from '../support/search.ts';

type Source = Pick<SearchStore, 'revision' | 'entries' | 'changes'>;

const LIST = { filters: NO_FILTERS, versions: 'all', limit: 10, offset: 0 } as const;

function anEntry(slug: string): DirectoryEntry {
  return {
    uid: `tool:${slug}@1`,
    type: 'tool',
    name: slug,
    versionKey: '1',
    isPrerelease: false,
    status: 'active',
    createdAt: '2026-01-01T00:00:00.000Z',
    isRegistered: false,
    facets: '{}',
  };
}

test('live directory: many who ask at once wait for one reading, and nobody reads what did not change', async () => {
  let reads = 0;
  const source: Source = {
    revision: async () => 1,
    entries: async () => {
      reads += 1;
      return [anEntry('a')];
    },
    changes: async () => assert.fail('nothing changed'),
  };
  const live = createLiveDirectory(source);
  await Promise.all([live.current(), live.current(), live.current()]);
  await live.current();
  assert.equal(reads, 1);
});

test('live directory: what changes while the catalog is read is read afterwards', async () => {
  let revision = 1;
  const source: Source = {
    revision: async () => revision,
    entries: async () => {
      revision = 2;
      return [anEntry('old')];
    },
    changes: async () => ({ revision: 2, present: [anEntry('new')], gone: ['tool:old@1'] }),
  };
  const live = createLiveDirectory(source);
  await live.current();
  assert.deepEqual((await live.current()).list(LIST).uids, ['tool:new@1']);
});

test('live directory: a database that fails is asked again', async () => {
  let isDown = true;
  const source: Source = {
    revision: async () => 1,
    entries: async () => (isDown ? Promise.reject(new Error('down')) : [anEntry('a')]),
    changes: async () => undefined,
  };
  const live = createLiveDirectory(source);
  await assert.rejects(live.current(), /down/);
  isDown = false;
  assert.equal((await live.current()).list(LIST).total, 1);
});
