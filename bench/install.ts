// Measures an install of a large archive: time, memory, latency of `/health` during the install, and the time of a repeated
// install: `npm run bench:install`. Prints a table; asserts nothing.
import { randomBytes } from 'node:crypto';
import { createReadStream, createWriteStream } from 'node:fs';
import { mkdtemp, rm, stat } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough, type Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { parseArgs } from 'node:util';
import { createGzip } from 'node:zlib';
import { pack } from 'tar-stream';
import { ZipFile } from 'yazl';
import { ask, startHub, watchHealth } from './hub-process.ts';

const { values } = parseArgs({ options: { megabytes: { type: 'string', default: '200' } } });
const LARGE = { files: Number(values.megabytes), bytes: 1_350_000 };
const ARCHIVES: Record<string, (file: string) => Promise<void>> = {
  'large.zip': (file) => zip(file, LARGE),
  'large.tar.gz': (file) => tar(file, LARGE),
  'many.zip': (file) => zip(file, { files: 20_000, bytes: 2_000 }),
};

const folder = await mkdtemp(join(tmpdir(), 'hub-bench-install-'));
const rows = [];
try {
  const host = await serve(folder);
  for (const [name, write] of Object.entries(ARCHIVES)) {
    await write(join(folder, name));
    rows.push(await measure(name, host));
  }
  host.close();
} finally {
  await rm(folder, { recursive: true, force: true });
}
console.table(rows);

async function measure(name: string, host: Server): Promise<Record<string, unknown>> {
  const hubDir = await mkdtemp(join(folder, 'hub-'));
  const hub = await startHub({ DB_PATH: join(hubDir, 'catalog.sqlite'), DATABASE_URL: '' });
  try {
    // A search loads the modules that a hub in use has loaded.
    await ask('/catalog/search?q=bench');
    const before = await hub.memory('now');
    const stopWatching = watchHealth();
    const first = await timed(() => install(name, host, join(hubDir, 'target')));
    const healthP99 = await stopWatching();
    const again = await timed(() => install(name, host, join(hubDir, 'target')));
    return {
      archive: name,
      'MB compressed': Math.round((await stat(join(folder, name))).size / 1_000_000),
      ok: first.ok && again.ok,
      seconds: first.seconds,
      'seconds, repeated': again.seconds,
      'health p99 ms': Number(healthP99.toFixed(1)),
      'MB before': before,
      'MB at peak': await hub.memory('peak'),
    };
  } finally {
    await hub.stop();
  }
}

async function timed(run: () => Promise<boolean>): Promise<{ ok: boolean; seconds: number }> {
  const startedAt = performance.now();
  const ok = await run();
  return { ok, seconds: Number(((performance.now() - startedAt) / 1000).toFixed(2)) };
}

async function install(name: string, host: Server, target: string): Promise<boolean> {
  const url = `http://127.0.0.1:${(host.address() as AddressInfo).port}/${name}`;
  const artifacts = [{ kind: 'zip', spec: { url } }];
  const manifest = { type: 'tool', id: 'bench', name: 'bench', version: '1.0.0', artifacts };
  const report = await ask<{ ok?: boolean }>('/catalog/install', { id: 'tool:bench@1.0.0', target, manifest });
  if (!report.ok) console.error(JSON.stringify(report));
  return report.ok === true;
}

/** Text that compresses by a quarter, like programs and images. */
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
