import assert from 'node:assert/strict';
import { chmod, mkdtemp, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { test } from 'node:test';
import { meaningFinding, modelFinding } from '../../../src/cli/doctor/diagnosis-findings.ts';
import type { Diagnosis as Diagnosed } from '../../../src/hub/operations.ts';
import type { SearchPage } from '../../../src/search/contract.ts';
import { atEnd } from '../../support/at-end.ts';
import { aManifest } from '../../support/builders.ts';
import { tempDir } from '../../support/databases/databases.ts';
import { testHub } from '../../support/hub.ts';
import { startFakeGateway } from '../../support/servers/fake-gateway.ts';
import { startIndexServer } from '../../support/servers/index-server.ts';
import { startLlm } from '../../support/servers/llm-server.ts';
import { unusedAddress } from '../../support/servers/unused-address.ts';
import { testBothWays } from '../hubs.ts';
import { inTerminal } from '../terminal/in-terminal.ts';

interface Diagnosis {
  ok: boolean;
  findings: { subject: string; outcome: string; found: string; advice?: string }[];
}

async function diagnose(environment: Record<string, string>) {
  const { exitCode, out } = await inTerminal(['doctor', '--json'], { environment });
  const { ok, findings } = JSON.parse(out) as Diagnosis;
  return { exitCode, ok, about: Object.fromEntries(findings.map(({ subject, ...finding }) => [subject, finding])) };
}

let endpoint: ReturnType<typeof startIndexServer> | undefined;
/** An embedding endpoint that refuses at once: for checks that need no model. */
async function withoutModel() {
  endpoint ??= startIndexServer(atEnd);
  return { EMBEDDING_BASE_URL: (await endpoint).url('/v1'), EMBEDDING_MODEL: 'none' };
}

const ownModel = { EMBEDDING_BASE_URL: '', EMBEDDING_MODEL: '' };
testBothWays(
  'hub doctor: reports on every check',
  { settings: ownModel, manifests: [aManifest()] },
  async (_t, reached) => {
    const { exitCode, out } = await reached.hub('doctor');
    assert.equal(exitCode, 0, out);
    const subjects = out.match(/^\w+ +(\w+)/gm)?.map((line) => line.split(/ +/)[1]);
    const local = [
      'database',
      'catalog',
      'gateway',
      'model',
      'remotes',
      'protection',
      'git',
      'python',
      'npm',
      'containers',
    ];
    const server = ['hub', 'database', 'token', 'catalog', 'gateway', 'model', 'remotes'];
    assert.deepEqual(subjects, reached.way === 'in process' ? local : server);
    assert.match(out, /^ok +catalog +1 entity$/m);
    assert.match(out, /^warning +gateway +not configured\n +Servers stay pending\. Set MCP_GATEWAY_URL/m);
  },
);

test('hub doctor: shows advice for each failure, with exit code 1', async (t) => {
  const host = await startIndexServer(t);
  host.put('/index.json', { manifests: [] });
  const database = { DB_PATH: join(await tempDir(t), 'c.sqlite'), ...(await withoutModel()) };
  const environment = { ...database, HUB_REMOTES: `${host.url('/index.json')} ${host.url('/gone.json')}` };
  await inTerminal(['sync'], { environment });
  const gateway = await startFakeGateway(t);
  const wrongToken = { MCP_GATEWAY_URL: gateway.url, MCP_GATEWAY_TOKEN: 'wrong' };
  const { exitCode, ok, about } = await diagnose({ ...environment, ...wrongToken, HOST: '0.0.0.0', PATH: '/nowhere' });
  assert.deepEqual([exitCode, ok], [1, false]);
  assert.partialDeepStrictEqual(about.gateway, { outcome: 'failed' });
  assert.match(about.gateway?.advice ?? '', /MCP_GATEWAY_TOKEN/);
  assert.deepEqual(about.git, {
    outcome: 'warning',
    found: 'no working git on the PATH',
    advice: 'Needed only for git artifacts: install git.',
  });
  assert.equal(about.catalog?.found, 'empty');
  assert.match(about.protection?.advice ?? '', /API_TOKEN/);
  assert.match(about.remotes?.found ?? '', /\/gone\.json: .*404/);
  const down = await diagnose({ ...database, MCP_GATEWAY_URL: await unusedAddress(), MCP_GATEWAY_TOKEN: 'x' });
  assert.match(down.about.gateway?.advice ?? '', /Check that it is running/);
  const secret = { MCP_GATEWAY_URL: gateway.url, JWT_SECRET_KEY: gateway.secret };
  const well = (await diagnose({ ...database, ...secret })).about.gateway;
  assert.equal(well?.outcome, 'ok');
  assert.match(well?.found ?? '', /^\d+\.\d+\S*: responds, and accepts the token$/);
});

test('hub doctor, hub search: report an interrupt, with exit code 130', async (t) => {
  const environment = { DB_PATH: join(await tempDir(t), 'c.sqlite') };
  await inTerminal(['remotes', 'add', 'https://catalog.example.org/index.json'], { environment });
  for (const args of [['doctor'], ['search', 'pdf']]) {
    const stopping = new AbortController();
    const stopped = inTerminal(args, { environment, shutdown: stopping.signal });
    setImmediate(() => stopping.abort());
    assert.deepEqual(await stopped, { exitCode: 130, out: '', error: 'hub: Stopped before it was done.\n' });
  }
});

test('hub doctor: semantic search that is not ready is reported, with advice', async () => {
  const degraded = 'Embeddings are ready for 3 of 90 texts. The rest are matched by keyword.';
  const search = async () => ({ items: [], total: 0, degraded }) as unknown as SearchPage;
  const { outcome, found, advice = '' } = await meaningFinding({ search });
  assert.deepEqual([outcome, found], ['warning', degraded]);
  assert.match(advice, /check again in a minute/);
});

test('hub doctor: the advice for a damaged database is to restore a backup', async (t) => {
  const folder = await tempDir(t);
  const path = join(folder, 'catalog.sqlite');
  const database = new DatabaseSync(path);
  database.exec('create table a (b)');
  database.close();
  // The schema, after the header of the file.
  await writeFile(path, (await readFile(path)).fill(7, 100));
  const { about } = await diagnose({ ...(await withoutModel()), DATA_DIR: folder, PATH: process.env.PATH ?? '' });
  assert.match(about.database?.found ?? '', /cannot be used/);
  assert.match(about.database?.advice ?? '', /damaged or not a database\. Restore a backup/);
});

test('hub doctor: an unusable database does not hide the other checks', async (t) => {
  const folder = await tempDir(t);
  await writeFile(
    join(folder, 'catalog.sqlite'),
    'no database at all, only text that is long enough to be read as one',
  );
  const { exitCode, about } = await diagnose({
    ...(await withoutModel()),
    DATA_DIR: folder,
    PATH: process.env.PATH ?? '',
  });
  assert.equal(exitCode, 1);
  assert.match(about.database?.found ?? '', /cannot be used/);
  assert.match(
    about.database?.advice ?? '',
    /damaged or not a database\. Restore a backup, or move \S+catalog\.sqlite/,
  );
  assert.equal(about.npm?.outcome, 'ok');
});

test('hub doctor: runs programs for their version; one that fails, or a client without an engine, does not count', async (t) => {
  const folder = await tempDir(t);
  const found = async (scripts: Record<string, string>) => {
    const bin = await mkdtemp(join(folder, 'bin-'));
    for (const [name, script] of Object.entries(scripts)) {
      await writeFile(join(bin, name), `#!/bin/sh\n${script}\n`);
      await chmod(join(bin, name), 0o755);
    }
    return (await diagnose({ DATA_DIR: join(folder, 'data'), PATH: bin, ...(await withoutModel()) })).about;
  };
  const client = 'if [ "$1" = --version ]; then echo Docker version 9; else echo no daemon >&2; exit 1; fi';
  const alone = await found({ git: 'echo git version 9.9', npm: 'exit 1', docker: client });
  assert.deepEqual(alone.git, { outcome: 'ok', found: 'git version 9.9' });
  assert.equal(alone.npm?.outcome, 'warning');
  assert.deepEqual(alone.containers, {
    outcome: 'warning',
    found: 'Docker version 9, but no engine responds',
    advice: 'Only the digest of container images is recorded; to pull and run them, start the engine.',
  });
  const engine = 'if [ "$1" = --version ]; then echo podman version 5; else echo 5.1; fi';
  const both = await found({ docker: client, podman: engine, skopeo: 'echo skopeo version 1' });
  assert.deepEqual(both.containers, {
    outcome: 'ok',
    found: 'Docker version 9, but no engine responds; podman version 5, engine 5.1; skopeo version 1',
  });
  const { containers } = await found({ skopeo: 'echo skopeo version 1' });
  assert.deepEqual([containers?.outcome, containers?.found], ['warning', 'skopeo version 1']);
  assert.match(containers?.advice ?? '', /Only the digest .* install docker or podman/);
});

test('hub doctor: without a catalog says so, and creates none', async (t) => {
  const folder = await tempDir(t);
  const { exitCode, about } = await diagnose({ DATA_DIR: folder, PATH: process.env.PATH ?? '' });
  assert.deepEqual([exitCode, about.database?.outcome, about.npm?.outcome], [0, 'warning', 'ok']);
  assert.match(about.database?.found ?? '', /no catalog yet$/);
  assert.match(about.database?.advice ?? '', /^'hub serve' creates it\./);
  assert.equal(about.catalog?.outcome, 'warning');
  assert.match(about.catalog?.found ?? '', /the gateway, the models and the remotes were not checked$/);
  assert.deepEqual(await readdir(folder), []);
});

test('hub doctor: a folder that cannot be created is a failure with its reason', async (t) => {
  const file = join(await tempDir(t), 'file');
  await writeFile(file, '');
  const { exitCode, about } = await diagnose({ DATA_DIR: join(file, 'data'), PATH: '/nowhere' });
  assert.deepEqual([exitCode, about.database?.outcome], [1, 'failed']);
  assert.match(about.database?.found ?? '', /^no catalog yet, and none can be created: ENOTDIR: .*file/);
  assert.match(about.database?.advice ?? '', /DB_PATH and DATA_DIR are correct/);
});

test('hub doctor: names model servers that do not answer', async (t) => {
  const address = await unusedAddress();
  const settings = {
    ...{ EMBEDDING_BASE_URL: `${address}/v1`, EMBEDDING_MODEL: 'e', LLM_BASE_URL: `${address}/v1`, LLM_MODEL: 'l' },
    API_TOKEN: 'secret',
  };
  const { listen } = await testHub(t, { settings });
  const { about } = await diagnose({ HUB_URL: await listen(), HUB_TOKEN: 'secret' });
  assert.match(about.model?.found ?? '', /endpoint could not be reached/);
  assert.match(
    about.model?.advice ?? '',
    /^Search uses keywords only\. If EMBEDDING_BASE_URL is set, check that its server/,
  );
  assert.deepEqual([about.llm?.outcome, about.llm?.found.startsWith('the language model ')], ['warning', true]);
  assert.match(about.llm?.advice ?? '', /server at LLM_BASE_URL is running/);
});

test('hub doctor: a language model that answers is ok', async (t) => {
  const llm = await startLlm(t);
  llm.answer(() => '{"ok": true}');
  const settings = { LLM_BASE_URL: llm.baseUrl, LLM_MODEL: 'large', ...(await withoutModel()) };
  const { listen } = await testHub(t, { settings });
  const { about } = await diagnose({ HUB_URL: await listen() });
  assert.deepEqual(about.llm, { outcome: 'ok', found: 'the language model large answers' });
});

test('hub doctor: names the model in use, and why it is a fallback', () => {
  const finding = (model: Diagnosed['model']) => modelFinding({ gateway: { outcome: 'not configured' }, model });
  const ok = finding({ outcome: 'ok', model: 'catalog-encoder-1' });
  assert.deepEqual(ok, { outcome: 'ok', found: 'catalog-encoder-1: semantic search works' });
  const fallback = finding({ outcome: 'fallback', model: 'catalog-static-1', reason: 'no library' });
  assert.equal(fallback.outcome, 'warning');
  assert.match(fallback.found, /^catalog-static-1, the static model, .*: no library$/);
  assert.match(fallback.advice ?? '', / Then restart the hub: it keeps the model that it started with\.$/);
  assert.equal(finding({ outcome: 'unavailable', reason: 'no file' }).outcome, 'warning');
});

test('hub doctor --hub: checks the gateway only with the token, and says so', async (t) => {
  const gateway = await startFakeGateway(t);
  const settings = {
    ...(await withoutModel()),
    API_TOKEN: 'secret',
    MCP_GATEWAY_URL: gateway.url,
    MCP_GATEWAY_TOKEN: 'wrong',
  };
  const { hub, listen } = await testHub(t, { settings });
  const environment = { HUB_URL: await listen() };
  const stranger = await diagnose(environment);
  assert.deepEqual([stranger.about.gateway?.outcome, stranger.about.token?.outcome], ['warning', 'warning']);
  assert.match(stranger.about.gateway?.found ?? '', /not tested/);
  const { token } = await hub.createToken({ name: 'build', role: 'reader', scope: [] });
  const reader = await diagnose({ ...environment, HUB_TOKEN: token });
  assert.deepEqual(
    [reader.about.gateway?.found, reader.about.token?.found],
    [stranger.about.gateway?.found, 'its role may not operate the hub'],
  );
  const operator = await diagnose({ ...environment, HUB_TOKEN: 'secret' });
  assert.equal(operator.about.gateway?.outcome, 'failed');
  assert.match(operator.about.gateway?.found ?? '', /^The gateway answered 401/);
});

test('hub doctor --hub: an unreachable hub is exit code 5; an invalid local setting is 2', async () => {
  const away = await inTerminal(['doctor', '--hub', await unusedAddress()]);
  assert.equal(away.exitCode, 5);
  assert.match(away.error, /nothing listens there/);
  const wrong = await inTerminal(['doctor'], { environment: { PORT: 'http' } });
  assert.deepEqual(
    [wrong.exitCode, wrong.error],
    [2, "hub: PORT is 'http', but must be a whole number from 0 to 65535.\n"],
  );
});

test('hub doctor: changes only what its help says', async (t) => {
  const environment = { DB_PATH: join(await tempDir(t), 'c.sqlite'), ...(await withoutModel()) };
  await inTerminal(['remotes', 'add', await unusedAddress()], { environment });
  const state = async () => (await inTerminal(['remotes', 'list', '--json'], { environment })).out;
  const before = await state();
  await inTerminal(['doctor'], { environment });
  assert.equal(await state(), before);
  const { out } = await inTerminal(['doctor', '--help'], { columns: 10_000 });
  assert.match(
    out,
    /does not create a database or change entities or remotes\. .*upgrades an older database and computes missing embeddings\./,
  );
});
