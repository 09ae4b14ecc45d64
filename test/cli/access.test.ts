import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { aManifest } from '../support/builders.ts';
import { tempDir } from '../support/databases.ts';
import { testHub } from '../support/hub.ts';
import { unusedAddress } from '../support/unused-address.ts';
import { inTerminal } from './in-terminal.ts';
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

  test('works in process on the database of its folder, which .env may name', async (t) => {
    const folder = await tempDir(t);
    await writeFile(join(folder, '.env'), 'DB_PATH=./mine.sqlite\n');
    const url = 'https://catalog.example.org/index.json';
    assert.equal((await run(t, { args: ['remotes', 'add', url], folder })).stdout, `Added: ${url}\n`);
    const { code, stdout, stderr } = await run(t, { args: ['remotes', 'list', '--json'], folder });
    assert.deepEqual([code, stderr, JSON.parse(stdout).items[0].url], [0, '', url]);
  });
});
