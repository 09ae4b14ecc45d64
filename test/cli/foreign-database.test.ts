// Commands in the folder of somebody's project, whose .env is for its own program.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { test } from 'node:test';
import { promisify } from 'node:util';
import pg from 'pg';
import { installCommand } from '../../web/src/entity/install-command.ts';
import { aManifest } from '../support/builders.ts';
import { tempDir, testOnPostgres } from '../support/databases.ts';
import { testHub } from '../support/hub.ts';
import { EXECUTABLE, run } from './process.ts';

const ID = 'mcp_server:pdf-tables@1.0.0';
const REMOTE = 'https://catalog.example.org/index.json';

async function tablesIn(url: string): Promise<string[]> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  const { rows } = await client.query("select tablename from pg_tables where schemaname = 'public' order by 1");
  await client.end();
  return rows.map(({ tablename }) => tablename);
}

async function projectOf(t: Parameters<typeof tempDir>[0], env: string): Promise<string> {
  const folder = await tempDir(t);
  await writeFile(join(folder, '.env'), env);
  return folder;
}

async function pasteInstall(t: Parameters<typeof testHub>[0], folder: string, more = '') {
  const { listen } = await testHub(t, { manifests: [aManifest()] });
  const hub = `hub() { '${process.execPath}' '${EXECUTABLE}' "$@"; }`;
  const command = `${hub}\n${installCommand({ id: ID, name: 'io.example.docs/pdf-tables', version: '1.0.0' }, { origin: await listen() })}${more}`;
  return promisify(execFile)('sh', ['-c', command], { cwd: folder, env: { PATH: process.env.PATH } });
}

const WITHOUT_CATALOG = [
  ['search', 'pdf'],
  ['show', ID],
  ['pending', 'list'],
  ['remotes', 'add', REMOTE],
  ['sync'],
  ['install', ID, '--dry-run'],
];

testOnPostgres(
  'a database that only .env names is not made a catalog of by any command but serve',
  async (t, { url }) => {
    const folder = await projectOf(t, `DATABASE_URL=${url}\n`);
    for (const args of WITHOUT_CATALOG) {
      const { code, stdout, stderr } = await run(t, { args, folder });
      assert.deepEqual([code, stdout], [3, ''], `${args.join(' ')}: ${stderr}`);
      assert.match(
        stderr,
        /^hub: There is no catalog in PostgreSQL at \S+, .*DATABASE_URL in \.env.*'hub serve'.*--hub/,
      );
    }
    // It goes on, because a catalog may be made while somebody is connected to it; here nobody is.
    const { code, stderr } = await run(t, { args: ['mcp'], folder });
    assert.deepEqual([code, /There is no catalog in PostgreSQL at \S+, /.test(stderr)], [0, true], stderr);
    const doctor = await run(t, { args: ['doctor', '--json'], folder });
    assert.match(doctor.stdout, /PostgreSQL at \S+: is there, but holds no catalog"/);
    for (const more of ['', ' --dry-run']) {
      const { stdout } = await pasteInstall(t, folder, more);
      assert.match(stdout, more ? /Nothing was touched/ : /Installed mcp_server:pdf-tables@1\.0\.0/);
    }
    assert.deepEqual(await tablesIn(url), []);
    assert.deepEqual((await readdir(folder)).toSorted(), ['.env', '.hub', 'hub.lock.json']);
  },
);

testOnPostgres('a database of the environment: what only reads makes no catalog there', async (t, { url }) => {
  const settings = { DATABASE_URL: url };
  for (const args of [
    ['search', 'pdf'],
    ['pending', 'list'],
    ['install', ID, '--dry-run'],
  ]) {
    const { code, stderr } = await run(t, { args, settings });
    assert.equal(code, 3);
    assert.match(stderr, /^hub: There is no catalog in PostgreSQL at \S+ yet\. Fill one with 'hub remotes add/);
  }
  assert.equal((await run(t, { args: ['doctor'], settings })).code, 0);
  assert.deepEqual(await tablesIn(url), []);

  assert.equal((await run(t, { args: ['remotes', 'add', REMOTE], settings })).code, 0);
  assert.ok((await tablesIn(url)).includes('catalog_state'));
  const folder = await projectOf(t, `DATABASE_URL=${url}\n`);
  const list = await run(t, { args: ['remotes', 'list', '--json'], folder });
  assert.match(list.stdout, /catalog\.example\.org/, 'now it is a catalog, whoever names it');
});

test('a SQLite file of somebody else that .env names is left as it is', async (t) => {
  const folder = await projectOf(t, 'DB_PATH=app.sqlite\n');
  const database = new DatabaseSync(join(folder, 'app.sqlite'));
  database.exec('create table invoice (id integer)');
  for (const args of [
    ['search', 'pdf'],
    ['remotes', 'add', REMOTE],
  ]) {
    const { code, stderr } = await run(t, { args, folder });
    assert.equal(code, 3);
    assert.match(stderr, /^hub: There is no catalog at \S+app\.sqlite, and none was made: only DB_PATH in \.env/);
  }
  await pasteInstall(t, folder);
  const tables = database.prepare('select name from sqlite_schema').all();
  database.close();
  assert.deepEqual(
    tables.map(({ name }) => name),
    ['invoice'],
  );
});

test('the install command of the page does not stumble over what .env has for another program', async (t) => {
  for (const [line, says] of [
    ['PORT=not-a-port', /^hub: PORT in \.env is not used: PORT is 'not-a-port', but must be a whole number/m],
    ['DATABASE_URL=mysql://me:secret@db/app', /^hub: DATABASE_URL in \.env is not used: .*not shown/m],
    ['DATABASE_URL=postgres://127.0.0.1:1/app', /cannot be used: .*the install goes on without it\.$/m],
    ['LLM_BASE_URL=http://127.0.0.1:1', /^hub: LLM_BASE_URL in \.env is not used: LLM_MODEL is not set/m],
  ] as const) {
    const { stdout, stderr } = await pasteInstall(t, await projectOf(t, `${line}\n`));
    assert.match(stdout, /Installed mcp_server:pdf-tables@1\.0\.0/);
    assert.match(stderr, says);
    assert.doesNotMatch(stderr, /secret/);
  }
});
