import assert from 'node:assert/strict';
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { copyFile, mkdir, mkdtemp, readdir, readFile, realpath, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, delimiter, dirname, join } from 'node:path';
import { after, before, type TestContext, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { OLDEST_NODE } from '../scripts/without-runtime.ts';

const ROOT = fileURLToPath(new URL('../', import.meta.url));
const execute = promisify(execFile);
const VERSION: string = JSON.parse(await readFile(join(ROOT, 'package.json'), 'utf8')).version;

let tempFolder: string;
let tarball: string;
/** A separate cache for npx that shares the downloads of the machine. */
let settings: Record<string, string>;
/** PATH without the Node of npm scripts, as for a user who only has npm. */
const OWN_PATH = (process.env.PATH ?? '')
  .split(delimiter)
  .filter((folder) => !folder.includes('node_modules'))
  .join(delimiter);

before(async () => {
  tempFolder = await realpath(await mkdtemp(join(tmpdir(), 'hub-package-')));
  const npm = { cwd: ROOT, env: { ...process.env, npm_config_loglevel: 'error' }, maxBuffer: 50_000_000 };
  await execute('npm', ['pack', '--pack-destination', tempFolder], npm);
  tarball = join(tempFolder, `catalog-hub-${VERSION}.tgz`);
  const { stdout } = await execute('npm', ['config', 'get', 'cache'], npm);
  await mkdir(join(tempFolder, 'cache'));
  const downloads = join(stdout.trim(), '_cacache');
  if (existsSync(downloads)) await symlink(downloads, join(tempFolder, 'cache', '_cacache'));
  settings = {
    PATH: OWN_PATH,
    HOME: process.env.HOME ?? tempFolder,
    npm_config_cache: join(tempFolder, 'cache'),
    npm_config_prefer_offline: 'true',
    npm_config_loglevel: 'error',
    npm_config_yes: 'true',
  };
});
after(() => rm(tempFolder, { recursive: true, force: true, maxRetries: 3 }));

test('the package contains what runs, and nothing else', async () => {
  const { stdout } = await execute('tar', ['-tzf', tarball]);
  const files = stdout.split('\n').map((path) => path.replace(/^package\//, ''));
  const needed = [
    'dist/bin/hub.js',
    'dist/client/hub-client.d.ts',
    'dist/web/index.html',
    'demo/index.json',
    'models/tokenizer.json',
    'LICENSE',
    'README.md',
  ];
  for (const path of needed) assert.ok(files.includes(path), path);
  const others = files.filter(
    (path) => path && !/^(dist|demo|models)\/|^(LICENSE|README\.md|package\.json)$/.test(path),
  );
  assert.deepEqual(others, []);
  assert.deepEqual(
    files.filter((path) => path.endsWith('.map')),
    [],
  );
});

test('every import of the package is in the package', async () => {
  const folder = join(tempFolder, 'unpacked');
  await mkdir(folder);
  await execute('tar', ['-xzf', tarball, '-C', folder]);
  const code = join(folder, 'package/dist');
  const paths = (await readdir(code, { recursive: true })).filter((path) => /^(?!web\/).*\.js$/.test(path));
  const lost: string[] = [];
  for (const path of paths) {
    const text = await readFile(join(code, path), 'utf8');
    for (const [, imported = ''] of text.matchAll(/\b(?:from|import)[\s(]*['"](\.[^'"]*)['"]/g))
      if (!existsSync(join(code, dirname(path), imported))) lost.push(`${path}: ${imported}`);
  }
  assert.ok(paths.length > 100, `${paths.length} files`);
  assert.deepEqual(lost, []);
});

test('npx with the package serves a hub, in an empty folder, on any Node', async (t) => {
  const folder = join(tempFolder, 'empty');
  await mkdir(folder);
  await copyFile(tarball, join(folder, basename(tarball)));
  const address = await served(t, ['npx', `./${basename(tarball)}`, 'serve', '--demo'], folder);
  assert.deepEqual(await answer(`${address}/health?check_db=true`), { status: 'ok', version: VERSION, db: 'ok' });
  const page = await fetch(address);
  assert.match(await page.text(), /<!doctype html>/i);
  const found = (await answer(`${address}/catalog/search?q=pdf+tables&mode=keyword`)) as { items: unknown[] };
  assert.ok(found.items.length > 0);
  assert.ok(existsSync(join(folder, 'data/demo.sqlite')));
});

test('an installed package has the command, also on an older Node, and the client with its types', async (t) => {
  const folder = join(tempFolder, 'project');
  await mkdir(folder);
  await writeFile(join(folder, 'package.json'), '{"private":true,"type":"module"}');
  await execute('npm', ['install', tarball, '--no-audit', '--no-fund'], { cwd: folder, env: settings });

  const executable = join(folder, 'node_modules/catalog-hub/dist/bin/hub.js');
  const older = await olderNode();
  if (older === undefined)
    t.diagnostic('*** no older Node on this machine: the switch to the bundled Node is not checked ***');
  for (const node of [process.execPath, ...(older ? [older] : [])]) {
    const { stdout } = await execute(node, [executable, 'version'], { cwd: folder, env: settings });
    assert.equal(stdout, `${VERSION}\n`, node);
    const failure = await execute(node, [executable, 'show', 'tool:none'], { cwd: folder, env: settings }).catch(
      (error) => error,
    );
    assert.equal(failure.code, 3, 'exit codes are passed through');
  }
  // The model runtime is optional, so it may be missing.
  const doctor = await execute(process.execPath, [executable, 'doctor', '--json'], { cwd: folder, env: settings });
  assert.equal(JSON.parse(doctor.stdout).ok, true, doctor.stderr);
  if (older) {
    const bare = join(tempFolder, 'bare');
    await mkdir(bare);
    await writeFile(join(bare, 'package.json'), '{"type":"module"}');
    for (const name of ['hub.js', 'runtime.js']) await copyFile(join(dirname(executable), name), join(bare, name));
    const refused = await execute(older, [join(bare, 'hub.js'), 'version']).catch((error) => error);
    assert.deepEqual([refused.code, refused.stdout], [2, '']);
    assert.match(
      refused.stderr,
      /^hub: needs Node 24 or newer, but this is \d+\.\d+\.\d+\. Install it from nodejs\.org;/,
    );

    const address = await served(t, [older, executable, 'serve', '--demo'], folder);
    assert.equal(((await answer(`${address}/health`)) as { status: string }).status, 'ok');
  }

  await useClient(folder, 'catalog-hub');
});

test('the command line package works with a remote hub on the oldest Node that it supports, and is small', async (t) => {
  const folder = join(tempFolder, 'command-line');
  await mkdir(folder);
  await writeFile(join(folder, 'package.json'), '{"private":true,"type":"module"}');
  await execute('npm', ['run', 'pack:cli', tempFolder], { cwd: ROOT });
  const own = join(tempFolder, `catalog-hub-cli-${VERSION}.tgz`);
  await execute('npm', ['install', own, '--no-audit', '--no-fund'], { cwd: folder, env: settings });
  const { stdout: size } = await execute('du', ['-sm', join(folder, 'node_modules')]);
  assert.ok(Number.parseInt(size, 10) < 40, size);

  const notices = await readFile(join(folder, 'node_modules/catalog-hub-cli/NOTICES.txt'), 'utf8');
  assert.match(
    notices,
    /^commander [\d.]+ \(MIT\)\n\n.+Permission is hereby granted/ms,
    'licenses of bundled libraries',
  );

  await execute('npm', ['install', `node@${OLDEST_NODE}.0`, '--prefix', join(tempFolder, 'oldest')], {
    env: { ...process.env, npm_config_loglevel: 'error' },
  });
  const oldest = join(tempFolder, 'oldest/node_modules/node/bin/node');
  const executable = join(folder, 'node_modules/catalog-hub-cli/dist/hub.js');
  const hub = (args: string[], environment = {}): Promise<{ stdout: string; stderr: string; code?: number }> =>
    execute(oldest, [executable, ...args], { cwd: folder, env: { ...settings, ...environment } }).catch(
      (error) => error,
    );
  assert.equal((await hub(['version'])).stdout, `${VERSION}\n`);
  const listed = await hub(['list']);
  assert.match(listed.stdout, /^Nothing is installed in /);
  assert.equal(listed.stderr, '');
  for (const command of [['serve'], ['search', 'pdf'], ['doctor'], ['sync']]) {
    const refused = await hub(command);
    assert.deepEqual([refused.code, refused.stdout], [2, ''], command.join(' '));
    assert.match(refused.stderr, /does not include the hub itself\. Name a running hub with --hub or HUB_URL/);
  }

  const HUB_URL = await served(t, [process.execPath, join(ROOT, 'src/bin/hub.ts'), 'serve', '--demo'], folder);
  const { stdout: found } = await hub(['search', 'pdf tables', '--mode', 'keyword', '--json'], { HUB_URL });
  assert.ok(JSON.parse(found).items.length > 0);
  await writeFile(
    join(folder, 'far.yaml'),
    'type: mcp_server\nid: far\nname: far\nversion: "1.0"\nmcp_registration: { server: { url: "https://far.example.org/mcp" } }\n',
  );
  const installed = await hub(['install', '--manifest', 'far.yaml', '--client', 'claude'], { HUB_URL });
  assert.equal(installed.code, undefined, installed.stderr);
  assert.match(await readFile(join(folder, '.mcp.json'), 'utf8'), /far\.example\.org/);

  await useClient(folder, 'catalog-hub-cli');
});

/** Compiles and runs a program that uses the client of an installed package. */
async function useClient(folder: string, name: string): Promise<void> {
  await writeFile(
    join(folder, 'use.ts'),
    `import { HubClient, HubError } from '${name}/client';
const hub: HubClient = new HubClient({ url: 'http://127.0.0.1:1' });
const total: Promise<number> = hub.listRemotes().then(({ count }) => count);
export const failure: unknown = await total.catch((error: unknown) => error instanceof HubError);
console.log(hub.url);
`,
  );
  const strict = {
    module: 'nodenext',
    target: 'es2024',
    strict: true,
    noEmit: true,
    skipLibCheck: false,
    types: [] as string[],
    lib: ['es2024', 'dom'],
  };
  await writeFile(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions: strict, include: ['use.ts'] }));
  await execute(process.execPath, [join(ROOT, 'node_modules/typescript/bin/tsc'), '-p', folder]).catch(({ stdout }) =>
    assert.fail(`The types of the client cannot be used:\n${stdout}`),
  );
  const { stdout } = await execute(process.execPath, [join(folder, 'use.ts')], { cwd: folder });
  assert.equal(stdout, 'http://127.0.0.1:1\n');
}

/** Starts it and waits until it prints its address. */
async function served(t: TestContext, [program = '', ...args]: string[], folder: string): Promise<string> {
  const child = spawn(program, args, { cwd: folder, env: { ...settings, PORT: '0' }, detached: true });
  let said = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    said += text;
  });
  const ended = once(child, 'close');
  t.after(async () => {
    // npx starts child processes, which must end too.
    if (child.pid !== undefined && child.exitCode === null) process.kill(-child.pid, 'SIGTERM');
    await ended;
  });
  while (!/listens on (\S+)/.test(said)) {
    const isOver = await Promise.race([ended.then(() => true), once(child.stderr, 'data').then(() => false)]);
    if (isOver) throw new Error(`It ended with ${child.exitCode}: ${said}`);
  }
  return /listens on (\S+)/.exec(said)?.[1] ?? '';
}

async function answer(url: string): Promise<unknown> {
  const response = await fetch(url);
  assert.equal(response.status, 200, url);
  return response.json();
}

/** The Node of the machine if it is too old to run the hub. */
async function olderNode(): Promise<string | undefined> {
  for (const folder of OWN_PATH.split(delimiter)) {
    const node = join(folder, 'node');
    if (!existsSync(node) || dirname(node) === dirname(process.execPath)) continue;
    const { stdout } = await execute(node, ['--version']);
    if (Number.parseInt(stdout.slice(1), 10) < 24) return node;
  }
  return undefined;
}
