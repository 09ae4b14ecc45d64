// Measures the quality and speed of search: `npm run bench:search -- --data DIR`. Prints tables; asserts nothing.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { parseArgs } from 'node:util';
import { createCatalog } from '../src/catalog/catalog.ts';
import { createMetrics } from '../src/lib/metrics.ts';
import type { DatabaseAddress } from '../src/lib/net/address.ts';
import { SEARCH_MODES, type SearchMode } from '../src/search/contract.ts';
import { createSearchEngine } from '../src/search/engine/create-engine.ts';
import type { SearchEngine } from '../src/search/engine/engine.ts';
import { openEmbeddedModel } from '../src/search/model/embedded-model.ts';
import { MODELS_FOLDER } from '../src/search/model/open-model.ts';
import { createPostgresEngine } from '../src/search/postgres/engine.ts';
import { createCatalogStore } from '../src/store/catalog/catalog-store.ts';
import { openDatabase } from '../src/store/database.ts';
import { createRevision } from '../src/store/revision.ts';
import { openPostgresSearch } from '../src/store/search/postgres-search.ts';
import { createSearchIndex } from '../src/store/search/search-index.ts';
import { pgvectorFiles } from '../test/support/databases/pgvector.ts';
import { startPostgres } from '../test/support/databases/postgres-server.ts';
import { type Judgment, loadJudgments, type SearchData } from './search-data.ts';
import { misspelled, summarize } from './search-measures.ts';

const { values } = parseArgs({
  options: {
    /** A folder with `catalog.jsonl.br` and `queries.jsonl`, and optionally `ir/`. */
    data: { type: 'string', default: 'bench/search-data' },
    engine: { type: 'string', default: 'sqlite' },
    /** With `postgres`, the database searches. Needs `npm run install:pgvector`, unless `url` is given. */
    backend: { type: 'string', default: 'memory' },
    /** URL of an empty PostgreSQL database, or of one that an earlier run filled, which is reused. */
    url: { type: 'string' },
    /** Kept, so that the next run need not embed again. */
    database: { type: 'string' },
    sets: { type: 'string', default: 'all' },
    seconds: { type: 'string', default: '10' },
  },
});

const data = await loadJudgments(values.data);
const folder = await mkdtemp(join(tmpdir(), 'hub-bench-search-'));
const isPostgres = values.engine === 'postgres' || values.backend === 'postgres';
const postgres = isPostgres && !values.url ? await startPostgres({ pgvector: await pgvectorFiles() }) : undefined;
try {
  for (const set of data) {
    if (values.sets !== 'all' && !values.sets.split(',').includes(set.name)) continue;
    await measure(set);
  }
} finally {
  await postgres?.stop();
  await rm(folder, { recursive: true, force: true });
}

async function measure(set: SearchData): Promise<void> {
  const url = values.url ?? postgres?.url;
  const address: DatabaseAddress = url
    ? { engine: 'postgres', url, poolSize: 10 }
    : { engine: 'sqlite', path: values.database ? `${values.database}-${set.name}` : join(folder, set.name) };
  const database = await openDatabase(address, { metrics: createMetrics() });
  const revision = createRevision(database);
  const catalog = createCatalog({
    verifyingRemotes: [],
    store: createCatalogStore(database, revision),
    now: () => new Date(),
    baseUrl: () => '',
  });
  console.log(`\n## ${set.name}: ${set.manifests.length} manifests, ${set.judgments.length} queries`);
  const isFilled = (await revision.current()) > 0;
  await timed('load', async () => {
    if (isFilled) return;
    const sources = set.manifests.map((document) => ({ document }));
    for (let start = 0; start < sources.length; start += 500) await catalog.saveMany(sources.slice(start, start + 500));
  });
  const log = { debug() {}, info() {}, warn: console.error, error: console.error };
  const shared = {
    tryLock: database.tryLock,
    openEmbedder: () => openEmbeddedModel({ folder: MODELS_FOLDER }, log),
    modelFolder: MODELS_FOLDER,
    indexPath: values.database && `${values.database}-${set.name}.search-index`,
    now: () => new Date(),
    log,
  };
  const inDatabase =
    values.backend === 'postgres' && address.engine === 'postgres'
      ? await openPostgresSearch(database, address, { revision, metrics: createMetrics() })
      : undefined;
  const engine = inDatabase
    ? createPostgresEngine({ ...inDatabase, ...shared })
    : createSearchEngine({ index: createSearchIndex(database, revision), ...shared });
  try {
    await timed('index', () => engine.rank(requestFor('anything', 'keyword')));
    await timed('index and embed', () => engine.catchUp(AbortSignal.timeout(3_600_000)));
    console.log(engine.sizes(), `rss ${Math.round(process.memoryUsage.rss() / 1e6)} MB`);
    await quality(engine, set);
    if (set.hasNames) await names(engine, set);
    await latency(engine, set.judgments);
  } finally {
    await engine.close();
    await inDatabase?.close();
    await database.close();
  }
}

type Engine = Pick<SearchEngine, 'rank'>;

function requestFor(text: string, mode: SearchMode) {
  const filters = {
    capabilities: [],
    frameworks: [],
    providers: [],
    transports: [],
    includeInactive: false,
    includePending: true,
    prerelease: false,
  };
  return {
    text,
    mode,
    filters,
    versions: 'latest' as const,
    sort: 'relevance' as const,
    explain: false,
    limit: 50,
    withFacets: false,
  };
}

async function rankedIds(engine: Engine, set: SearchData, text: string, mode: SearchMode): Promise<string[]> {
  const { hits } = await engine.rank(requestFor(text, mode));
  return [...new Set(hits.map(({ uid }) => set.idOf(uid)))];
}

async function quality(engine: Engine, set: SearchData): Promise<void> {
  const rows = [];
  for (const mode of SEARCH_MODES) {
    const ranks: number[][] = [];
    for (const { text, relevant } of set.judgments) {
      const ids = await rankedIds(engine, set, text, mode);
      ranks.push([...relevant].map((id) => ids.indexOf(id) + 1 || Number.POSITIVE_INFINITY));
    }
    rows.push({ mode, ...summarize(ranks) });
  }
  console.table(rows);
}

/** Searches by name: exact, with other separators, and with one typing error; and by uid. */
async function names(engine: Engine, set: SearchData): Promise<void> {
  const step = Math.max(1, Math.floor(set.manifests.length / 300));
  const sample = set.manifests
    .map((manifest) => manifest as NamedManifest)
    // Search does not return disabled entities.
    .filter(({ lifecycle }, index) => index % step === 0 && lifecycle?.status !== 'disabled');
  const ways: Record<string, (manifest: NamedManifest) => string> = {
    name: ({ name }) => name,
    'other separators': ({ name }) => name.replace(/[^\p{L}\p{N}]+/gu, '-').toLowerCase(),
    'with spaces': ({ name }) => name.replace(/[^\p{L}\p{N}]+/gu, ' '),
    'one typing error': ({ name }) => misspelled(name),
    'last part with one error': ({ name }) => misspelled(name.split('/').at(-1) ?? name),
  };
  const rows = [];
  for (const [way, write] of Object.entries(ways)) {
    const ranks: number[][] = [];
    for (const manifest of sample.filter(({ name }) => (name.split('/').at(-1) ?? name).length >= 6)) {
      const ids = await rankedIds(engine, set, write(manifest), 'hybrid');
      ranks.push([ids.indexOf(manifest.name) + 1 || Number.POSITIVE_INFINITY]);
    }
    rows.push({ way, ...summarize(ranks) });
  }
  const uids: number[][] = [];
  for (const { type, id, version } of sample) {
    const uid = `${type}:${id}@${version}`;
    const { hits } = await engine.rank(requestFor(uid, 'hybrid'));
    uids.push([hits[0]?.uid === uid ? 1 : Number.POSITIVE_INFINITY]);
  }
  rows.push({ way: 'uid', ...summarize(uids) });
  console.table(rows);
}

interface NamedManifest {
  type: string;
  id: string;
  version: string;
  name: string;
  lifecycle?: { status: string };
}

async function latency(engine: Engine, judgments: readonly Judgment[]): Promise<void> {
  const rows = [];
  for (const mode of SEARCH_MODES) {
    for (const concurrency of [1, 8]) {
      const times: number[] = [];
      const delay = monitorEventLoopDelay({ resolution: 1 });
      delay.enable();
      const startedAt = performance.now();
      const endsAt = startedAt + (Number(values.seconds) * 1000) / 2;
      let next = 0;
      const ask = async () => {
        while (performance.now() < endsAt) {
          const { text } = judgments[next % judgments.length] as Judgment;
          // Makes each text unique.
          const query = `${text} ${next}`;
          next += 1;
          const askedAt = performance.now();
          await engine.rank(requestFor(query, mode));
          times.push(performance.now() - askedAt);
        }
      };
      await Promise.all(Array.from({ length: concurrency }, ask));
      delay.disable();
      times.sort((a, b) => a - b);
      const at = (share: number) => Number((times[Math.floor(times.length * share)] ?? 0).toFixed(1));
      rows.push({
        mode,
        concurrency,
        'p50 ms': at(0.5),
        'p99 ms': at(0.99),
        'per second': Math.round((times.length / (performance.now() - startedAt)) * 1000),
        'loop p99 ms': Number((delay.percentile(99) / 1e6).toFixed(1)),
      });
    }
  }
  console.table(rows);
}

async function timed<T>(what: string, run: () => Promise<T>): Promise<T> {
  const startedAt = performance.now();
  const result = await run();
  console.log(`${what}: ${((performance.now() - startedAt) / 1000).toFixed(1)} s`);
  return result;
}
