import assert from 'node:assert/strict';
import { readFile, symlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { test } from 'node:test';
import { aManifest } from '../../support/builders.ts';
import { emptyDatabase, tempDir } from '../../support/databases/databases.ts';
import { startIndexServer } from '../../support/servers/index-server.ts';
import { localSettings, testBothWays } from '../hubs.ts';
import { lines } from '../process.ts';
import { inTerminal } from '../terminal/in-terminal.ts';

const ODD = aManifest({ type: 'tool', id: 'Odd/na:me', name: 'Odd/na:me' });
const manifests = [aManifest(), aManifest({ version: '2.0.0' }), ODD, { ...ODD, id: 'odd/na:me', name: 'odd/na:me' }];
const catalog = { manifests, isShared: true };

testBothWays('hub export: writes one entity per line', catalog, async (_t, { hub }) => {
  const all = await hub('export');
  assert.deepEqual([all.exitCode, all.error], [0, '4 entities written.\n']);
  const exported = lines(all.out).map((line) => JSON.parse(line));
  assert.deepEqual(exported.map(({ id }) => id).toSorted(), [
    'mcp_server:pdf-tables@1.0.0',
    'mcp_server:pdf-tables@2.0.0',
    'tool:Odd/na:me@1.0.0',
    'tool:odd/na:me@1.0.0',
  ]);
  assert.deepEqual(exported.find(({ id }) => id === 'tool:Odd/na:me@1.0.0').manifest, ODD);

  const tools = await hub('export', '--type', 'tool');
  assert.deepEqual([tools.exitCode, lines(tools.out).length], [0, 2]);
  assert.equal((await hub('export', '--output', 'catalog.jsonl')).exitCode, 2);
});

testBothWays('hub export --format index: writes a folder that hubs can ingest', catalog, async (t, { hub }) => {
  const folder = join(await tempDir(t), 'public');
  assert.equal((await hub('export', '--format', 'index')).exitCode, 2);
  const { exitCode, out } = await hub('export', '--format', 'index', '-o', folder);
  assert.deepEqual([exitCode, out], [0, `4 entities written to ${folder}.\n`]);
  const again = await hub('export', '--format', 'index', '-o', folder);
  assert.deepEqual(
    [again.exitCode, again.error],
    [2, `hub: ${join(folder, 'index.json')} already exists; --force overwrites it.\n`],
  );
  const nowhere = await hub('export', '--format', 'index', '-o', join(folder, 'index.json', 'below'));
  assert.equal(nowhere.exitCode, 1);
  assert.match(nowhere.error, /^hub: The export could not be written \(ENOTDIR: .+\)\. Choose a folder that you may/);

  const host = await startIndexServer(t);
  const { manifests: paths } = JSON.parse(await readFile(join(folder, 'index.json'), 'utf8'));
  assert.equal(
    new Set(paths.map((path: string) => path.toLowerCase())).size,
    4,
    'also on filesystems that ignore case',
  );
  host.put('/index.json', { manifests: paths });
  for (const path of paths) host.put(`/${path}`, await readFile(join(folder, path)));
  const environment = { DB_PATH: join(await tempDir(t), 'other.sqlite') };
  const read = await inTerminal(['ingest', host.url('/index.json')], { environment });
  assert.match(read.out, /4 new, 0 changed, 0 unchanged, 0 refused/);
});

testBothWays('hub export, hub backup: refuse a file for a folder and vice versa', catalog, async (t, reached) => {
  const folder = await tempDir(t);
  const file = join(folder, 'file');
  await writeFile(file, '');
  const wrong = [
    ['export', '--format', 'index', '--output', file],
    ...(reached.way === 'in process' ? [['backup', folder, '--force']] : []),
  ];
  for (const args of wrong) {
    const { exitCode, error } = await reached.hub(...args);
    assert.equal(exitCode, 2, args.join(' '));
    assert.match(error, /^hub: \S+ is a (folder; name a file in it|file; name a folder)\.\n$/);
  }
});

testBothWays('hub backup: copies the database of a running hub', catalog, async (t, { hub, way }) => {
  const file = join(await tempDir(t), 'copy.sqlite');
  const { exitCode, out, error } = await hub('backup', file);
  if (way === 'against a server') {
    assert.equal(exitCode, 2);
    assert.match(error, /on the machine of the hub.*'hub export'/);
    return;
  }
  assert.equal(exitCode, 0, error);
  assert.match(out, /^\d+\.\d kB written to /);
  const copy = new DatabaseSync(file, { readOnly: true });
  assert.equal(copy.prepare('select count(*) as count from entity').get()?.count, 4);
  copy.close();
  assert.equal((await hub('backup', file)).exitCode, 2, 'does not overwrite an existing file');
  assert.equal((await hub('backup', file, '--force')).exitCode, 0);
  const below = join(await tempDir(t), 'below');
  const first = await hub('backup', join(below, 'copy.sqlite'));
  assert.deepEqual([first.exitCode, first.error], [0, `hub: Created the folder ${below}.\n`]);
  assert.equal((await hub('backup', join(below, 'second.sqlite'))).error, '');
  const nowhere = await hub('backup', join(file, 'no', 'copy'));
  assert.equal(nowhere.exitCode, 1);
  assert.match(nowhere.error, /^hub: The backup could not be written \(ENOTDIR: .+\)\. Choose a folder that you may/);
});

test('hub backup: never overwrites the database', async (t) => {
  const environment = await localSettings(t, { manifests });
  const hub = (...args: string[]) => inTerminal(args, { environment });
  const database = environment.DB_PATH;
  const folder = dirname(database);
  await symlink(database, join(folder, 'symbolic'));
  await symlink(folder, join(folder, 'folder'));
  const before = await readFile(database);
  const places = [
    ...['catalog.sqlite', 'symbolic', join('folder', 'catalog.sqlite')].map((name) => join(folder, name)),
    ...['-wal', '-shm', '-journal', '-lock-0123456789ab'].map((end) => `${database}${end}`),
  ];
  for (const place of places) {
    const { exitCode, out, error } = await hub('backup', place, '--force');
    assert.deepEqual([exitCode, out], [2, ''], `${place}: ${error}`);
    assert.equal(error, `hub: ${place} belongs to the database itself. Choose another path.\n`);
  }
  assert.deepEqual(await readFile(database), before);
  assert.equal((await hub('backup', `${database}-copy`)).exitCode, 0);
});

test('hub backup: never overwrites a database named like an unfinished file', async (t) => {
  const copy = join(await tempDir(t), 'copy');
  const environment = { DB_PATH: `${copy}.unfinished` };
  await inTerminal(['remotes', 'add', 'https://catalog.example.org/index.json'], { environment });
  assert.equal((await inTerminal(['backup', copy], { environment })).exitCode, 2);
  assert.match((await inTerminal(['remotes', 'list'], { environment })).out, /catalog\.example\.org/);
});

const skip = !process.env.TEST_DATABASE_URL && !process.env.CI ? '*** no PostgreSQL ***' : false;
test('hub backup: names the tool for PostgreSQL', { skip }, async (t) => {
  const address = await emptyDatabase(t, 'postgres');
  const environment = { DATABASE_URL: address.engine === 'postgres' ? address.url : '' };
  await inTerminal(['remotes', 'add', 'https://catalog.example.org/index.json'], { environment });
  const { exitCode, error } = await inTerminal(['backup', 'copy.dump'], { environment });
  assert.equal(exitCode, 2);
  assert.match(error, /pg_dump --format=custom --file='copy\.dump' "\$DATABASE_URL"/);
  assert.equal((await inTerminal(['export'], { environment })).exitCode, 0);
});
