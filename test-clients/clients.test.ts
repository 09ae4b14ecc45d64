// Real clients against the hub: they find exactly what the hub has.
import assert from 'node:assert/strict';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { parse } from 'yaml';
import { manifestFromAgentCard } from '../src/registry/agent-card.ts';
import { OFFICIAL_META, type ServerResponse } from '../src/registry/contract.ts';
import { tempDir } from '../test/support/databases/databases.ts';
import { anAgentCard } from '../test/support/servers/agent-card.ts';
import { walk } from './compare.ts';
import { ardTester, type Client, installClients, langchain4jClasses, moduleOf, programOf } from './install-clients.ts';
import { manifests, printed, servedHub } from './served-hub.ts';
import { SERVERS } from './servers.ts';
import { openGallery } from './vscode.ts';

const NOTES = 'org.example.notes/notes';
const missing = await installClients();
const unless = (client: Client) => ({ skip: missing.get(client) ?? false });

describe('VS Code', unless('vscode'), () => {
  test('VS Code: lists, searches, pages and finds by name', async (t) => {
    const { url } = await servedHub(t, { manifests: manifests() });
    const { gallery, requests } = await openGallery(url);

    const pager = await gallery.query({ text: 'station' });
    const second = await pager.getNextPage({ isCancellationRequested: false });
    const names = [...pager.firstPage.items, ...second.items].map(({ name }) => name);
    const expected = Array.from(
      { length: 60 },
      (_, index) => `com.example.weather/station-${`${index + 1}`.padStart(2, '0')}`,
    );
    assert.equal(pager.firstPage.items.length, 50);
    assert.deepEqual(names.slice(0, 60), expected);
    assert.ok(
      requests.some((path) => path.includes('cursor=') && !path.includes('search=')),
      'page 2 has no search parameter',
    );

    const found = await gallery.getMcpServersFromGallery([{ name: NOTES }, { name: 'org.example/unknown' }]);
    const [{ displayName, version, status, isLatest, configuration } = assert.fail()] = found;
    assert.deepEqual(
      [found.length, displayName, version, status, isLatest],
      [1, 'Team Notes', '2.0.0-beta.1', 'active', true],
    );
    assert.equal(configuration.packages?.[0]?.identifier, '@example/notes-mcp');
    assert.equal(configuration.remotes?.[0]?.url, 'https://mcp.notes.example.org/2.0.0-beta.1');
  });

  test('VS Code: a view shows only its servers', async (t) => {
    const { url, hub } = await servedHub(t, { manifests: manifests() });
    await hub.saveView({ name: 'team', description: '', names: ['com.acme/*'], approved: false });
    const { gallery } = await openGallery(`${url}/registry/team`);
    const { firstPage } = await gallery.query({ text: '' });
    assert.deepEqual(
      firstPage.items.map(({ name }) => name),
      ['com.acme/bundle', 'com.acme/crm', 'com.acme/search'],
    );
    assert.deepEqual(await gallery.getMcpServersFromGallery([{ name: NOTES }]), []);
  });
});

test('apm: searches, shows and lists', unless('apm'), async (t) => {
  const { url } = await servedHub(t, { manifests: manifests() });
  const home = await tempDir(t);
  const apm = (...words: string[]) =>
    printed(programOf('apm', 'apm'), ['mcp', ...words], {
      HOME: home,
      MCP_REGISTRY_URL: url,
      MCP_REGISTRY_ALLOW_HTTP: '1',
    });
  assert.match(await apm('search', 'notes'), /org\.example\.notes\/notes/);
  assert.match(await apm('show', NOTES), /@example\/notes-mcp/);
  assert.match(await apm('list'), /com\.acme\/crm/);
});

describe('ToolHive', () => {
  // The calls of `thv` and of ToolHive's registry server, in order.
  test('ToolHive: its calls find all servers of a view', async (t) => {
    const { url, hub } = await servedHub(t, { manifests: manifests() });
    await hub.saveView({ name: 'team', description: '', names: ['com.acme/*', NOTES], approved: false });
    const view = `${url}/registry/team`;
    const { info } = parse(await (await fetch(`${view}/openapi.yaml`)).text());
    assert.equal(info.version, '1.0.0');
    assert.match(info.description, /https:\/\/github\.com\/modelcontextprotocol\/registry/);
    assert.deepEqual(await walk(`${view}/v0.1/servers?limit=1&version=latest`), [
      'com.acme/bundle@1.0.0',
      'com.acme/crm@3.1.4',
      'com.acme/search@1.2.0',
      `${NOTES}@2.0.0-beta.1`,
    ]);
    assert.equal((await walk(`${view}/v0.1/servers?limit=100`)).length, 7, 'all versions');
    const one = await fetch(`${view}/v0.1/servers/${encodeURIComponent(NOTES)}/versions/latest`);
    assert.match(one.headers.get('content-type') ?? '', /^application\/json/);
    assert.equal(((await one.json()) as ServerResponse).server.version, '2.0.0-beta.1');
    assert.equal((await walk(`${view}/v0.1/servers?search=notes&version=latest`))[0], `${NOTES}@2.0.0-beta.1`);
  });

  test('ToolHive: lists, searches and shows the servers of a view', unless('toolhive'), async (t) => {
    const { url, hub } = await servedHub(t, { manifests: manifests() });
    await hub.saveView({ name: 'team', description: '', names: ['com.acme/*', NOTES], approved: false });
    const home = await tempDir(t);
    const thv = (...words: string[]) =>
      printed('thv', words, { HOME: home, XDG_CONFIG_HOME: home, TOOLHIVE_SKIP_UPDATE_CHECK: 'true' });
    // The file that `thv config set-registry` writes; the command itself needs a container runtime.
    const settings = `registry_api_url: ${url}/registry/team\nallow_private_registry_ip: true\n`;
    await mkdir(join(home, 'toolhive'));
    await writeFile(join(home, 'toolhive', 'config.yaml'), settings);
    assert.match(await thv('registry', 'list'), /org\.example\.notes\/notes/);
    assert.match(await thv('search', 'notes'), /org\.example\.notes\/notes/);
    assert.match(await thv('registry', 'info', NOTES), /https:\/\/mcp\.notes\.example\.org/);
  });
});

test('LangChain4j: calls both versions of the protocol', unless('langchain4j'), async (t) => {
  const { url } = await servedHub(t, { manifests: manifests() });
  const driver = join(import.meta.dirname, 'drivers', 'Langchain4j.java');
  const lines = (await printed('java', ['-cp', langchain4jClasses(), driver, url, 'notes', NOTES])).split('\n');
  for (const line of [
    'health ok',
    'ping true',
    `found ${NOTES} 2.0.0-beta.1`,
    'second page 10',
    'details 2.0.0-beta.1',
  ])
    assert.ok(lines.includes(line), `${line} in\n${lines.join('\n')}`);
  assert.deepEqual(lines.filter((line) => line.startsWith('version ')).length, 4);
  assert.ok(lines.includes('one 1.9.0 active'));
  assert.ok(lines.includes('package @example/notes-mcp'));
});

test('mcp-publisher: validates, publishes and changes the status', unless('go'), async (t) => {
  const { url } = await servedHub(t, { settings: { API_TOKEN: 'a-token-of-the-tester' } });
  const folder = await tempDir(t);
  const file = join(folder, 'server.json');
  await writeFile(file, JSON.stringify(SERVERS.find(({ name }) => name === NOTES)));
  const publisher = (...words: string[]) => printed(programOf('go', 'publisher'), words, { HOME: folder });
  const status = async () => {
    const reply = await fetch(`${url}/v0.1/servers/${encodeURIComponent(NOTES)}/versions/1.0.0`);
    const { _meta } = (await reply.json()) as ServerResponse;
    return _meta[OFFICIAL_META]?.status;
  };

  await publisher('login', 'github', '--token', 'a-token-of-the-tester', '--registry', url);
  await publisher('validate', file);
  await publisher('publish', file);
  assert.equal(await status(), 'active');
  await publisher('status', '--status', 'deprecated', '--message', 'Use another one.', NOTES, '1.0.0');
  assert.equal(await status(), 'deprecated');
  await assert.rejects(publisher('publish', file), /409/);
});

for (const version of ['1.0', '0.3'] as const) {
  test(`a2a-sdk: reads a card of version ${version} below the address of an agent`, unless('a2a'), async (t) => {
    const address = { url: 'https://travel.example.org/a2a', preferredTransport: 'JSONRPC', protocolVersion: '0.3.0' };
    const card = anAgentCard(version === '1.0' ? {} : { supportedInterfaces: undefined, ...address });
    const { url } = await servedHub(t, { manifests: [manifestFromAgentCard(card)] });
    const items = ((await (await fetch(`${url}/ard/agents`)).json()) as { items: { url: string }[] }).items;
    const base = items[0]?.url.replace('/.well-known/agent-card.json', '') ?? '';
    const driver = join(import.meta.dirname, 'drivers', 'a2a_card.py');
    const read = JSON.parse(await printed(programOf('a2a', 'python'), [driver, base]));
    assert.partialDeepStrictEqual(read, {
      name: 'Travel Planner',
      version: '1.2.0',
      capabilities: { streaming: true },
    });
    assert.equal(read.supportedInterfaces[0].url, 'https://travel.example.org/a2a');
    assert.equal(read.skills[0].id, 'plan');
  });
}

describe('ARD', () => {
  test('hf-discover: searches, and discovers the search endpoint', unless('hf-discover'), async (t) => {
    const { url } = await servedHub(t, { manifests: manifests() });
    const home = await tempDir(t);
    const discover = (...words: string[]) => printed(programOf('hf-discover', 'hf-discover'), words, { HOME: home });
    const { results } = JSON.parse(
      await discover('search', 'read pdf files', '--registry-url', `${url}/ard`, '--json'),
    );
    assert.equal(results[0].identifier, 'urn:air:pdf.example.org:mcp:reader');
    assert.match(await discover('navigate', url, 'notes of a team'), / 1 │ .* Team Notes /);
  });

  test('Lighthouse: both well-known documents pass', unless('lighthouse'), async (t) => {
    const { url } = await servedHub(t, { manifests: manifests() });
    const { ConformanceTester } = await import(
      pathToFileURL(moduleOf('lighthouse', 'lighthouse/third-party/ard/ard.js')).href
    );
    for (const file of ['ard.json', 'ai-catalog.json']) {
      const tester = new ConformanceTester();
      await tester.validate_manifest(await (await fetch(`${url}/.well-known/${file}`)).text(), file);
      assert.deepEqual([tester.errors, tester.warnings], [[], []], file);
    }
  });

  test('the conformance tester: the document and the registry pass', unless('ard'), async (t) => {
    const { url } = await servedHub(t, { manifests: manifests() });
    for (const words of [
      ['manifest', `${url}/.well-known/ai-catalog.json`],
      ['registry', `${url}/ard`],
    ]) {
      const report = await printed('python3', [ardTester(), ...words]);
      assert.doesNotMatch(report, /✗/, report);
    }
  });
});
