import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { createAccess } from '../../src/cli/hub/reach-hub.ts';
import { aManifest } from '../support/builders.ts';
import { tempDir } from '../support/databases.ts';
import { testHub } from '../support/hub.ts';
import { startIndexServer } from '../support/index-server.ts';
import { until } from '../support/until.ts';
import { unusedAddress } from '../support/unused-address.ts';
import { inTerminal, terminalOf } from './in-terminal.ts';
import { run, start } from './process.ts';

const TOKEN = 'token-of-the-hub';
const settings = { API_TOKEN: TOKEN };

test('access: --hub wins over HUB_URL, and both over the local database', async (t) => {
  const [first, second] = [await testHub(t, { manifests: [aManifest()] }), await testHub(t)];
  const HUB_URL = await first.listen();
  const environment = { HUB_URL, DB_PATH: join(await tempDir(t), 'c.sqlite') };
  assert.equal((await inTerminal(['show', 'mcp_server:pdf-tables'], { environment })).exitCode, 0);
  const other = ['show', 'mcp_server:pdf-tables', '--hub', await second.listen()];
  assert.equal((await inTerminal(other, { environment })).exitCode, 3);
});

test('access: a missing or wrong token is exit code 4, and says what to set', async (t) => {
  const { listen } = await testHub(t, { settings });
  const HUB_URL = await listen();
  for (const HUB_TOKEN of ['', 'wrong']) {
    const { exitCode, out, error } = await inTerminal(['pending', 'list'], { environment: { HUB_URL, HUB_TOKEN } });
    assert.deepEqual([exitCode, out], [4, '']);
    assert.match(error, /^hub: .* Set HUB_TOKEN to a token of the hub\.\n$/);
    assert.equal(/refused the token/.test(error), HUB_TOKEN !== '');
    assert.doesNotMatch(error, /wrong/);
  }
  const right = await inTerminal(['pending', 'list'], { environment: { HUB_URL, HUB_TOKEN: ` ${TOKEN}\n` } });
  assert.equal(right.exitCode, 0);
});

test('access: prompts for the token on a terminal, once, and only when it is needed', async (t) => {
  const { listen } = await testHub(t, { settings });
  const HUB_URL = await listen();
  const questions: string[] = [];
  const answering = (token: string | undefined) => async (question: string) => {
    questions.push(question);
    return token;
  };
  const ask = (args: string[], token: string | undefined, HUB_TOKEN = '') =>
    inTerminal(args, { environment: { HUB_URL, HUB_TOKEN }, askSecret: answering(token) });
  assert.equal((await ask(['remotes', 'list'], TOKEN)).exitCode, 0);
  assert.deepEqual(questions, []);
  assert.equal((await ask(['pending', 'list'], TOKEN)).exitCode, 0);
  assert.deepEqual(questions, [`Token for ${HUB_URL}: `]);
  assert.equal((await ask(['pending', 'list'], undefined)).exitCode, 4);
  assert.equal((await ask(['pending', 'list'], 'wrong')).exitCode, 4);
  assert.equal((await ask(['pending', 'list'], TOKEN, 'wrong')).exitCode, 4);
  assert.equal(questions.length, 3, 'an invalid token setting causes no prompt');
});

test('access: stopping at the prompt prints no advice about tokens', async (t) => {
  const { listen } = await testHub(t, { settings });
  const stop = async () => {
    throw new DOMException('Stopped before it was done.', 'AbortError');
  };
  const { exitCode, error } = await inTerminal(['pending', 'list', '--hub', await listen()], { askSecret: stop });
  assert.deepEqual([exitCode, error], [130, 'hub: Stopped before it was done.\n']);
});

test('access: refuses a token with invalid characters, typed or set', async (t) => {
  const { listen } = await testHub(t, { settings });
  const HUB_URL = await listen();
  const typed = await inTerminal(['pending', 'list'], { environment: { HUB_URL }, askSecret: async () => 'schlüssel' });
  assert.deepEqual([typed.exitCode, typed.out], [4, '']);
  assert.match(typed.error, /^hub: The token must consist of visible ASCII characters.*\n$/);
  const set = await inTerminal(['pending', 'list'], { environment: { HUB_URL, HUB_TOKEN: 'two\nlines' } });
  assert.equal(set.exitCode, 2);
  assert.match(set.error, /^hub: The token must consist of visible ASCII characters.*\n$/);
});

test('access: an unreachable hub is exit code 5, and says what to do', async () => {
  const url = await unusedAddress();
  for (const args of [['remotes', 'list'], ['sync'], ['show', 'tool:a'], ['search', 'a'], ['doctor'], ['export']]) {
    const { exitCode, out, error } = await inTerminal([...args, '--hub', url]);
    assert.deepEqual([exitCode, out], [5, ''], args.join(' '));
    assert.match(
      error,
      /^hub: The hub at http\S+ could not be reached: nothing listens there \(ECONNREFUSED\)\. 'hub serve' starts one/,
    );
  }
});

for (const url of ['hub.example.org', 'ftp://hub.example.org', 'http://user:secret@hub.example.org', '']) {
  test(`access: '${url}' is not the address of a hub`, async () => {
    const { exitCode, out, error } = await inTerminal(['remotes', 'list', '--hub', url]);
    assert.deepEqual([exitCode, out], [2, '']);
    assert.match(error, /^hub: .*address of a hub/);
    assert.doesNotMatch(error, /secret/);
  });
}

test('access: no option takes the token', async () => {
  const { exitCode, error } = await inTerminal(['sync', '--token', 'x']);
  assert.equal(exitCode, 2);
  assert.match(error, /unknown option '--token'/);
});

test('access: an interrupted command ends with exit code 130', async (t) => {
  const { listen } = await testHub(t);
  const { exitCode, error } = await inTerminal(['remotes', 'list', '--hub', await listen()], {
    shutdown: AbortSignal.abort(),
  });
  assert.deepEqual([exitCode, error], [130, 'hub: Stopped before it was done.\n']);
});

describe('the executable', { concurrency: 2 }, () => {
  test('prints JSON and exits with the documented code', async (t) => {
    const { listen } = await testHub(t, { settings, manifests: [aManifest()] });
    const HUB_URL = await listen();
    const shown = await run(t, { args: ['show', 'mcp_server:pdf-tables', '--json'], settings: { HUB_URL } });
    assert.deepEqual([shown.code, shown.stderr], [0, '']);
    assert.equal(JSON.parse(shown.stdout).version, '1.0.0');
    const missing = await run(t, { args: ['show', 'tool:none'], settings: { HUB_URL } });
    assert.deepEqual([missing.code, missing.stdout], [3, '']);
    const closed = await run(t, { args: ['sync'], settings: { HUB_URL, HUB_TOKEN: 'wrong' } });
    assert.equal(closed.code, 4);
    assert.doesNotMatch(closed.stderr, /wrong/);
    const away = await run(t, { args: ['sync'], settings: { HUB_URL: await unusedAddress() } });
    assert.equal(away.code, 5);
  });

  test('only serve reads .env', async (t) => {
    const folder = await tempDir(t);
    const env = 'HUB_URL=http://127.0.0.1:9\nDB_PATH=./mine.sqlite\nPORT=not-a-port\n';
    await writeFile(join(folder, '.env'), env);
    const settings = { HOME: await tempDir(t) };
    const listed = await run(t, { args: ['list', '--json'], folder, settings });
    assert.deepEqual([listed.code, listed.stderr], [0, '']);
    const added = await run(t, {
      args: ['remotes', 'add', 'https://catalog.example.org/index.json'],
      folder,
      settings,
    });
    assert.equal(added.code, 0, added.stderr);
    assert.deepEqual(await readdir(folder), ['.env']);
    const served = await run(t, { args: ['serve'], folder, settings });
    assert.equal(served.code, 2);
    assert.match(served.stderr, /PORT is 'not-a-port'/);
  });

  test('loads the model without telemetry, and with command lines of any length', async (t) => {
    const [folder, home] = [await tempDir(t), await tempDir(t)];
    await run(t, { args: ['remotes', 'add', 'https://c.example'], folder, settings: { HOME: home, DATA_DIR: 'data' } });
    await writeFile(join(folder, 'manifest.json'), JSON.stringify(aManifest()));
    const started = { folder, settings: { HOME: home, DATA_DIR: 'data' } };
    const installed = await run(t, {
      ...started,
      args: ['install', '--manifest', 'manifest.json', '--target', 'project'],
    });
    assert.equal(installed.code, 0, installed.stderr);
    const found = await run(t, { ...started, args: ['search', 'tables', '--providers', 'x'.repeat(20_000)] });
    assert.deepEqual([found.code, found.signal, found.stdout], [0, null, 'Nothing found.\n']);
    // The runtime would write an id to the home folder if it sent telemetry.
    assert.deepEqual(await readdir(home, { recursive: true }), []);
  });

  test('stores the local catalog in the user data folder, unless the current folder has one', async (t) => {
    const [folder, home] = [await tempDir(t), await tempDir(t)];
    const settings = { HOME: home, XDG_DATA_HOME: join(home, 'xdg') };
    const url = 'https://catalog.example.org/index.json';
    const { HOME } = settings;
    const add = (given: Record<string, string>) => run(t, { args: ['remotes', 'add', url], folder, settings: given });
    assert.equal((await add(settings)).stdout, `Added: ${url}\n`);
    assert.ok(existsSync(join(home, 'xdg/catalog-hub/catalog.sqlite')));
    if (process.platform === 'linux') {
      assert.equal((await add({ HOME })).stdout, `Added: ${url}\n`);
      assert.ok(existsSync(join(home, '.local/share/catalog-hub/catalog.sqlite')));
    }
    assert.deepEqual(await readdir(folder), [], 'nothing in the working folder');
    assert.equal((await add({ HOME, DATA_DIR: 'data' })).stdout, `Added: ${url}\n`);
    const { code, stdout } = await run(t, { args: ['remotes', 'list', '--json'], folder, settings });
    assert.deepEqual([code, JSON.parse(stdout).items[0].url], [0, url]);
    assert.equal((await add(settings)).stdout, `Already added: ${url}\n`, 'the catalog in ./data');
  });

  test('creates nothing for a refused command', async (t) => {
    const [folder, home] = [await tempDir(t), await tempDir(t)];
    const cases: [code: number, ...args: string[]][] = [
      [2, 'remotes', 'add', 'nonsense'],
      [2, 'remotes', 'add', 'https://catalog.example.org', '--name', 'https://x.example'],
      [3, 'sync'],
      [3, 'ingest'],
      [3, 'ingest', 'team'],
      [3, 'search', 'x'],
      [3, 'outdated'],
      [3, 'uninstall', 'x'],
      [3, 'verify'],
    ];
    for (const [code, ...args] of cases) {
      const ended = await run(t, { args, folder, settings: { HOME: home } });
      assert.deepEqual([ended.code, ended.stdout], [code, ''], `${args.join(' ')}: ${ended.stderr}`);
    }
    assert.deepEqual([await readdir(folder), await readdir(home)], [[], []]);
  });

  test('ends with 130 on Ctrl-C and leaves nothing unfinished', async (t) => {
    const host = await startIndexServer(t);
    const release = host.hold('/slow.zip');
    t.after(release);
    host.put('/slow.zip', 'x');
    const [folder, home] = [await tempDir(t), await tempDir(t)];
    const manifest = aManifest({ artifacts: [{ kind: 'zip', spec: { url: host.url('/slow.zip') } }] });
    await writeFile(join(home, 'm.json'), JSON.stringify(manifest));
    const args = ['install', '--manifest', join(home, 'm.json')];
    const { kill, ended } = await start(t, { args, folder, settings: { HOME: home } });
    await until(() => host.mostAtOnce() > 0);
    kill('SIGINT');
    const { code, signal } = await ended;
    assert.deepEqual([code, signal], [130, null]);
    assert.deepEqual(await readdir(folder), []);
  });
});

test('access: a command that may create a catalog does, even next to one that needs an existing catalog', async (t) => {
  const environment = { DB_PATH: join(await tempDir(t), 'c.sqlite') };
  const terminal = terminalOf({ environment });
  const access = createAccess({ named: undefined, terminal });
  t.after(access.close);
  const [reading, making] = await Promise.allSettled([access.open({ mustExist: true }), access.open()]);
  assert.deepEqual([reading.status, making.status], ['rejected', 'fulfilled']);
});
