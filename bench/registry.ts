// Measures the registry with a full catalog: the time to build its entries, a page of 100, and a walk through all pages.
// `npm run bench:registry -- --data DIR`, with DIR as for `bench:search`. Prints a table; asserts nothing.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { readConfig } from '../src/config.ts';
import { createHub } from '../src/hub/hub.ts';
import type { ServerList } from '../src/registry/contract.ts';
import { testWorld } from '../test/support/world.ts';
import { HUB, startHub } from './hub-process.ts';
import { loadJudgments, type SearchData } from './search-data.ts';

const { values } = parseArgs({ options: { data: { type: 'string', default: 'bench/search-data' } } });
const [catalog] = await loadJudgments(values.data);
const folder = await mkdtemp(join(tmpdir(), 'hub-bench-registry-'));
const path = join(folder, 'catalog.sqlite');
const settings = { DB_PATH: path, RATE_LIMIT_PER_MINUTE: '0', SEARCH_MODE: 'keyword' };
try {
  const { manifests } = catalog as SearchData;
  await load(manifests);
  // A separate process, so that parsing the responses here does not count.
  const hub = await startHub(settings);
  await measure(manifests.length).finally(() => hub.stop());
} finally {
  await rm(folder, { recursive: true, force: true });
}

async function load(manifests: SearchData['manifests']): Promise<void> {
  const world = testWorld();
  const hub = await createHub({ config: readConfig(settings), world, baseUrl: () => HUB });
  const documents = manifests.map((document) => ({ document }));
  for (let start = 0; start < documents.length; start += 1_000) await hub.load(documents.slice(start, start + 1_000));
  await hub.close();
  await world.close();
}

async function measure(entities: number): Promise<void> {
  const builtAt = performance.now();
  await whenBuilt();
  const buildMs = performance.now() - builtAt;
  const pages: number[] = [];
  let entries = 0;
  const walkedAt = performance.now();
  for (let cursor: string | undefined, isFirst = true; isFirst || cursor; isFirst = false) {
    const askedAt = performance.now();
    const answer = await fetch(`${HUB}/v0.1/servers?limit=100${cursor ? `&cursor=${cursor}` : ''}`, {
      headers: { 'accept-encoding': 'identity' },
    });
    const text = await answer.text();
    pages.push(performance.now() - askedAt);
    const { servers, metadata } = JSON.parse(text) as ServerList;
    entries += servers.length;
    cursor = metadata.nextCursor;
  }
  const walkMs = performance.now() - walkedAt;
  const sorted = pages.toSorted((one, other) => one - other);
  const at = (share: number) => Math.round((sorted[Math.floor(sorted.length * share)] ?? 0) * 10) / 10;
  console.table({
    entities,
    entries,
    'built in s': Math.round(buildMs / 100) / 10,
    'page of 100, p50 ms': at(0.5),
    'page of 100, p95 ms': at(0.95),
    'whole list in s': Math.round(walkMs / 100) / 10,
  });
}

async function whenBuilt(): Promise<void> {
  const database = new DatabaseSync(path, { readOnly: true });
  const isBehind = database.prepare(
    'select count(*) as n from catalog_state, registry_state where registry_state.revision is not catalog_state.revision',
  );
  while (isBehind.get()?.n !== 0) await sleep(100);
  database.close();
}
