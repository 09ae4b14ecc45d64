import assert from 'node:assert/strict';
import { chmod, mkdir, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { aManifest } from '../../support/builders.ts';
import { tempDir } from '../../support/databases.ts';
import { startFakeGateway } from '../../support/fake-gateway.ts';
import { startIndexServer } from '../../support/index-server.ts';
import { unusedAddress } from '../../support/unused-address.ts';
import { testBothWays } from '../hubs.ts';
import { inTerminal } from '../in-terminal.ts';

interface Diagnosis {
  ok: boolean;
  findings: { subject: string; outcome: string; found: string; advice?: string }[];
}

async function diagnose(environment: Record<string, string>) {
  const { exitCode, out } = await inTerminal(['doctor', '--json'], { environment });
  const { ok, findings } = JSON.parse(out) as Diagnosis;
  return { exitCode, ok, about: Object.fromEntries(findings.map(({ subject, ...finding }) => [subject, finding])) };
}

testBothWays('hub doctor: says of everything what it found', { manifests: [aManifest()] }, async (_t, reached) => {
  const { exitCode, out } = await reached.hub('doctor');
  assert.equal(exitCode, 0, out);
  const subjects = out.match(/^\w+ +(\w+)/gm)?.map((line) => line.split(/ +/)[1]);
  const local = [
    'database',
    'catalog',
    'gateway',
    'model',
    'protection',
    'git',
    'python',
    'npm',
    'containers',
    'network',
  ];
  const server = ['hub', 'database', 'catalog', 'token', 'gateway', 'model', 'remotes'];
  assert.deepEqual(subjects, reached.way === 'in process' ? local : server);
  assert.match(out, /^ok +catalog +1 entity$/m);
  assert.match(out, /^warning +gateway +not configured\n +Servers stay pending\. Set MCP_GATEWAY_URL/m);
});

test('hub doctor: what fails is told with what to do, and exit code 1', async (t) => {
  const host = await startIndexServer(t);
  host.put('/index.json', { manifests: [] });
  const database = { DB_PATH: join(await tempDir(t), 'c.sqlite') };
  const environment = { ...database, HUB_REMOTES: `${host.url('/index.json')} ${host.url('/gone.json')}` };
  await inTerminal(['remotes', 'list'], { environment });
  const gateway = await startFakeGateway(t);
  const wrongToken = { MCP_GATEWAY_URL: gateway.url, MCP_GATEWAY_TOKEN: 'wrong' };
  const { exitCode, ok, about } = await diagnose({ ...environment, ...wrongToken, HOST: '0.0.0.0', PATH: '/nowhere' });
  assert.deepEqual([exitCode, ok], [1, false]);
  assert.partialDeepStrictEqual(about.gateway, { outcome: 'failed' });
  assert.match(about.gateway?.advice ?? '', /MCP_GATEWAY_TOKEN/);
  assert.deepEqual(about.git, {
    outcome: 'warning',
    found: 'no git that works on the PATH',
    advice: 'Needed for artifacts of the kind git only: install git.',
  });
  assert.equal(about.catalog?.found, 'empty');
  assert.match(about.protection?.advice ?? '', /API_TOKEN/);
  const down = await diagnose({ ...database, MCP_GATEWAY_URL: await unusedAddress(), MCP_GATEWAY_TOKEN: 'x' });
  assert.match(down.about.gateway?.advice ?? '', /See whether it runs/);
  const secret = { MCP_GATEWAY_URL: gateway.url, JWT_SECRET_KEY: gateway.secret };
  assert.equal((await diagnose({ ...database, ...secret })).about.gateway?.outcome, 'ok');
});

test('hub doctor: a remote that cannot be reached is named', async (t) => {
  const host = await startIndexServer(t);
  host.put('/large.json', 'x'.repeat(200_000));
  const folder = await tempDir(t);
  const gone = host.url('/gone.json');
  const bad = await diagnose({ DATA_DIR: folder, HUB_REMOTES: `${host.url('/large.json')} ${gone}` });
  assert.deepEqual([bad.exitCode, bad.about.network?.found], [1, `${gone} answered 404`]);
  const good = await diagnose({ DATA_DIR: folder, HUB_REMOTES: host.url('/large.json') });
  assert.deepEqual([good.exitCode, good.about.network?.found], [0, '1 remote can be reached']);
  assert.deepEqual(await readdir(folder), [], 'and no database was made by looking');
});

test('hub doctor: a database that cannot be used does not hide the rest', async (t) => {
  const folder = await tempDir(t);
  await writeFile(
    join(folder, 'catalog.sqlite'),
    'no database at all, only text that is long enough to be read as one',
  );
  const { exitCode, about } = await diagnose({ DATA_DIR: folder, PATH: process.env.PATH ?? '' });
  assert.equal(exitCode, 1);
  assert.match(about.database?.found ?? '', /cannot be used/);
  assert.equal(about.npm?.outcome, 'ok');
});

test('hub doctor: programs are asked for their version, and one that does not work does not count', async (t) => {
  const folder = await tempDir(t);
  await mkdir(join(folder, 'bin'));
  const program = async (name: string, script: string) => {
    await writeFile(join(folder, 'bin', name), `#!/bin/sh\n${script}\n`);
    await chmod(join(folder, 'bin', name), 0o755);
  };
  await program('git', 'echo git version 9.9');
  await program('npm', 'exit 1');
  const { about } = await diagnose({ DATA_DIR: join(folder, 'data'), PATH: join(folder, 'bin') });
  assert.deepEqual(about.git, { outcome: 'ok', found: 'git version 9.9' });
  assert.equal(about.npm?.outcome, 'warning');
});

test('hub doctor --hub: nobody there is exit code 5; a wrong setting of the local hub is 2', async () => {
  const away = await inTerminal(['doctor', '--hub', await unusedAddress()]);
  assert.equal(away.exitCode, 5);
  assert.match(away.error, /nothing listens there/);
  const wrong = await inTerminal(['doctor'], { environment: { PORT: 'http' } });
  assert.deepEqual(
    [wrong.exitCode, wrong.error],
    [2, "hub: PORT is 'http', but must be a whole number from 0 to 65535.\n"],
  );
});
