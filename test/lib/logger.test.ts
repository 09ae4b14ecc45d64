// In separate processes, because a logger writes to the standard output of its process.
import assert from 'node:assert/strict';
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { test } from 'node:test';
import { promisify } from 'node:util';

const LOGGER = new URL('../../src/lib/logger.ts', import.meta.url).href;

test('log: writes one JSON object per line without a terminal', async () => {
  const events = await loggedBy(`
    log.info({ route: '/catalog', status: 200 }, 'GET /catalog');
    log.warn({}, 'line\\nbreak');
    log.flush();`);
  assert.deepEqual(
    events.map(({ time, ...event }) => event),
    [
      { level: 'info', route: '/catalog', status: 200, msg: 'GET /catalog' },
      { level: 'warn', msg: 'line\nbreak' },
    ],
  );
  for (const { time } of events) assert.equal(new Date(String(time)).toISOString(), time);
});

test('log: an error has its message, stack and cause', async () => {
  const [event] = await loggedBy(`
    log.error({ error: new Error('no room', { cause: new Error('disk full') }) }, 'It failed');
    log.flush();`);
  const error = event?.error as { message: string; stack: string };
  assert.match(error.message, /no room/);
  assert.match(error.stack, /Error: no room\n {4}at /);
  assert.match(error.stack, /disk full/);
});

const LEVELS: [level: string, written: string[]][] = [
  ['debug', ['debug', 'info', 'warn', 'error']],
  ['info', ['info', 'warn', 'error']],
  ['warn', ['warn', 'error']],
  ['error', ['error']],
  ['silent', []],
];
test('log: omits events below the level', async () => {
  await Promise.all(
    LEVELS.map(async ([level, written]) => {
      const events = await loggedBy(
        `for (const each of ['debug', 'info', 'warn', 'error']) log[each]({}, each); log.flush();`,
        { level },
      );
      assert.deepEqual(
        events.map(({ msg }) => msg),
        written,
        level,
      );
    }),
  );
});

test('log: nothing is lost after a flush, however the process ends', async () => {
  const events = await loggedBy(`
    for (let count = 0; count < 5000; count += 1) log.info({ count }, 'Still here');
    log.flush();
    process.kill(process.pid, 'SIGKILL');`);
  assert.equal(events.length, 5000);
});

test('log: a single line is written without delay', async () => {
  const child = spawn(process.execPath, script(`log.info({}, 'Alone'); setTimeout(() => {}, 20_000);`), {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  try {
    const [line] = await once(child.stdout, 'data');
    assert.equal(JSON.parse(String(line)).msg, 'Alone');
  } finally {
    child.kill();
  }
});

test('log: lines on a terminal are human-readable', async () => {
  const text = await outputOf(`log.info({ port: 8443 }, 'The hub listens'); log.flush();`, { terminal: true });
  assert.match(text, /^\[\d\d:\d\d:\d\d\.\d{3}\] INFO: The hub listens \{"port":8443\}\n$/);
});

interface LoggerOptions {
  level?: string;
  terminal?: boolean;
}

async function loggedBy(code: string, options?: LoggerOptions): Promise<Record<string, unknown>[]> {
  const text = await outputOf(code, options);
  return text
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line));
}

/** The output of the code, whether its process succeeds or not. */
async function outputOf(code: string, options?: LoggerOptions): Promise<string> {
  const env = { ...process.env, NO_COLOR: '1' };
  const { stdout } = await promisify(execFile)(process.execPath, script(code, options), { env }).catch(
    (error: { stdout: string }) => error,
  );
  return stdout;
}

function script(code: string, { level = 'info', terminal = false }: LoggerOptions = {}): string[] {
  const options = JSON.stringify({ level, terminal });
  const start = `import { createLogger } from '${LOGGER}'; const log = await createLogger(${options});`;
  return ['--input-type=module', '--eval', `${start}\n${code}`];
}
