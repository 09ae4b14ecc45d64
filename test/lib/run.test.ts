import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { createRun, RunError } from '../../src/lib/run.ts';
import { SOON } from '../support/in-time.ts';
import { until } from '../support/until.ts';

/** The child processes of this test, on Linux. */
const CHILDREN = `/proc/${process.pid}/task/${process.pid}/children`;
const run = createRun(process.env);
const sh = (script: string, some: { timeoutMs?: number; signal?: AbortSignal; env?: Record<string, string> } = {}) =>
  run({ program: 'sh', args: ['-c', script], cwd: tmpdir(), timeoutMs: 10_000, ...some });

test('run: any exit code is a result, with the output', async () => {
  assert.deepEqual(await sh('echo out; echo err >&2; exit 3'), { exitCode: 3, stdout: 'out\n', stderr: 'err\n' });
  assert.equal((await sh('kill -9 $$')).exitCode, 137, 'ended by a signal');
});

test('run: arguments are never read by a shell', async () => {
  const { stdout } = await run({
    program: 'printf',
    args: ['%s|', '$HOME', '; echo no', '`id`', '"', "'", '*'],
    cwd: '/',
    timeoutMs: 60_000,
  });
  assert.equal(stdout, '$HOME|; echo no|`id`|"|\'|*|');
});

test('run: passes on only harmless parts of the hub’s environment', async () => {
  const guarded = createRun({
    PATH: process.env.PATH,
    HOME: '/home/of-the-hub',
    LC_ALL: 'C',
    HTTPS_PROXY: 'http://proxy.example.org:3128',
    SSL_CERT_FILE: '/etc/cert.pem',
    API_TOKEN: 'secret',
    DATABASE_URL: 'postgres://user:secret@host/db',
    JWT_SECRET_KEY: 'secret',
    NODE_OPTIONS: '--inspect',
    LD_PRELOAD: '/tmp/evil.so',
    GIT_SSH_COMMAND: 'evil',
  });
  const { stdout } = await guarded({
    program: 'env',
    args: [],
    cwd: '/',
    env: { HOME: '/scratch', GIT_TERMINAL_PROMPT: '0' },
    timeoutMs: 60_000,
  });
  const names = stdout
    .trim()
    .split('\n')
    .map((line) => line.split('=')[0])
    // Node adds this one while coverage is measured.
    .filter((name) => name !== 'NODE_V8_COVERAGE');
  assert.deepEqual(names.toSorted(), ['GIT_TERMINAL_PROMPT', 'HOME', 'HTTPS_PROXY', 'LC_ALL', 'PATH', 'SSL_CERT_FILE']);
  assert.match(stdout, /^HOME=\/scratch$/m, 'the settings of a request win');
  assert.doesNotMatch(stdout, /secret|evil/);
});

test('run: keeps only the end of long output', async () => {
  const { stdout } = await sh('yes 0123456789 | head -c 1000000; echo THE-END');
  assert.ok(stdout.length < 70_000);
  assert.match(stdout, /^…/);
  assert.match(stdout, /THE-END\n$/);
});

test('run: does not cut long output within a word, which may be half an address', async () => {
  const { stdout } = await sh('echo "https://me:$(printf %070000d 7)@a.example/x after it"');
  assert.equal(stdout, '… after it\n');
});

test('run: distinguishes a missing program from one that cannot be started', async () => {
  const missing = run({ program: 'no-such-program', args: [], cwd: '/', timeoutMs: 1_000 });
  await assert.rejects(missing, { name: 'RunError', reason: 'missing', message: /no-such-program is not installed/ });
  const noFolder = run({ program: 'true', args: [], cwd: '/no/such/folder', timeoutMs: 1_000 });
  await assert.rejects(noFolder, { reason: 'unstartable' });
  const nul = run({ program: 'true', args: ['a\0b'], cwd: '/', timeoutMs: 1_000 });
  await assert.rejects(nul, { reason: 'unstartable' });
});

test('run: a program over its time limit is stopped with all its descendants', async (t) => {
  const pids = await pidFile(t);
  const script = `sh -c 'sleep 60 & echo $! >> ${pids}; wait' & echo $! >> ${pids}; echo begun; wait`;
  const stopped = await sh(script, { timeoutMs: 2_000 }).catch((error: unknown) => error);
  assert.ok(stopped instanceof RunError);
  assert.deepEqual([stopped.reason, stopped.output], ['timeout', 'begun\n']);
  assert.match(stopped.message, /took longer than 2 s/);
  await assertGone(pids, 2);
});

test('run: children that ignore SIGTERM are killed', async (t) => {
  const pids = await pidFile(t);
  const controller = new AbortController();
  const script = `trap '' TERM; (trap '' TERM; echo $$ >> ${pids}; while :; do sleep 1; done) & echo $! >> ${pids}; wait`;
  const stopped = sh(script, { signal: controller.signal }).catch((error: unknown) => error);
  await until(async () => (await linesIn(pids)) === 2);
  controller.abort();
  assert.equal(((await stopped) as RunError).reason, 'stopped');
  await assertGone(pids, 2);
});

test('run: processes left behind by a program are ended, and do not delay its result', SOON, async (t) => {
  const pids = await pidFile(t);
  const { stdout } = await sh(`sleep 900 & echo $! >> ${pids}; echo done`);
  assert.equal(stdout, 'done\n');
  await assertGone(pids, 1);
});

test('run: starts nothing after its signal is aborted', async () => {
  const stopped = await sh('echo never', { signal: AbortSignal.abort() }).catch((error: unknown) => error);
  assert.equal((stopped as RunError).reason, 'stopped');
});

test('run: when the hub is killed, its programs and their children end', async (t) => {
  const pids = await pidFile(t);
  const script = `sleep 60 & echo $! >> ${pids}; echo $$ >> ${pids}; wait`;
  const owner = spawn(process.execPath, [join(import.meta.dirname, 'run-owner.ts'), script], { stdio: 'ignore' });
  t.after(() => owner.kill('SIGKILL'));
  await until(async () => (await linesIn(pids)) === 2);
  await sleep(300);
  owner.kill('SIGKILL');
  await assertGone(pids, 2);
});

test('run: the watcher of a program ends with it', {
  skip: existsSync(CHILDREN) ? false : 'only Linux has /proc',
}, async () => {
  const children = () => readFileSync(CHILDREN, 'utf8').trim().split(' ').filter(Boolean).map(Number).filter(isRunning);
  const before = children();
  assert.deepEqual(await sh('sleep 0.3; exit 5'), { exitCode: 5, stdout: '', stderr: '' });
  // Children of earlier tests may end meanwhile.
  await until(() => children().every((pid) => before.includes(pid)));
});

async function pidFile(t: TestContext): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'hub-run-'));
  t.after(() => rm(folder, { recursive: true, force: true }));
  return join(folder, 'pids');
}

async function linesIn(file: string): Promise<number> {
  return (await readFile(file, 'utf8').catch(() => '')).split('\n').length - 1;
}

async function assertGone(file: string, count: number): Promise<void> {
  const pids = (await readFile(file, 'utf8')).trim().split('\n').map(Number);
  assert.equal(pids.length, count);
  await until(() => !pids.some(isRunning));
}

/** Where nobody reaps orphans, an ended one is still listed as a zombie. */
function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
  } catch {
    return false;
  }
  return !isZombie(pid);
}

function isZombie(pid: number): boolean {
  try {
    return /^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'));
  } catch {
    return false;
  }
}

test('run: a program with endless output is stopped early, with its children', async () => {
  for (const script of ['yes', 'yes >&2', '(yes & wait) & wait']) {
    await assert.rejects(
      sh(script, { timeoutMs: 60_000 }),
      (error) =>
        error instanceof RunError &&
        error.reason === 'output' &&
        error.message === 'sh was stopped, because it wrote more than 67108864 bytes',
      script,
    );
  }
  const { stdout, exitCode } = await sh('yes | head -c 60000000; echo the end', { timeoutMs: 60_000 });
  assert.deepEqual([exitCode, stdout.endsWith('the end\n')], [0, true], 'much output is allowed');
});
