import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import type { DatabaseAddress } from '../../src/lib/net/address.ts';
import { createRemoteBook, normalizedUrl, type RemoteBook } from '../../src/remotes/remotes.ts';
import { createRemoteStore } from '../../src/store/remotes/remote-store.ts';
import { createRevision } from '../../src/store/revision.ts';
import { openHere, testOnEveryEngine } from '../support/databases/databases.ts';

const [A, B] = ['https://a.example/i.json', 'https://b.example/i.json'] as const;

async function remoteBook(t: TestContext, address: DatabaseAddress, seeds: string[] = []): Promise<RemoteBook> {
  const dialect = await openHere(address);
  t.after(() => dialect.close());
  return createRemoteBook({
    store: createRemoteStore(dialect, createRevision(dialect)),
    seeds,
    hasCredentials: () => false,
    now: () => new Date('2026-06-01T12:00:00.000Z'),
  });
}

testOnEveryEngine('remotes: are seeded when there are none, and again after all were removed', async (t, address) => {
  const book = await remoteBook(t, address, [B, A, `${A}#again`]);
  const listed = await book.list();
  assert.deepEqual([listed.items.map(({ url }) => url), listed.count], [[A, B], 2]);
  assert.equal(await book.seedIfEmpty(), false);

  await book.remove(A);
  assert.equal((await book.list()).count, 1, 'nothing is seeded while one is left');
  await book.remove(B);
  assert.equal(await book.seedIfEmpty(), true);
  assert.equal((await book.list()).count, 2);
});

testOnEveryEngine('remotes: without seeds the list is empty', async (t, address) => {
  const book = await remoteBook(t, address);
  assert.equal(await book.seedIfEmpty(), false);
  assert.deepEqual(await book.list(), { items: [], count: 0 });
});

testOnEveryEngine('remotes: adding and removing report the outcome and the right total', async (t, address) => {
  const book = await remoteBook(t, address);
  assert.deepEqual(await book.add(` ${A}#part `), { added: true, url: A, total: 1 });
  assert.deepEqual(await book.add('HTTPS://A.EXAMPLE:443/i.json'), { added: false, url: A, total: 1 });
  assert.deepEqual(await book.add(B), { added: true, url: B, total: 2 });
  assert.deepEqual(await book.remove('https://unknown.example'), {
    removed: false,
    url: 'https://unknown.example/',
    total: 2,
    purged: 0,
    missing: 0,
    passed_on: 0,
  });
  assert.deepEqual(await book.remove('https://A.example/x/../i.json'), {
    removed: true,
    url: A,
    total: 1,
    purged: 0,
    missing: 0,
    passed_on: 0,
  });
});

test('remotes: addresses are normalized', () => {
  const cases = {
    'HTTP://Example.ORG': 'http://example.org/',
    'http://example.org:80/a/../b': 'http://example.org/b',
    'https://example.org/i.json?x=1#top': 'https://example.org/i.json?x=1',
    'https://bücher.example/ä': 'https://xn--bcher-kva.example/%C3%A4',
    'http://127.1:8080/': 'http://127.0.0.1:8080/',
    '\thttps://example.org/a b\n': 'https://example.org/a%20b',
  };
  for (const [given, expected] of Object.entries(cases)) {
    assert.equal(normalizedUrl(given), expected);
    assert.equal(normalizedUrl(expected), expected);
  }
});

const REFUSED = {
  '': /http or https/,
  nonsense: /http or https/,
  'file:///etc/passwd': /http or https/,
  'ftp://a.example/i.json': /http or https/,
  'javascript:alert(1)': /http or https/,
  '//a.example/i.json': /http or https/,
  'https://user@a.example/': /user name or a password/,
  'https://:secret@a.example/': /user name or a password/,
  [`https://a.example/${'x'.repeat(1000)}`]: /longer than 1000/,
  [`https://a.example/${'中'.repeat(300)}`]: /longer than 1000/,
};
for (const [given, expected] of Object.entries(REFUSED)) {
  test(`remotes: '${given.slice(0, 40)}' is refused`, () => {
    assert.throws(
      () => normalizedUrl(given),
      (error: Error & { code?: string; faults?: { path: string }[] }) => {
        assert.equal(error.code, 'invalid_request');
        assert.match(error.message, expected);
        assert.doesNotMatch(error.message, /secret/);
        assert.deepEqual(
          error.faults?.map(({ path }) => path),
          ['url'],
        );
        return true;
      },
    );
  });
}
