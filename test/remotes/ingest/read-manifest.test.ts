import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { entityOfText } from '../../../src/catalog/entity.ts';
import type { FetchedText } from '../../../src/remotes/fetching/fetch-manifest.ts';
import { createManifestReader, type ManifestReader } from '../../../src/remotes/ingest/read-manifest.ts';
import { aManifest } from '../../support/builders.ts';
import { mainThreadShare } from '../../support/in-time.ts';

const NEVER = new AbortController().signal;

function manifestReader(t: TestContext): ManifestReader {
  const reader = createManifestReader();
  t.after(() => reader.close());
  return reader;
}

function fetched(text: string, url = 'https://a.example/m.json'): FetchedText {
  const member = { url, etag: '"1"', lastModified: null, digest: 'sha256:1' };
  return { outcome: 'fetched', url, text, sourceUrl: url, member };
}

async function readOne(reader: ManifestReader, text: FetchedText, signal = NEVER) {
  const [read] = await reader.read([text], signal);
  assert.ok(read);
  return read;
}

test('read manifest: short and long, JSON and YAML, become the same entity', async (t) => {
  const reader = manifestReader(t);
  const short = aManifest({ type: 'tool', id: 'a' });
  const texts = [
    fetched(JSON.stringify(short)),
    fetched(JSON.stringify(short), 'https://a.example/m.yaml'),
    fetched(`${' '.repeat(20_000)}${JSON.stringify(short)}`),
    fetched(
      Object.entries(short)
        .map(([key, value]) => `${key}: ${JSON.stringify(value)}`)
        .join('\n'),
      'https://a.example/m',
    ),
  ];
  for (const text of texts) {
    const read = await readOne(reader, text);
    assert.ok(read.outcome === 'manifest', JSON.stringify(read));
    const entity = entityOfText(read.entity);
    assert.deepEqual([entity.uid, entity.sourceUrl], ['tool:a@1.0.0', text.url]);
    assert.deepEqual(read.member, { ...text.member, uid: 'tool:a@1.0.0' });
    assert.deepEqual(JSON.parse(entity.manifestText), short);
  }
});

test('read manifest: a bad one is refused, on either thread', async (t) => {
  const reader = manifestReader(t);
  for (const text of ['{', '[]', 'a: [', `{"type":"tool","readme":"${'x'.repeat(20_000)}"}`]) {
    const read = await readOne(reader, fetched(text));
    assert.partialDeepStrictEqual(read, { outcome: 'failed', isTemporary: false });
  }
});

test('read manifest: a long parse blocks nobody', async (t) => {
  const reader = manifestReader(t);
  const yaml = `type: tool\nid: a\nversion: 1.0.0\nexamples:\n${'  - {a: 1, b: [x, y]}\n'.repeat(2_500)}`;
  const share = await mainThreadShare(async () => {
    assert.equal((await readOne(reader, fetched(yaml, 'https://a.example/m.yaml'))).outcome, 'manifest');
  });
  assert.ok(share < 0.3, `${share}`);
});

test('read manifest: rejects when stopped', async (t) => {
  const yaml = `examples:\n${'  - {a: 1, b: [x, y]}\n'.repeat(20_000)}`;
  await assert.rejects(readOne(manifestReader(t), fetched(yaml), AbortSignal.timeout(300)));
});

test('read manifest: endless parsing delays nobody, also after it is given up', {
  timeout: 60_000,
}, async (t) => {
  const reader = manifestReader(t);
  // 1.5 kB that takes minutes to parse.
  const slow = fetched(`${'? '.repeat(700)}x`, 'https://bad.example/m.yaml');
  const given = new AbortController();
  const stopped = [0, 1].map(() => assert.rejects(readOne(reader, slow, given.signal)));
  const good = [0, 1, 2].map((each) =>
    readOne(reader, fetched(`type: tool\nid: good-${each}\nversion: 1.0.0\n`, 'https://good.example/m.yaml')),
  );
  setTimeout(() => given.abort(), 300);
  await Promise.all(stopped);
  for (const read of await Promise.all(good)) assert.equal(read.outcome, 'manifest');
});

test('read manifest: every error of a text only refuses that text', async (t) => {
  const reader = manifestReader(t);
  const server = { name: 'a/a', version: '1.0.0', packages: [{ registryType: 'constructor', identifier: 'x' }] };
  const read = await readOne(reader, fetched(JSON.stringify(server)));
  assert.equal(read.outcome, 'manifest', 'a member name of objects is not a kind of package');
});

test('read manifest: many at once are answered in order, with bad ones and YAML in between', async (t) => {
  const reader = manifestReader(t);
  const texts = Array.from({ length: 60 }, (_, each) => {
    const url = `https://a.example/${each}`;
    if (each % 7 === 0) return fetched('{"type":', `${url}.json`);
    if (each % 5 === 0) return fetched(`type: tool\nid: a-${each}\nversion: 1.0.0\n`, `${url}.yaml`);
    return fetched(JSON.stringify(aManifest({ type: 'tool', id: `a-${each}` })), `${url}.json`);
  });
  const read = await reader.read(texts, NEVER);
  assert.deepEqual(
    read.map((each) => (each.outcome === 'manifest' ? each.member.uid : each.outcome)),
    texts.map((_, each) => (each % 7 === 0 ? 'failed' : `tool:a-${each}@1.0.0`)),
  );
});
