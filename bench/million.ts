// Measures a hub with ten times the real catalog: `npm run bench:million -- --data FILE`. Prints a table; asserts nothing.
// FILE is a catalog as JSON lines, as for `bench:ingest`, ingested repeatedly with other names and texts. The copies get
// random vectors: embedding every text would take hours, and the time of a search does not depend on them. Searches with the
// queries beside FILE, as `bench:http` does.
import { randomFillSync } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdtemp, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { createMetrics } from '../src/lib/metrics.ts';
import { readDocument, textDigest } from '../src/search/document.ts';
import { openEmbeddedModel } from '../src/search/model/embedded-model.ts';
import { unitLength } from '../src/search/model/embedder.ts';
import { MODELS_FOLDER } from '../src/search/model/open-model.ts';
import { openDatabase } from '../src/store/database.ts';
import { createRevision } from '../src/store/revision.ts';
import { createSearchIndex } from '../src/store/search/search-index.ts';
import { ask, HUB, type HubProcess, startCatalogHost, startHub, watchHealth } from './hub-process.ts';
import { type Judgment, loadQueries } from './search-data.ts';

const { values } = parseArgs({
  options: {
    data: { type: 'string', default: '' },
    /** A SQLite file, reused if it exists, and kept. */
    database: { type: 'string' },
    copies: { type: 'string', default: '9' },
    manifests: { type: 'string', default: '20000' },
    searches: { type: 'string', default: '500' },
  },
});
const folder = await mkdtemp(join(tmpdir(), 'hub-bench-million-'));
const path = values.database ?? join(folder, 'catalog.sqlite');
const isFilled = existsSync(path);
const host = await startCatalogHost([values.data, values.manifests]);
const rows: Record<string, string | number | undefined>[] = [];
try {
  if (!isFilled) {
    await ingestAll();
    await writeRandomVectors();
    await start('start without an index file');
  }
  await start('start with one');
} finally {
  host.stop();
  await rm(folder, { recursive: true, force: true });
}
console.table(rows);

async function withHub(work: (hub: HubProcess) => Promise<void>): Promise<void> {
  const hub = await startHub({ DB_PATH: path, SEARCH_MEMORY_MAX_ENTITIES: '10000000' });
  try {
    await work(hub);
  } finally {
    await hub.stop();
  }
}

async function ingestAll(): Promise<void> {
  await withHub(async (hub) => {
    const watch = watchHealth();
    const startedAt = performance.now();
    let seen = 0;
    for (let copy = 0; copy <= Number(values.copies); copy += 1) {
      const url = copy === 0 ? host.index : host.index.replace('/index.json', `/copy-${copy}/index.json`);
      await ask('/remotes', { url });
      const { results } = await ask<{ results: { stats: { manifests_seen: number } }[] }>('/ingest', { url });
      seen += results[0]?.stats.manifests_seen ?? 0;
      console.log(`${seen} manifests after ${Math.round((performance.now() - startedAt) / 1000)} s`);
    }
    const seconds = (performance.now() - startedAt) / 1000;
    add('ingest', {
      seconds,
      'per second': seen / seconds,
      'health p99, ms': await watch(),
      'memory, MB': await hub.memory('peak'),
    });
  });
}

async function writeRandomVectors(): Promise<void> {
  const log = { debug() {}, info() {}, warn: console.error, error: console.error };
  const embedder = await openEmbeddedModel({ folder: MODELS_FOLDER }, log);
  const [sample = new Float32Array()] = await embedder.embed(['sample']);
  await embedder.close();
  const database = await openDatabase({ engine: 'sqlite', path }, { metrics: createMetrics() });
  const index = createSearchIndex(database, createRevision(database));
  let made = 0;
  for (let after: Parameters<typeof index.families>[0]; ; ) {
    const page = await index.families(after, 2_000);
    if (page.length === 0) break;
    const manifests = await index.manifests(page.map(({ uid }) => uid));
    const names = new Map(page.map(({ uid, name }) => [uid, name]));
    const digests = new Set(
      manifests.map(({ uid, manifest }) => textDigest(readDocument(names.get(uid) ?? '', manifest).meaning)),
    );
    const vectors = [...digests].map((digest) => ({ digest, vector: direction(sample.length) }));
    for (let start = 0; start < vectors.length; start += 64)
      await index.saveVectors(embedder.model, vectors.slice(start, start + 64));
    made += vectors.length;
    after = page.at(-1);
  }
  await database.close();
  console.log(`${made} random vectors were stored`);
}

function direction(size: number): Float32Array {
  const bytes = randomFillSync(new Uint8Array(size));
  return unitLength(Float32Array.from(bytes, (byte) => byte - 127.5));
}

async function start(what: string): Promise<void> {
  const startedAt = performance.now();
  await withHub(async (hub) => {
    const isWhole = async () => (await search('read tables from pdf files')).degraded === undefined;
    while (!(await isWhole())) await sleep(100);
    const seconds = (performance.now() - startedAt) / 1000;
    const { texts, entities } = await sizes();
    add(what, { seconds, entities, texts, 'memory, MB': await hub.memory('now') });
    await measureSearches(hub);
  });
  const { size } = await stat(`${path}.search-index`);
  add('index file', { 'memory, MB': size / 1e6 });
}

async function measureSearches(hub: HubProcess): Promise<void> {
  const folderOfData = dirname(values.data);
  const queries = await loadQueries(
    existsSync(join(folderOfData, 'queries.jsonl')) ? folderOfData : 'bench/search-data',
  );
  const times: number[] = [];
  for (let number = 0; number < Number(values.searches); number += 1) {
    const { text } = queries[number % queries.length] as Judgment;
    const startedAt = performance.now();
    await search(`${text} ${number}`);
    times.push(performance.now() - startedAt);
  }
  times.sort((a, b) => a - b);
  const at = (share: number) => times[Math.floor(times.length * share)] ?? 0;
  add('hybrid search over HTTP', { 'p50, ms': at(0.5), 'p99, ms': at(0.99), 'memory, MB': await hub.memory('now') });
}

function search(text: string): Promise<{ degraded?: string }> {
  return ask(`/catalog/search?q=${encodeURIComponent(text)}&mode=hybrid&limit=10`);
}

async function sizes(): Promise<{ entities: number; texts: number }> {
  const text = await (await fetch(`${HUB}/metrics`)).text();
  const count = (what: string) =>
    Number(new RegExp(`^hub_search_index\\{[^}]*"${what}"\\} (\\d+)`, 'm').exec(text)?.[1]);
  return { entities: count('entities'), texts: count('texts') };
}

function add(what: string, measured: Record<string, number | undefined>): void {
  const rounded = Object.entries(measured).map(([name, value]) => [name, value && Math.round(value * 10) / 10]);
  rows.push({ what, ...Object.fromEntries(rounded) });
  console.log(rows.at(-1));
}
