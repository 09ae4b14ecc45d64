import assert from 'node:assert/strict';
import { readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { createAccess } from '../../src/cli/access.ts';
import { aManifest } from '../support/builders.ts';
import { tempDir } from '../support/databases.ts';
import { testHub } from '../support/hub.ts';
import { unusedAddress } from '../support/unused-address.ts';
import { inTerminal, terminalOf } from './in-terminal.ts';
import { run } from './process.ts';

const TOKEN = 'token-of-the-hub';
const settings = { API_TOKEN: TOKEN };

test('access: --hub wins over HUB_URL, and either over the local database', async (t) => {
  const [first, second] = [await testHub(t, { manifests: [aManifest()] }), await testHub(t)];
  const HUB_URL = await first.listen();
  const environment = { HUB_URL, DB_PATH: join(await tempDir(t), 'c.sqlite') };
  assert.equal((await inTerminal(['show', 'mcp_server:pdf-tables'], { environment })).exitCode, 0);
  const other = ['show', 'mcp_server:pdf-tables', '--hub', await second.listen()];
  assert.equal((await inTerminal(other, { environment })).exitCode, 3);
});

test('access: a token that is missing or wrong is exit code 4, and says what to set', async (t) => {
  const { listen } = await testHub(t, { settings });
  const HUB_URL = await listen();
  for (const HUB_TOKEN of ['', 'wrong']) {
    const { exitCode, out, error } = await inTerminal(['pending', 'list'], { environment: { HUB_URL, HUB_TOKEN } });
    assert.deepEqual([exitCode, out], [4, '']);
    assert.match(error, /^hub: .* Set HUB_TOKEN to the API_TOKEN of the hub\.\n$/);
    assert.equal(/refused the token/.test(error), HUB_TOKEN !== '');
    assert.doesNotMatch(error, /wrong/);
  }
  const right = await inTerminal(['pending', 'list'], { environment: { HUB_URL, HUB_TOKEN: ` ${TOKEN}\n` } });
  assert.equal(right.exitCode, 0);
});

test('access: somebody at the terminal is asked for the token, once, and only when it is needed', async (t) => {
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
  assert.equal(questions.length, 3, 'a token that is set wrong is not asked for');
});

test('access: somebody who stops at the question is not told of tokens', async (t) => {
  const { listen } = await testHub(t, { settings });
  const stop = async () => {
    throw new DOMException('Stopped before it was done.', 'AbortError');
  };
  const { exitCode, error } = await inTerminal(['pending', 'list', '--hub', await listen()], { askSecret: stop });
  assert.deepEqual([exitCode, error], [1, 'hub: Stopped before it was done.\n']);
});

test('access: a token that cannot be one is said to be none, typed or set', async (t) => {
  const { listen } = await testHub(t, { settings });
  const HUB_URL = await listen();
  const typed = await inTerminal(['pending', 'list'], { environment: { HUB_URL }, askSecret: async () => 'schlüssel' });
  assert.deepEqual([typed.exitCode, typed.out], [4, '']);
  assert.match(typed.error, /^hub: The token must be of visible ASCII signs.*\n$/);
  const set = await inTerminal(['pending', 'list'], { environment: { HUB_URL, HUB_TOKEN: 'two\nlines' } });
  assert.equal(set.exitCode, 2);
  assert.match(set.error, /^hub: The token must be of visible ASCII signs.*\n$/);
});

test('access: nobody there is exit code 5, and says what to do', async () => {
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
  test(`access: '${url}' is no address of a hub`, async () => {
    const { exitCode, out, error } = await inTerminal(['remotes', 'list', '--hub', url]);
    assert.deepEqual([exitCode, out], [2, '']);
    assert.match(error, /^hub: .*address of a hub/);
    assert.doesNotMatch(error, /secret/);
  });
}

test('access: there is no option for the token', async () => {
  const { exitCode, error } = await inTerminal(['sync', '--token', 'x']);
  assert.equal(exitCode, 2);
  assert.match(error, /unknown option '--token'/);
});

test('access: a command that is stopped ends with exit code 1', async (t) => {
  const { listen } = await testHub(t);
  const { exitCode, error } = await inTerminal(['remotes', 'list', '--hub', await listen()], {
    shutdown: AbortSignal.abort(),
  });
  assert.deepEqual([exitCode, error], [1, 'hub: Stopped before it was done.\n']);
});

describe('the executable', { concurrency: 2 }, () => {
  test('answers as JSON, and exits as documented', async (t) => {
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

  test('a token of the environment does not go to an address out of the .env of a folder', async (t) => {
    const { hub, listen } = await testHub(t, { settings, manifests: [aManifest()] });
    const url = await listen();
    const folder = await tempDir(t);
    const asked = async (file: string, settingsOfUser: Record<string, string>, args: string[] = []) => {
      await writeFile(join(folder, '.env'), file);
      return run(t, { args: ['pending', 'list', ...args], folder, settings: settingsOfUser });
    };
    const withheld = await asked(`HUB_URL=${url}\n`, { HUB_TOKEN: TOKEN });
    assert.deepEqual([withheld.code, withheld.stdout], [4, '']);
    assert.match(
      withheld.stderr,
      /^hub: The hub at \S+ wants a token\. HUB_TOKEN of the environment is not sent there/,
    );
    assert.match(withheld.stderr, /--hub or by HUB_URL in the environment, or put HUB_TOKEN into the same \.env\.\n$/);
    const open = await run(t, { args: ['show', 'mcp_server:pdf-tables'], folder, settings: { HUB_TOKEN: TOKEN } });
    assert.equal(open.code, 0, 'what is open to all needs none');

    const file = `HUB_URL=http://127.0.0.1:9\nHUB_TOKEN=${TOKEN}\n`;
    assert.equal((await asked(`HUB_URL=${url}\nHUB_TOKEN=${TOKEN}\n`, { HUB_TOKEN: 'of another hub' })).code, 0);
    assert.equal((await asked(file, { HUB_URL: url })).code, 0, 'an address that is trusted more');
    assert.equal((await asked(file, {}, ['--hub', url])).code, 0);
    assert.equal((await asked(`HUB_URL=${url}\n`, { HUB_TOKEN: TOKEN, HUB_URL: url })).code, 0);
    assert.equal((await hub.listPending({ text: '', errorOnly: false, limit: 1, offset: 0 })).total, 1);
  });

  test('loads the model without telling anybody, and with command lines of any length', async (t) => {
    const [folder, home] = [await tempDir(t), await tempDir(t)];
    await writeFile(join(folder, 'manifest.json'), JSON.stringify(aManifest()));
    const started = { folder, settings: { HOME: home, DATA_DIR: 'data' } };
    const installed = await run(t, {
      ...started,
      args: ['install', '--manifest', 'manifest.json', '--target', 'project'],
    });
    assert.equal(installed.code, 0, installed.stderr);
    const found = await run(t, { ...started, args: ['search', 'tables', '--providers', 'x'.repeat(20_000)] });
    assert.deepEqual([found.code, found.signal, found.stdout], [0, null, 'Nothing found.\n']);
    // The runtime keeps a mark of the machine in the home folder when it reports.
    assert.deepEqual(await readdir(home, { recursive: true }), []);
  });

  test('works in process on the database of its folder, which .env may name', async (t) => {
    const folder = await tempDir(t);
    await writeFile(join(folder, '.env'), 'DB_PATH=./mine.sqlite\n');
    const url = 'https://catalog.example.org/index.json';
    assert.equal((await run(t, { args: ['remotes', 'add', url], folder })).stdout, `Added: ${url}\n`);
    const { code, stdout, stderr } = await run(t, { args: ['remotes', 'list', '--json'], folder });
    assert.deepEqual([code, stderr, JSON.parse(stdout).items[0].url], [0, '', url]);
  });
});

test('access: whoever may make a catalog does so, also beside one who wants one that is there', async (t) => {
  const environment = { DB_PATH: join(await tempDir(t), 'c.sqlite') };
  const terminal = terminalOf({ environment });
  const access = createAccess({ named: undefined, terminal });
  t.after(access.close);
  const [reading, making] = await Promise.allSettled([access.open({ mustExist: true }), access.open()]);
  assert.deepEqual([reading.status, making.status], ['rejected', 'fulfilled']);
});
