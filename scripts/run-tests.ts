// Runs test files, several in one process, so that not every file loads the hub again; with `--alone`, one after the other.
// `node scripts/run-tests.ts 'test/**/*.test.ts'`; for a single file, `node --test` is enough.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { globSync } from 'node:fs';
import { chmod, mkdtemp, rm, statfs, writeFile } from 'node:fs/promises';
import { availableParallelism, tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';

/** Enough that the last ones end together; few enough that each process runs warm. */
const MOST_GROUPS = 24;

/** More than the cores, because many tests wait; each process may need a gigabyte. On a busy machine, more get a larger share. */
const AT_ONCE = Number(process.env.TEST_PROCESSES) || Math.min(8, availableParallelism() + 1);

const OPTIONS = [
  // Less garbage is copied; the tests of a process create many hubs.
  '--max-semi-space-size=32',
  '--import=./scripts/compile-cache.mjs',
  '--test',
  '--test-reporter=spec',
  '--test-reporter-destination=stdout',
  '--test-reporter=./scripts/skipped-tests.mjs',
  '--test-reporter-destination=stdout',
  '--test-global-setup=test/support/databases/postgres-server.ts',
];

const MEMORY_FOLDER = '/dev/shm';
const NEEDED_BYTES = 8e9;

/** Tests that install programs need the whole machine, and minutes. */
const ALONE = ['--test-concurrency=1', '--test-timeout=900000'];

const { values, positionals } = parseArgs({ options: { alone: { type: 'boolean' } }, allowPositionals: true });
const files = positionals.flatMap((pattern) => globSync(pattern).toSorted());
if (files.length === 0) {
  console.error(`No test file matches ${positionals.join(' ')}.`);
  process.exit(1);
}
const folder = await mkdtemp(join(await temporaryFolder(), 'hub-tests-'));
// PostgreSQL does not run as root, so another user needs its folder.
await chmod(folder, 0o711);
// Kept, so that the next run need not compile again.
const environment = { NODE_COMPILE_CACHE: join(tmpdir(), 'hub-test-compile-cache'), ...process.env, TMPDIR: folder };
try {
  // Ctrl-C reaches the tests as well, which then clean up and print what they have.
  process.on('SIGINT', () => {});
  const how = values.alone ? [...ALONE, ...files] : [`--test-concurrency=${AT_ONCE}`, ...(await writeGroups())];
  const tests = spawn(process.execPath, [...OPTIONS, ...how], { stdio: 'inherit', env: environment });
  process.on('SIGTERM', () => tests.kill());
  const [code] = await once(tests, 'exit');
  process.exitCode = code ?? 1;
} finally {
  await rm(folder, { recursive: true, force: true });
}

/** In memory if there is plenty: a disk would confirm every commit of hundreds of databases. */
async function temporaryFolder(): Promise<string> {
  if (values.alone || process.env.TMPDIR !== undefined) return tmpdir();
  const folder = await statfs(MEMORY_FOLDER).catch(() => undefined);
  const room = Math.min(folder ? folder.bavail * folder.bsize : 0, process.availableMemory());
  return room > NEEDED_BYTES ? MEMORY_FOLDER : tmpdir();
}

/** Neighbors go into different groups, because files of one folder are similarly slow. */
async function writeGroups(): Promise<string[]> {
  const groups = Map.groupBy(files.keys(), (index) => index % MOST_GROUPS);
  return Promise.all(
    [...groups].map(async ([name, indexes]) => {
      const path = join(folder, `group-${name}.test.mts`);
      const imports = indexes.map(
        (index) => `import ${JSON.stringify(pathToFileURL(resolve(files[index] ?? '')).href)};`,
      );
      await writeFile(path, imports.join('\n'));
      return path;
    }),
  );
}
