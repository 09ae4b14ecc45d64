// Measures what a policy with 200 rules costs ingests and searches: `npm run bench:policy -- --data DIR`.
// DIR contains the catalog and its queries, as for `npm run bench:search`; without it, a catalog is generated.
import { createReadStream } from 'node:fs';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { createBrotliDecompress } from 'node:zlib';
import { readConfig } from '../src/config.ts';
import { createHub, type Hub } from '../src/hub/hub.ts';
import { searchQuery } from '../src/search/search-query.ts';
import { testWorld } from '../test/support/world.ts';
import { startCatalogHost } from './hub-process.ts';

const { values } = parseArgs({
  options: {
    data: { type: 'string' },
    manifests: { type: 'string', default: '20000' },
    rounds: { type: 'string', default: '5' },
  },
});
const RULES = 200;
const SIDES = ['without', 'with'] as const;
type Side = (typeof SIDES)[number];

const folder = await mkdtemp(join(tmpdir(), 'hub-bench-'));
const host = await startCatalogHost([await someManifests(), values.manifests]);
try {
  await measureIngests(Number(values.rounds));
  await measureSearches(Number(values.rounds));
} finally {
  host.stop();
  await rm(folder, { recursive: true, force: true });
}

/** Each side has a new database per round. Also measures CPU time, because other processes may be running. */
async function measureIngests(rounds: number): Promise<void> {
  const spent: Record<Side, { cpu: number[]; wall: number[] }> = {
    without: { cpu: [], wall: [] },
    with: { cpu: [], wall: [] },
  };
  let entities = 0;
  for (let round = 0; round < rounds; round += 1) {
    for (const side of inTurn(round)) {
      await rm(databaseOf(side), { force: true });
      const { hub, close } = await openHub(side);
      const [cpuBefore, startedAt] = [process.cpuUsage(), performance.now()];
      await hub.ingest();
      const { user, system } = process.cpuUsage(cpuBefore);
      spent[side].cpu.push((user + system) / 1e6);
      spent[side].wall.push((performance.now() - startedAt) / 1000);
      entities = Object.values(await hub.countEntities()).reduce((sum, count) => sum + count, 0);
      await close();
    }
  }
  console.log(`Ingest of ${entities} entities, ${rounds} rounds, medians:`);
  console.table(
    [...SIDES, 'difference, %' as const].map((side) => {
      const of = (kind: 'cpu' | 'wall') =>
        side === 'difference, %'
          ? more(median(spent.with[kind]), median(spent.without[kind]))
          : round2(median(spent[side][kind]));
      return { policy: side, 'CPU seconds': of('cpu'), 'wall seconds': of('wall') };
    }),
  );
}

/** Sends the same queries to both hubs alternately. */
async function measureSearches(rounds: number): Promise<void> {
  const queries = await someQueries();
  const times: Record<Side, number[]> = { without: [], with: [] };
  const hubs = { without: await openHub('without'), with: await openHub('with') };
  for (const side of SIDES) await untilIndexed(hubs[side].hub);
  for (let round = -1; round < rounds; round += 1) {
    for (const [index, text] of queries.entries()) {
      for (const side of inTurn(index + round)) {
        // A different page each time, to bypass caches.
        const query = searchQuery({ text, mode: 'keyword', limit: 20, offset: round + 1 });
        const startedAt = performance.now();
        await hubs[side].hub.search(query);
        // The first round is a warm-up.
        if (round >= 0) times[side].push(performance.now() - startedAt);
      }
    }
  }
  for (const side of SIDES) await hubs[side].close();
  console.log(`${times.with.length} searches on each side:`);
  const rows = SIDES.map((side) => ({
    policy: side as string,
    'p50, ms': round2(quantile(times[side], 0.5)),
    'p95, ms': round2(quantile(times[side], 0.95)),
  }));
  const difference = [0.5, 0.95].map((part) => more(quantile(times.with, part), quantile(times.without, part)));
  console.table([...rows, { policy: 'difference, %', 'p50, ms': difference[0], 'p95, ms': difference[1] }]);
}

function databaseOf(side: Side): string {
  return join(folder, `${side}.sqlite`);
}

async function openHub(side: Side) {
  const database = { engine: 'sqlite', path: databaseOf(side) } as const;
  const world = testWorld();
  const config = { ...readConfig({ SEARCH_MODE: 'keyword' }), database };
  const hub = await createHub({ config, world, baseUrl: () => 'http://hub.test' });
  if (side === 'with') await hub.changePolicy(policyText());
  await hub.addRemote(host.index);
  const close = async () => {
    await hub.close();
    await world.close();
  };
  return { hub, close };
}

/** Rules of every kind; hardly any decides, so that each entity is compared with all of them. */
function policyText(): string {
  const kinds = [
    (number: number) => ({
      match: { publisher: [`com.vendor-${number}`, `com.vendor-${number}.*`] },
      outcome: 'block',
    }),
    (number: number) => ({ match: { name: `*evil-${number}*` }, search: 'hide' }),
    (number: number) => ({ match: { license: [`LicenseRef-${number}*`, 'none-such'] }, install: 'block' }),
    (number: number) => ({
      match: { type: 'mcp_server', artifact: 'oci', transport: 'stdio', quality_below: number / 1000 },
      register: 'require_approval',
    }),
    (number: number) => ({ match: { younger_than_days: 1, name: `team-${number}/*` }, register: 'require_approval' }),
  ];
  const rules = Array.from({ length: RULES }, (_, number) => kinds[number % kinds.length]?.(number));
  return JSON.stringify({ version: 1, rules });
}

/** Writes the first manifests of the catalog to a file for the host; returns an empty string without a catalog. */
async function someManifests(): Promise<string> {
  if (!values.data) return '';
  const packed = createReadStream(join(values.data, 'catalog.jsonl.br')).pipe(createBrotliDecompress());
  const lines: string[] = [];
  for await (const line of createInterface({ input: packed })) {
    if (lines.push(line) >= Number(values.manifests)) break;
  }
  const file = join(folder, 'catalog.jsonl');
  await writeFile(file, lines.join('\n'));
  return file;
}

async function someQueries(): Promise<string[]> {
  if (!values.data) return Array.from({ length: 100 }, (_, number) => `documents group-${number % 50} ${number}`);
  const lines = (await readFile(join(values.data, 'queries.jsonl'), 'utf8')).trim().split('\n');
  return lines.map((line) => (JSON.parse(line) as { q: string }).q);
}

async function untilIndexed(hub: Hub): Promise<void> {
  const query = searchQuery({ text: 'documents', mode: 'keyword' });
  while ((await hub.search(query)).total === 0) await sleep(50);
}

function inTurn(round: number): readonly Side[] {
  return round % 2 === 0 ? SIDES : SIDES.toReversed();
}

function median(numbers: readonly number[]): number {
  return quantile(numbers, 0.5);
}

function quantile(numbers: readonly number[], part: number): number {
  return numbers.toSorted((a, b) => a - b)[Math.floor((numbers.length - 1) * part)] ?? 0;
}

/** The difference in percent. */
function more(one: number, other: number): number {
  return round2((one / other - 1) * 100);
}

function round2(value: number): number {
  return Math.round(value * 100) / 100;
}
