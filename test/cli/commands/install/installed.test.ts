import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { glob, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { startNpmRegistry } from '../../../install/artifacts/npm-registry.ts';
import { rawZip } from '../../../install/artifacts/raw-archives.ts';
import { atEnd } from '../../../support/at-end.ts';
import { aManifest } from '../../../support/builders.ts';
import { tempDir } from '../../../support/databases/databases.ts';
import { testHub } from '../../../support/hub.ts';
import { startIndexServer } from '../../../support/servers/index-server.ts';
import { WITHOUT_MODEL } from '../../hubs.ts';
import { inTerminal } from '../../terminal/in-terminal.ts';

/** One hub for all tests, with archives that entities can install. */
async function startHub() {
  const host = await startIndexServer(atEnd);
  for (const name of ['one', 'two']) host.put(`/${name}.zip`, rawZip([{ name: 'a', content: name }]));
  const { hub, listen } = await testHub(atEnd, { settings: WITHOUT_MODEL });
  return { host, server: hub, url: await listen() };
}
let started: ReturnType<typeof startHub> | undefined;

/** Version 1.0.0 of an entity is installed in a folder of the test. Tests that load other versions name their own. */
async function installed(t: TestContext, slug = 'pdf-tables') {
  started ??= startHub();
  const { host, server, url } = await started;
  const version = (number: string, archive: string, fields = {}) => {
    const artifacts = [{ kind: 'zip', spec: { url: host.url(`/${archive}.zip`) } }];
    return aManifest({ id: slug, name: `io.example.docs/${slug}`, version: number, artifacts, ...fields });
  };
  await server.load([{ document: version('1.0.0', 'one') }]);
  const target = await tempDir(t);
  const environment = { PATH: process.env.PATH, HOME: await tempDir(t), HUB_URL: url };
  const hub = (...args: string[]) => inTerminal([...args, '--target', target], { environment });
  const json = async (...args: string[]) => {
    const { exitCode, out } = await hub(...args, '--json');
    return { exitCode, answer: out === '' ? undefined : JSON.parse(out) };
  };
  const first = await hub('install', slug);
  assert.equal(first.exitCode, 0, first.error);
  return { server, target, hub, json, version };
}

const ID = 'mcp_server:pdf-tables';

test('hub list: shows installed entities and whether their files are present', async (t) => {
  const { hub, json, target } = await installed(t);
  const { exitCode, out } = await hub('list');
  assert.equal(exitCode, 0);
  assert.match(out, /^ENTITY +VERSION +STATE .*\nmcp_server:pdf-tables +1\.0\.0 +ok +zip vendor\/one\n$/);
  await rm(join(target, 'vendor'), { recursive: true });
  const { answer } = await json('list');
  assert.deepEqual(answer, {
    target,
    entities: [
      {
        id: `${ID}@1.0.0`,
        name: 'io.example.docs/pdf-tables',
        version: '1.0.0',
        artifacts: ['zip vendor/one'],
        launchers: [],
        adapters: [],
        state: 'missing',
      },
    ],
  });
  assert.match((await hub('list')).out, /'hub install --frozen' restores what is missing/);
});

test('hub list: reports a folder that does not exist', async (t) => {
  const target = join(await tempDir(t), 'nothing');
  const { exitCode, error } = await inTerminal(['list', '--target', target]);
  assert.equal(exitCode, 3);
  assert.match(error, /^hub: The folder \S+\/nothing does not exist\.\n$/);
});

test('hub outdated, hub update: distinguish a newer version, changed content, and no change', async (t) => {
  const { server, hub, json, version, target } = await installed(t, 'growing');
  const state = async () => (await json('outdated')).answer.entities[0];
  assert.deepEqual(await state(), {
    id: `mcp_server:growing@1.0.0`,
    version: '1.0.0',
    newest: '1.0.0',
    state: 'current',
  });
  assert.match((await hub('outdated')).out, /^1 entity is up to date\.\n$/);
  const unchanged = await hub('update');
  assert.deepEqual([unchanged.exitCode, unchanged.out], [0, `Up to date: mcp_server:growing@1.0.0\n`]);

  await server.load([{ document: version('1.0.0', 'one', { summary: 'Reads more tables.' }) }]);
  assert.equal((await state()).state, 'newer content');
  const documents = [version('1.1.0', 'two'), version('2.0.0-beta.1', 'one')];
  await server.load(documents.map((document) => ({ document })));
  assert.deepEqual(await state(), {
    id: `mcp_server:growing@1.0.0`,
    version: '1.0.0',
    newest: '1.1.0',
    state: 'newer version',
  });
  assert.match((await hub('outdated')).out, /mcp_server:growing +1\.0\.0 +1\.1\.0 +newer version\n\n'hub update'/);

  const planned = (await hub('update', '--dry-run')).out;
  assert.equal(planned, 'Would update mcp_server:growing@1.1.0 from 1.0.0.\n     removes  vendor/one\n');
  const { exitCode, out, error } = await hub('update', 'growing');
  assert.equal(exitCode, 0, error);
  assert.match(out, /^Updated from 1\.0\.0 to 1\.1\.0:\n[\s\S]*Installed mcp_server:growing@1\.1\.0 in /);
  assert.equal(await readFile(join(target, 'vendor/two/a'), 'utf8'), 'two');
  assert.ok(!existsSync(join(target, 'vendor/one')), 'the earlier version was removed');
  assert.equal((await hub('update', 'other')).exitCode, 3);
});

test('hub outdated: says what to do about an entity that is not in the catalog', async (t) => {
  const { server, hub, json } = await installed(t, 'leaving');
  await server.removeEntity('mcp_server:leaving@1.0.0');
  assert.equal((await json('outdated')).answer.entities[0].state, 'not in the catalog');
  assert.match((await hub('outdated')).out, /not in the catalog\n\nTo update one .+, install its manifest again/);
});

test('hub update: never installs an older version', async (t) => {
  const { server, hub, version } = await installed(t, 'shrinking');
  await server.load([{ document: version('2.0.0', 'two') }]);
  assert.equal((await hub('update')).exitCode, 0);
  await server.removeEntity('mcp_server:shrinking@2.0.0');
  const { out } = await hub('update');
  assert.doesNotMatch(out, /1\.0\.0/);
  assert.match((await hub('list')).out, /mcp_server:shrinking +2\.0\.0/);
});

test('hub update: a version with another slug replaces the installed one', async (t) => {
  const { server, hub, json, version } = await installed(t, 'renamed');
  await server.load([{ document: version('1.1.0', 'two', { id: 'renamed.next' }) }]);
  const { exitCode, error } = await hub('update');
  assert.equal(exitCode, 0, error);
  const { answer } = await json('list');
  assert.deepEqual(
    answer.entities.map((each: { id: string; state: string }) => [each.id, each.state]),
    [[`mcp_server:renamed.next@1.1.0`, 'ok']],
  );
});

test('hub uninstall: removes everything except modified files', async (t) => {
  const { hub, target } = await installed(t);
  assert.equal((await hub('uninstall', 'other')).exitCode, 3);
  await writeFile(join(target, 'vendor/one/mine'), 'mine');
  const kept = await hub('uninstall', 'pdf-tables');
  assert.equal(kept.exitCode, 0, kept.error);
  assert.match(
    kept.out,
    /^removed {2}hub\.lock\.json\nkept {5}vendor\/one, which has changed .*\nUninstalled mcp_server:pdf-tables@1\.0\.0 from /,
  );
  assert.ok(existsSync(join(target, 'vendor/one/mine')));
  assert.ok(!existsSync(join(target, 'hub.lock.json')));

  await rm(join(target, 'vendor'), { recursive: true });
  assert.equal((await hub('install', 'pdf-tables')).exitCode, 0);
  await writeFile(join(target, 'vendor/one/mine'), 'mine');
  const forced = await hub('uninstall', 'pdf-tables', '--force');
  assert.match(forced.out, /^removed {2}vendor\/one\n/);
  assert.ok(!existsSync(join(target, 'vendor/one')));
});

test('hub uninstall: is refused when the entry in a client configuration was edited', async (t) => {
  const { server, hub, target, version } = await installed(t, 'launched');
  const exec = { cmd: ['node', 'a'] };
  await server.load([{ document: version('1.1.0', 'two', { mcp_registration: { server: { exec } } }) }]);
  assert.equal((await hub('install', 'launched', '--client', 'claude')).exitCode, 0);
  const file = join(target, '.mcp.json');
  const edited = (await readFile(file, 'utf8')).replace('"a"', '"a", "--mine"');
  await writeFile(file, edited);
  assert.match((await hub('list')).out, / changed .*'hub install --frozen' .* and with --force also what was changed/s);
  assert.equal((await hub('install', '--frozen')).exitCode, 1);
  assert.equal((await hub('install', '--frozen', '--force')).exitCode, 0);
  assert.match((await hub('list')).out, /launched +1\.1\.0 +ok/);
  await writeFile(file, edited);
  const again = await hub('install', 'launched');
  assert.match(again.error, /The entry 'launched' of '\.mcp\.json' has changed .* --force replaces it/);
  assert.match((await hub('uninstall', 'launched')).error, /'launched' of '\.mcp\.json' has changed .*--force/);
  const { out } = await hub('uninstall', 'launched', '--force');
  assert.match(out, /removed {2}\.mcp\.json\n(?:.*\n)*removed {2}\.hub\/bin\/launched\n/);
});

test('hub uninstall: of several entities, removes some although others are refused', async (t) => {
  const { server, hub, json, target, version } = await installed(t);
  const exec = { cmd: ['node', 'a'] };
  const other = version('1.0.0', 'two', { id: 'other', name: 'other', mcp_registration: { server: { exec } } });
  await server.load([{ document: other }]);
  assert.equal((await hub('install', 'other', '--client', 'claude')).exitCode, 0);
  const file = join(target, '.mcp.json');
  await writeFile(file, (await readFile(file, 'utf8')).replace('"a"', '"a", "--mine"'));
  const some = await hub('uninstall', 'other', 'pdf-tables');
  assert.equal(some.exitCode, 1);
  assert.match(
    some.out,
    /Uninstalled mcp_server:pdf-tables.*\n.*other@1\.0\.0' was not uninstalled\. .*--force removes it/,
  );
  assert.equal((await hub('install', 'pdf-tables')).exitCode, 0);
  const { exitCode, answer } = await json('uninstall', 'nothing', 'pdf-tables', 'other');
  const ids = answer.refused.map(({ id }: { id: string }) => id);
  assert.deepEqual(
    [exitCode, answer.ok, answer.reports.length, ids],
    [1, false, 1, ['nothing', 'mcp_server:other@1.0.0']],
  );
  assert.equal((await hub('uninstall', 'other', '--force')).exitCode, 0);
});

test('hub verify, hub install: an unreadable configuration is reported, with advice', async (t) => {
  const { server, hub, target, version } = await installed(t, 'configured');
  const exec = { cmd: ['node', 'a'] };
  await server.load([{ document: version('1.1.0', 'two', { mcp_registration: { server: { exec } } }) }]);
  const install = ['install', 'configured', '--client', 'claude'];
  assert.equal((await hub(...install)).exitCode, 0);
  await writeFile(join(target, '.mcp.json'), '{"mcpServers": {');
  assert.match(
    (await hub('verify')).out,
    /different .*\.mcp\.json +it is not plain JSON.*: fix it, or move it away and run/,
  );
  const [foreseen, refused] = [await hub(...install, '--dry-run'), await hub(...install)];
  assert.deepEqual([foreseen.exitCode, refused.exitCode], [1, 1]);
  assert.match(refused.error, /failed +adapters\.write .*Nothing was built\. '\.mcp\.json' cannot be changed/);
  await rm(join(target, '.mcp.json'));
  assert.equal((await hub('install', '--frozen')).exitCode, 0);
  assert.equal((await hub('verify')).exitCode, 0);
});

test('hub update --dry-run, hub install --dry-run: name what is removed', async (t) => {
  const { server, hub, target } = await installed(t);
  const registry = await startNpmRegistry(t);
  const load = async (version: string) => {
    registry.publish({ name: 'greeter', version, bin: { greeter: 'cli.js' }, files: { 'cli.js': version } });
    const spec = { registry: 'npm', package: 'greeter', version, registry_url: registry.host.origin };
    const artifacts = [{ kind: 'npm', spec }];
    await server.load([{ document: aManifest({ id: 'replaced', name: 'replaced', version, artifacts }) }]);
  };
  const folders = () => Array.fromAsync(glob('.hub/npm/*/*', { cwd: target }));
  await load('1.0.0');
  assert.equal((await hub('install', 'replaced')).exitCode, 0);
  const [old = ''] = await folders();
  assert.doesNotMatch((await hub('install', 'replaced', '--dry-run')).out, /removes/);
  assert.doesNotMatch((await hub('update', 'replaced', '--dry-run')).out, /removes/);
  await load('1.1.0');
  const [updated, planned] = [
    await hub('update', 'replaced', '--dry-run'),
    await hub('install', 'replaced', '--dry-run'),
  ];
  assert.equal(updated.out, `Would update mcp_server:replaced@1.1.0 from 1.0.0.\n     removes  ${old}\n`);
  assert.ok(planned.out.includes(`lockfile.write: hub.lock.json\n     removes  ${old}\n`), planned.out);
  assert.deepEqual(await folders(), [old]);
  assert.equal((await hub('update', 'replaced')).exitCode, 0);
  const left = await folders();
  assert.ok(left.length === 1 && !left.includes(old));
});

test('hub install --frozen: rebuilds a modified package and reports it', async (t) => {
  const { server, hub, target } = await installed(t);
  const registry = await startNpmRegistry(t);
  registry.publish({ name: 'greeter', version: '1.0.0', bin: { greeter: 'cli.js' }, files: { 'cli.js': '' } });
  const spec = { registry: 'npm', package: 'greeter', version: '1.0.0', registry_url: registry.host.origin };
  const artifacts = [{ kind: 'npm', spec }];
  await server.load([{ document: aManifest({ id: 'greeter', name: 'greeter', version: '1.0.0', artifacts }) }]);
  assert.equal((await hub('install', 'greeter')).exitCode, 0);
  const [path = ''] = await Array.fromAsync(glob('.hub/npm/*/*/node_modules/greeter/cli.js', { cwd: target }));
  await writeFile(join(target, path), 'changed');
  assert.match((await hub('verify')).out, /different .*the folder was changed; 'hub install --frozen' rebuilds it/);
  const { error } = await hub('install', '--frozen');
  assert.match(
    error,
    /ok +npm\.install .*: '\.hub\/npm\/.*' has changed since it was installed, and was built again\./,
  );
  assert.equal(await readFile(join(target, path), 'utf8'), '');
  const file = join(target, 'hub.lock.json');
  await writeFile(file, (await readFile(file, 'utf8')).replaceAll(/sha512-\w{8}/g, 'sha512-00000000'));
  assert.match(
    (await hub('verify')).out,
    /does not say exactly what 'npm install greeter@1\.0\.0.*' installs\. Install once without/,
  );
  assert.equal((await hub('install', 'greeter')).exitCode, 0);
  assert.equal((await hub('verify')).exitCode, 0);
});

test('hub install --frozen: refuses an edited lockfile, with advice that works', async (t) => {
  const { hub, target } = await installed(t);
  const file = join(target, 'hub.lock.json');
  await writeFile(file, (await readFile(file, 'utf8')).replace(/("tree": "sha256:)\w{8}/, '$100000000'));
  const refused = await hub('install', '--frozen');
  assert.equal(refused.exitCode, 1);
  assert.match(
    refused.error,
    /is not what hub\.lock\.json says\. Restore .*, or uninstall the entity and install it again/,
  );
  assert.equal((await hub('uninstall', 'pdf-tables', '--force')).exitCode, 0);
  assert.equal((await hub('install', 'pdf-tables')).exitCode, 0);
  assert.equal((await hub('verify')).exitCode, 0);
});

test('hub list, hub verify: an unreadable lockfile is reported, with advice', async (t) => {
  const { hub, target } = await installed(t);
  await writeFile(join(target, 'hub.lock.json'), '{"version": 1, "entities": [{"id": 7}]}');
  for (const command of ['list', 'verify']) {
    const { exitCode, error } = await hub(command);
    assert.notEqual(exitCode, 0);
    assert.ok(error.startsWith(`hub: The lockfile hub.lock.json in ${target} cannot be read, because `), error);
    assert.match(error, /\$\.entities\.0\.id must be a string.* Fix it or move it away/);
  }
});

test('hub install does not report unchanged files as written; hub verify reports a change with exit code 1, even with --quiet', async (t) => {
  const { hub, json, target } = await installed(t);
  assert.doesNotMatch((await hub('install', 'pdf-tables')).out, /wrote/);
  const same = await hub('verify');
  assert.equal(same.exitCode, 0);
  assert.match(same.out, /^OUTCOME +ENTITY +WHAT +WHERE +WHY\nsame +mcp_server:pdf-tables@1\.0\.0 +zip +vendor\/one/);
  await writeFile(join(target, 'vendor/one/a'), 'changed');
  assert.equal((await hub('verify')).exitCode, 1);
  const quiet = await hub('verify', '--quiet');
  assert.deepEqual([quiet.exitCode, quiet.out], [1, '']);
  assert.match(quiet.error, /do not match hub\.lock\.json/);
  const { exitCode, answer } = await json('verify');
  assert.deepEqual([exitCode, answer.ok, answer.checks[0].outcome], [1, false, 'different']);
});
