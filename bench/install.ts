// What an install of a large archive costs a hub: memory, time, and how long `/health` takes meanwhile: `npm run bench:install`.
// Prints a table; nothing is asserted.
import { type ChildProcess, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { createReadStream, createWriteStream } from 'node:fs';
import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough, type Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { createGzip } from 'node:zlib';
import { pack } from 'tar-stream';
import { ZipFile } from 'yazl';

const { values } = parseArgs({ options: { megabytes: { type: 'string', default: '200' } } });
const MEGABYTES = Number(values.megabytes);
const PORT = 18_445;
const BASE = `http://127.0.0.1:${PORT}`;
/** What a hub has done before: nothing; a search, so that the model is loaded; and searches that go on all the while. */
const STATES = ['started', 'searched', 'searching'] as const;
type State = (typeof STATES)[number];

const folder = await mkdtemp(join(tmpdir(), 'hub-bench-install-'));
const rows = [];
try {
  await zip(join(folder, 'small.zip'), { files: 3, bytes: 1_000 });
  await zip(join(folder, 'large.zip'), { files: MEGABYTES, bytes: 1_350_000 });
  await tar(join(folder, 'large.tar.gz'), { files: MEGABYTES, bytes: 1_350_000 });
  await zip(join(folder, 'many.zip'), { files: 20_000, bytes: 2_000 });
  const host = await serve(folder);
  for (const state of STATES)
    for (const name of ['large.zip', 'large.tar.gz', 'many.zip']) rows.push(await measure(name, host, state));
  host.close();
} finally {
  await rm(folder, { recursive: true, force: true });
}
console.table(rows);

async function measure(name: string, host: Server, state: State): Promise<Record<string, number | string>> {
  const place = await mkdtemp(join(folder, 'hub-'));
  const target = join(place, 'target');
  const asNpmStart = ['--import', './scripts/compile-cache.mjs', '--max-semi-space-size=4', 'src/bin/hub.ts', 'serve'];
  const hub = spawn(process.execPath, asNpmStart, {
    env: { ...process.env, DB_PATH: join(place, 'catalog.sqlite'), PORT: String(PORT), DATABASE_URL: '' },
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  try {
    await firstAnswer();
    if (state !== 'started') {
      await install('small.zip', host, `${target}-first`);
      await search();
    }
    await sleep(5_000);
    await forgetPeak(hub);
    const quiet = await peakMegabytes(hub);
    const quietModel = await modelMegabytes(hub);
    const watch = watchHealth();
    const searching = state === 'searching' ? keepSearching() : undefined;
    const startedAt = performance.now();
    const installing = install(name, host, target);
    // By then a model that nobody needs is gone.
    await sleep(500);
    const model = watchModel(hub);
    const report = await installing;
    const seconds = (performance.now() - startedAt) / 1000;
    const health = await watch.stop();
    await searching?.stop();
    return {
      archive: name,
      hub: state,
      'MB packed': megabytes((await stat(join(folder, name))).size),
      ok: String(report.ok ?? report.detail),
      seconds: Number(seconds.toFixed(1)),
      'health answers': health.length,
      'health p50 ms': percentile(health, 0.5),
      'health p99 ms': percentile(health, 0.99),
      'health max ms': percentile(health, 1),
      'MB before': quiet,
      'MB at most': await peakMegabytes(hub),
      'model MB before': quietModel,
      'model MB at most': await model.stop(),
    };
  } finally {
    await stop(hub);
  }
}

async function install(name: string, host: Server, target: string): Promise<{ ok?: boolean; detail?: string }> {
  const url = `http://127.0.0.1:${(host.address() as AddressInfo).port}/${name}`;
  const artifacts = [{ kind: 'zip', spec: { url } }];
  const manifest = { type: 'tool', id: 'bench', name: 'bench', version: '1.0.0', artifacts };
  const reply = await fetch(`${BASE}/catalog/install`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ id: 'tool:bench@1.0.0', target, manifest }),
  });
  return (await reply.json()) as { ok?: boolean; detail?: string };
}

async function search(): Promise<void> {
  await (await fetch(`${BASE}/catalog/search?q=${encodeURIComponent(`bench ${Math.random()}`)}`)).arrayBuffer();
}

/** Four a second, each another. */
function keepSearching(): { stop(): Promise<void> } {
  return repeat(250, search);
}

/** The most that the process of the model takes, looked at ten times a second. */
function watchModel(hub: ChildProcess): { stop(): Promise<number> } {
  let most = 0;
  const watching = repeat(100, async () => {
    most = Math.max(most, await modelMegabytes(hub));
  });
  return {
    async stop() {
      await watching.stop();
      return most;
    },
  };
}

/** What the process of the model adds to the hub's own: all but the pages of Node itself, which both have. Linux only. */
async function modelMegabytes({ pid }: ChildProcess): Promise<number> {
  const children = await readFile(`/proc/${pid}/task/${pid}/children`, 'utf8').catch(() => '');
  let kilobytes = 0;
  for (const child of children.split(' ').filter((text) => text !== '')) {
    const text = await readFile(`/proc/${child}/smaps`, 'utf8').catch(() => '');
    for (const part of text.split(/^(?=[0-9a-f]+-[0-9a-f]+ )/m))
      if (!isProgramOfBoth(part)) kilobytes += Number(/^Rss:\s+(\d+) kB/m.exec(part)?.[1] ?? 0);
  }
  return Math.round(kilobytes / 1024);
}

/** The hub's own memory has it already. */
function isProgramOfBoth(mapping: string): boolean {
  return mapping.split('\n', 1)[0]?.endsWith(process.execPath) === true;
}

function repeat(pauseMs: number, step: () => Promise<void>): { stop(): Promise<void> } {
  let isOver = false;
  const going = (async () => {
    while (!isOver) {
      await step();
      await sleep(pauseMs);
    }
  })();
  return {
    async stop() {
      isOver = true;
      await going;
    },
  };
}

/** One question after the other, a hundred a second at most. */
function watchHealth(): { stop(): Promise<number[]> } {
  const times: number[] = [];
  const asking = repeat(10, async () => {
    const startedAt = performance.now();
    await (await fetch(`${BASE}/health`)).arrayBuffer();
    times.push(performance.now() - startedAt);
  });
  return {
    async stop() {
      await asking.stop();
      return times.sort((a, b) => a - b);
    },
  };
}

function percentile(sorted: readonly number[], share: number): number {
  const index = Math.min(sorted.length - 1, Math.floor(sorted.length * share));
  return Number((sorted[index] ?? Number.NaN).toFixed(1));
}

/** The most that the process has ever held; Linux only. */
async function peakMegabytes({ pid }: ChildProcess): Promise<number> {
  const text = await readFile(`/proc/${pid}/status`, 'utf8').catch(() => '');
  return Math.round(Number(/VmHWM:\s+(\d+) kB/.exec(text)?.[1] ?? Number.NaN) / 1024);
}

/** From here on only what comes counts; Linux only. */
async function forgetPeak({ pid }: ChildProcess): Promise<void> {
  await writeFile(`/proc/${pid}/clear_refs`, '5').catch(() => {});
}

/** Text that packs by a quarter, as programs and pictures do. */
function content(bytes: number): Buffer {
  return Buffer.from(
    randomBytes(Math.ceil((bytes * 3) / 4))
      .toString('base64')
      .slice(0, bytes),
  );
}

async function zip(file: string, { files, bytes }: { files: number; bytes: number }): Promise<void> {
  const archive = new ZipFile();
  for (let index = 0; index < files; index += 1)
    archive.addReadStreamLazy(`folder-${index % 100}/file-${index}`, (done) => {
      const stream = new PassThrough();
      stream.end(content(bytes));
      done(null, stream);
    });
  archive.end();
  await pipeline(archive.outputStream as Readable, createWriteStream(file));
}

async function tar(file: string, { files, bytes }: { files: number; bytes: number }): Promise<void> {
  const archive = pack();
  const writing = pipeline(archive as unknown as Readable, createGzip({ level: 1 }), createWriteStream(file));
  for (let index = 0; index < files; index += 1)
    await new Promise((resolve) => archive.entry({ name: `file-${index}` }, content(bytes), resolve));
  archive.finalize();
  await writing;
}

async function serve(from: string): Promise<Server> {
  const server = createServer((request, response) => {
    createReadStream(join(from, (request.url ?? '').slice(1))).pipe(response);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return server;
}

async function firstAnswer(): Promise<void> {
  for (let tries = 0; tries < 300; tries += 1) {
    const reply = await fetch(`${BASE}/health`).catch(() => undefined);
    if (reply?.ok) return;
    await sleep(100);
  }
  throw new Error('the hub did not start');
}

async function stop(hub: ChildProcess): Promise<void> {
  const ended = new Promise((resolve) => hub.once('exit', resolve));
  hub.kill();
  await ended;
}

function megabytes(bytes: number): number {
  return Math.round(bytes / 1_000_000);
}
