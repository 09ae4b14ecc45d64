import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { mkdir, readdir, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { createAccess } from '../../src/cli/hub/reach-hub.ts';
import { atEnd } from '../support/at-end.ts';
import { aManifest } from '../support/builders.ts';
import { tempDir } from '../support/databases/databases.ts';
import { testHub } from '../support/hub.ts';
import { startIndexServer } from '../support/servers/index-server.ts';
import { unusedAddress } from '../support/servers/unused-address.ts';
import { until } from '../support/until.ts';
import { localSettings, WITHOUT_MODEL } from './hubs.ts';
import { run, start } from './process.ts';
import { inTerminal, terminalOf } from './terminal/in-terminal.ts';

const TOKEN = 'token-of-the-hub';
const ID = 'mcp_server:pdf-tables';

let started: Promise<string> | undefined;
/** The address of a hub with a token and one entity, which the tests share. */
async function protectedHub(): Promise<string> {
  started ??= testHub(atEnd, { settings: { ...WITHOUT_MODEL, API_TOKEN: TOKEN }, manifests: [aManifest()] }).then(
    ({ listen }) => listen(),
  );
  return started;
}

test('access: --hub wins over HUB_URL, and both over the local database', async (t) => {
  const environment = { HUB_URL: await protectedHub(), DB_PATH: join(await tempDir(t), 'c.sqlite') };
  assert.equal((await inTerminal(['show', ID], { environment })).exitCode, 0);
  const other = ['show', ID, '--hub', await unusedAddress()];
  assert.equal((await inTerminal(other, { environment })).exitCode, 5);
});

test('access: a missing or wrong token is exit code 4, and says what to set', async () => {
  const HUB_URL = await protectedHub();
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

test('access: prompts for the token on a terminal, once, and only when it is needed', async () => {
  const HUB_URL = await protectedHub();
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

test('access: stopping at the prompt prints no advice about tokens', async () => {
  const stop = async () => {
    throw new DOMException('Stopped before it was done.', 'AbortError');
  };
  const { exitCode, error } = await inTerminal(['pending', 'list', '--hub', await protectedHub()], { askSecret: stop });
  assert.deepEqual([exitCode, error], [130, 'hub: Stopped before it was done.\n']);
});

test('access: refuses a token with invalid characters, typed or set', async () => {
  const HUB_URL = await protectedHub();
  const typed = await inTerminal(['pending', 'list'], { environment: { HUB_URL }, askSecret: async () => 'schlüssel' });
  assert.deepEqual([typed.exitCode, typed.out], [4, '']);
  assert.match(typed.error, /^hub: The token must consist of visible ASCII characters.*\n$/);
  const set = await inTerminal(['pending', 'list'], { environment: { HUB_URL, HUB_TOKEN: 'two\nlines' } });
  assert.equal(set.exitCode, 2);
  assert.match(set.error, /^hub: The token must consist of visible ASCII characters.*\n$/);
});

test('access: an unreachable hub is exit code 5, and says what to do', async (t) => {
  const [url, target] = [await unusedAddress(), await tempDir(t)];
  const install = ['install', 'tool:a', '--target', target];
  for (const args of [['remotes', 'list'], ['sync'], ['show', 'a'], ['search', 'a'], ['doctor'], ['export'], install]) {
    const { exitCode, out, error } = await inTerminal([...args, '--hub', url]);
    assert.deepEqual([exitCode, out], [5, ''], args.join(' '));
    assert.match(
      error,
      /^hub: The hub at http\S+ could not be reached: nothing listens there \(ECONNREFUSED\)\. 'hub serve' starts one/,
    );
  }
  assert.deepEqual(await readdir(target), []);
});

const MISSING = /^hub: No catalog at \S+catalog\.sqlite yet\. Create one with 'hub serve', or .+ --hub or HUB_URL\.\n$/;
const refused = [
  ...[['export'], ['backup', 'copy.sqlite'], ['show', 'tool:a'], ['search', 'a'], ['install', 'tool:a', '--dry-run']],
  ...[
    ['pending', 'list'],
    ['remotes', 'list'],
    ['remotes', 'remove', 'https://catalog.example.org/index.json'],
  ],
  ...[['sync'], ['ingest'], ['ingest', 'team']],
  ...[
    ['tokens', 'add', 'ci', '--role', 'reader'],
    ['views', 'set', 'team', '--names', 'com.acme/*'],
    ['webhooks', 'add', 'chat', 'https://chat.example.org/hook'],
    ['policy', 'apply', 'package.json', '--dry-run'],
    ['publish', 'docs/examples/clock.json'],
  ],
].map((args) => ({ args, exitCode: 3, says: MISSING }));
const noLockfile = ['outdated', 'uninstall x', 'verify'].map((line) => ({
  ...{ args: line.split(' '), exitCode: 3, says: /^hub: \S+ has no hub\.lock\.json; / },
}));
const invalid = [['nonsense'], ['https://catalog.example.org', '--name', 'https://x.example']].map((args) => ({
  ...{ args: ['remotes', 'add', ...args], exitCode: 2, says: /^hub: The request is not valid: / },
}));
const secretAddress = {
  ...{
    args: ['ingest', 'https://user:pw@catalog.example.org/'],
    exitCode: 2,
    says: /^hub: The request is not valid: /,
  },
};
for (const { args, exitCode, says } of [...refused, ...noLockfile, ...invalid, secretAddress]) {
  test(`hub ${args.join(' ')}: without a catalog is refused, and creates none`, async (t) => {
    const folder = await tempDir(t);
    const target = exitCode === 3 && says !== MISSING ? ['--target', folder] : [];
    const said = await inTerminal([...args, ...target], { environment: { DATA_DIR: join(folder, 'data') } });
    assert.deepEqual([said.exitCode, said.out], [exitCode, '']);
    assert.match(said.error, says);
    assert.deepEqual(await readdir(folder), []);
    assert.ok(!existsSync('copy.sqlite'));
  });
}

test('access: a catalog that cannot be reached is not reported as missing', async (t) => {
  const path = join(await tempDir(t), 'x'.repeat(300), 'catalog.sqlite');
  const { exitCode, error } = await inTerminal(['search', 'a'], { environment: { DB_PATH: path } });
  assert.equal(exitCode, 1);
  assert.match(error, /^hub: The database \(SQLite at \S+\) cannot be used: ENAMETOOLONG: name too long, /);
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

test('access: an interrupted command ends with exit code 130', async () => {
  const { exitCode, error } = await inTerminal(['remotes', 'list', '--hub', await protectedHub()], {
    shutdown: AbortSignal.abort(),
  });
  assert.deepEqual([exitCode, error], [130, 'hub: Stopped before it was done.\n']);
});

describe('the executable', { concurrency: 2 }, () => {
  test('prints JSON and exits with the documented code', async (t) => {
    const HUB_URL = await protectedHub();
    const shown = await run(t, { args: ['show', ID, '--json'], settings: { HUB_URL } });
    assert.deepEqual([shown.code, shown.stderr], [0, '']);
    assert.equal(JSON.parse(shown.stdout).version, '1.0.0');
    const closed = await run(t, { args: ['sync'], settings: { HUB_URL, HUB_TOKEN: 'wrong' } });
    assert.deepEqual([closed.code, closed.stdout], [4, '']);
    assert.match(closed.stderr, /^hub: .*refused the token/);
    assert.doesNotMatch(closed.stderr, /wrong/);
  });

  test('only serve reads .env', async (t) => {
    const folder = await tempDir(t);
    const env = 'HUB_URL=http://127.0.0.1:9\nDB_PATH=./mine.sqlite\nPORT=not-a-port\n';
    await writeFile(join(folder, '.env'), env);
    const settings = { HOME: await tempDir(t) };
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
    const home = await tempDir(t);
    const { PATH, DB_PATH } = await localSettings(t, { manifests: [aManifest()] });
    const args = ['search', 'tables', '--providers', 'x'.repeat(20_000)];
    const found = await run(t, { args, settings: { PATH, DB_PATH, HOME: home } });
    assert.deepEqual([found.code, found.signal, found.stdout], [0, null, 'Nothing found.\n']);
    // The runtime would write an id to the home folder if it sent telemetry.
    assert.deepEqual(await readdir(home, { recursive: true }), []);
  });

  test('stores the local catalog in the user data folder, unless the current folder has one', async (t) => {
    const [folder, home] = [await tempDir(t), await tempDir(t)];
    const settings = { HOME: home, XDG_DATA_HOME: join(home, 'xdg') };
    const url = 'https://catalog.example.org/index.json';
    const add = (given: Record<string, string>) => run(t, { args: ['remotes', 'add', url], folder, settings: given });
    assert.equal((await add(settings)).stdout, `Added: ${url}\n`);
    assert.ok(existsSync(join(home, 'xdg/catalog-hub/catalog.sqlite')));
    if (process.platform === 'linux') {
      assert.equal((await add({ HOME: home })).stdout, `Added: ${url}\n`);
      assert.ok(existsSync(join(home, '.local/share/catalog-hub/catalog.sqlite')));
    }
    assert.deepEqual(await readdir(folder), [], 'nothing in the working folder');
    await mkdir(join(folder, 'data'));
    await rename(join(home, 'xdg/catalog-hub/catalog.sqlite'), join(folder, 'data/catalog.sqlite'));
    assert.equal((await add(settings)).stdout, `Already added: ${url}\n`, 'the catalog in ./data');
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

test('access: one call creates a catalog although a concurrent one requires an existing catalog', async (t) => {
  const environment = { DB_PATH: join(await tempDir(t), 'c.sqlite') };
  const terminal = terminalOf({ environment });
  const access = createAccess({ named: undefined, terminal });
  t.after(access.close);
  const [reading, making] = await Promise.allSettled([access.open(), access.open({ mayCreate: true })]);
  assert.deepEqual([reading.status, making.status], ['rejected', 'fulfilled']);
});
