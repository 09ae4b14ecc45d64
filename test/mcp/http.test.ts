// The official client against a real hub, over streamable HTTP.
import assert from 'node:assert/strict';
import { request as httpRequest } from 'node:http';
import { test } from 'node:test';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import type { Environment } from '../../src/config.ts';
import { searchQuery } from '../../src/search/search-query.ts';
import { rawZip } from '../install/artifacts/raw-archives.ts';
import { aManifest } from '../support/builders.ts';
import { type Ending, tempDir } from '../support/databases/databases.ts';
import { testHub } from '../support/hub.ts';
import { caughtUp } from '../support/search/caught-up.ts';
import { startIndexServer } from '../support/servers/index-server.ts';
import { shared } from '../support/shared.ts';

const TOKEN = 'operators-only-0123456789';
const MANIFESTS = [
  aManifest({
    artifacts: [
      { kind: 'zip', spec: { url: 'https://me:very-secret@zip.example.org/a.zip', env: { KEY: 'very-secret' } } },
    ],
    mcp_registration: {
      server: {
        url: 'https://me:very-secret@pdf.example.org/sse?page=1&api_key=very-secret',
        transport: 'SSE',
        auth_token: 'very-secret',
        headers: { 'X-Team': 'very-secret' },
      },
    },
  }),
  aManifest({ type: 'tool', id: 'weather', name: 'weather', title: 'Weather', summary: 'Forecasts for any place.' }),
  aManifest({ id: 'owner/slashed', name: 'owner/slashed', title: 'Slashed', summary: 'Has a slash in its id.' }),
];

interface Connection {
  token?: string;
  settings?: Environment;
  manifests?: typeof MANIFESTS;
}

async function connected(t: Ending, { token, settings, manifests = MANIFESTS }: Connection = {}) {
  const { listen, hub } = await testHub(t, { manifests, settings });
  const url = new URL('/mcp', await listen());
  const client = new Client({ name: 'test', version: '1.0.0' });
  const headers: Record<string, string> = token ? { authorization: `Bearer ${token}` } : {};
  await client.connect(new StreamableHTTPClientTransport(url, { requestInit: { headers } }));
  t.after(() => client.close());
  return { client, hub, url };
}

/** Nothing is added to its catalog. */
const readOnly = shared(async (t) => {
  const connection = await connected(t);
  await caughtUp(() => connection.hub.search(searchQuery({ text: 'pdf', mode: 'keyword' })));
  return connection;
});
/** Each test adds entities of its own. */
const extended = shared((t) => connected(t));

function textOf(result: { content: unknown }): string {
  return (result.content as { text: string }[]).map(({ text }) => text).join('\n');
}

test('mcp: every tool describes its purpose, its arguments and whether it changes anything', async () => {
  const { client } = await readOnly();
  const { tools } = await client.listTools();
  assert.deepEqual(tools.map(({ name }) => name).toSorted(), [
    'block_entity',
    'get_entity',
    'install_entity',
    'list_pending',
    'plan_install',
    'remove_entity',
    'search_catalog',
    'sync_remotes',
  ]);
  for (const { name, description = '', inputSchema, annotations } of tools) {
    assert.ok(description.length > 40, name);
    assert.equal(inputSchema.type, 'object', name);
    assert.equal(inputSchema.additionalProperties, false, name);
    for (const [argument, about] of Object.entries(inputSchema.properties ?? {}))
      assert.ok('description' in (about as object), `${name}: ${argument}`);
    assert.equal(typeof annotations?.readOnlyHint, 'boolean', name);
  }
  assert.equal(tools.find(({ name }) => name === 'install_entity')?.annotations?.destructiveHint, true);
  const search = tools.find(({ name }) => name === 'search_catalog');
  assert.match(JSON.stringify(search?.inputSchema), /such as `stdio`, `sse` or `streamable-http`/, 'as in results');
});

test('mcp: search finds matches, short and structured', async () => {
  const { client } = await readOnly();
  const result = await client.callTool({ name: 'search_catalog', arguments: { query: 'tables in a PDF' } });
  const { items } = result.structuredContent as { items: { id: string; why?: string }[] };
  assert.equal(items[0]?.id, 'mcp_server:pdf-tables@1.0.0');
  assert.ok(items[0]?.why);
  assert.deepEqual(
    JSON.parse((result.content as { text: string }[])[0]?.text ?? ''),
    result.structuredContent,
    'also as text',
  );
  const first = await client.callTool({ name: 'search_catalog', arguments: { query: '', limit: 1 } });
  assert.partialDeepStrictEqual(first.structuredContent, { total: 3, next_offset: 1 });
  const none = await client.callTool({
    name: 'search_catalog',
    arguments: { query: 'tables in a PDF', providers: ['nobody'] },
  });
  assert.match(textOf(none), /Nothing fits/);
  const after = await client.callTool({ name: 'search_catalog', arguments: { query: 'PDF', offset: 500 } });
  assert.match(textOf(after), /End of the list/);
});

test('mcp: a search of an empty catalog says so, and what to do', async (t) => {
  const { client } = await connected(t, { manifests: [] });
  const result = await client.callTool({ name: 'search_catalog', arguments: { query: 'tables in a PDF' } });
  assert.match(textOf(result), /The catalog is empty\. .*'hub remotes add <url>'.*sync_remotes/);
  assert.partialDeepStrictEqual(result.structuredContent, { items: [], total: 0 });
});

test('mcp: an entity is shown without the secrets of its registration', async () => {
  const { client } = await readOnly();
  const result = await client.callTool({ name: 'get_entity', arguments: { id: 'mcp_server:pdf-tables' } });
  assert.partialDeepStrictEqual(result.structuredContent, {
    id: 'mcp_server:pdf-tables@1.0.0',
    server: { url: 'https://pdf.example.org/sse?page=1&api_key=***', transport: 'SSE' },
    artifacts: [{ kind: 'zip', spec: { url: 'https://zip.example.org/a.zip', env: { KEY: '***' } } }],
  });
  assert.doesNotMatch(JSON.stringify(result), /very-secret/);
  for (const kind of ['entity', 'manifest']) {
    const { contents } = await client.readResource({ uri: `catalog://${kind}/mcp_server:pdf-tables@1.0.0` });
    assert.doesNotMatch(JSON.stringify(contents), /very-secret/, kind);
    assert.match(JSON.stringify(contents), /pdf\.example\.org/, kind);
  }
  const plan = await client.callTool({ name: 'plan_install', arguments: { id: 'mcp_server:pdf-tables' } });
  assert.doesNotMatch(JSON.stringify(plan), /very-secret/);
});

test('mcp: an entity has its tools, and the variables to set', async () => {
  const { client, hub } = await extended();
  const env = [
    { name: 'WIKI_TOKEN', isRequired: true, isSecret: true, description: 'From your profile.' },
    { name: 'WIKI_SPACE' },
    { name: 'WIKI_MODE', value: 'fast' },
  ];
  const server = aManifest({
    ...{
      id: 'wiki',
      name: 'wiki',
      tools: [{ name: 'find_page', description: 'Finds a page.' }, { name: 'save_page' }],
    },
    packages: [
      {
        ...{ registryType: 'npm', identifier: 'wiki-mcp', version: '1.0.0' },
        ...{ transport: { type: 'stdio' }, environmentVariables: env },
      },
    ],
  });
  await hub.load([{ document: server }]);
  const { structuredContent } = await client.callTool({ name: 'get_entity', arguments: { id: 'mcp_server:wiki' } });
  assert.partialDeepStrictEqual(structuredContent, {
    tools: [{ name: 'find_page', description: 'Finds a page.' }, { name: 'save_page' }],
    variables: [{ name: 'WIKI_TOKEN', description: 'From your profile.' }],
    artifacts: [{ kind: 'other', spec: { registry: 'npm', package: 'wiki-mcp', version: '1.0.0' } }],
    command: 'npx -y wiki-mcp@1.0.0',
  });
});

test('mcp: an entity that the policy restricts says so', async (t) => {
  const server = { transport: 'SSE', url: 'https://pdf.example.org/sse' };
  const { client, hub } = await connected(t, { manifests: [aManifest({ mcp_registration: { server } })] });
  await hub.changePolicy('version: 1\ndefault: { search: hide, install: block, register: block }');
  const result = await client.callTool({ name: 'get_entity', arguments: { id: 'mcp_server:pdf-tables' } });
  const { hidden_by, held_by, install_refusal } = result.structuredContent as Record<string, string>;
  assert.deepEqual([hidden_by, held_by], ['the default of the policy', 'the default of the policy']);
  assert.match(install_refusal ?? '', /blocks it\.$/);
});

test('mcp: a plan says what the gateway cannot register, and why', async () => {
  const { client, hub } = await extended();
  const server = { transport: 'STDIO', exec: { cmd: ['run'] } };
  await hub.load([{ document: aManifest({ id: 'local', name: 'local', mcp_registration: { server } }) }]);
  const planOf = (id: string) => client.callTool({ name: 'plan_install', arguments: { id } });
  const local = (await planOf('mcp_server:local')).structuredContent as Record<string, unknown>;
  assert.match(String(local.not_for_gateway), /^It runs as a local process \(stdio\)/);
  assert.equal(local.registers, false);
  const reachable = (await planOf('mcp_server:pdf-tables')).structuredContent as Record<string, unknown>;
  assert.deepEqual([reachable.registers, reachable.not_for_gateway], [true, undefined]);
});

test('mcp: a plan hides credentials', async () => {
  const { client, hub } = await extended();
  const spec = { package: 'a', version: '1.0.0', registry_url: 'https://r.example/npm?token=very-secret' };
  const artifacts = [{ kind: 'npm', spec }];
  await hub.load([{ document: aManifest({ type: 'tool', id: 'leaky', name: 'leaky', artifacts }) }]);
  const plan = await client.callTool({ name: 'plan_install', arguments: { id: 'tool:leaky@1.0.0' } });
  assert.match(textOf(plan), / from https:\/\/r\.example\/npm\?token=\*\*\*"/);
  assert.doesNotMatch(JSON.stringify(plan), /very-secret/);
});

test('mcp: an error is a result that says why', async (t) => {
  const { client } = await readOnly();
  const unknown = await client.callTool({ name: 'get_entity', arguments: { id: 'tool:nothing@1.0.0' } });
  assert.equal(unknown.isError, true);
  assert.match(textOf(unknown), /^entity_not_found: No entity 'tool:nothing@1\.0\.0'/);
  const wrong = await client.callTool({ name: 'search_catalog', arguments: { query: 'x', limit: 1000 } });
  assert.equal(wrong.isError, true);
  assert.match(textOf(wrong), /limit/);
  const id = 'tool:nothing@1.0.0';
  for (const [name, args] of [
    ['plan_install', { id }],
    ['install_entity', { id, target: await tempDir(t) }],
  ] as const) {
    const missing = textOf(await client.callTool({ name, arguments: args }));
    assert.match(
      missing,
      /^entity_not_found: No entity 'tool:nothing@1\.0\.0' is in the catalog\. Use search_catalog /,
    );
  }
});

test('mcp: a name that only one entity has is accepted instead of its id, except by installs', async (t) => {
  const clock = { id: 'io.example/clock', name: 'io.example/clock' };
  const { client, hub } = await connected(t, {
    manifests: [
      aManifest({ ...clock, version: '1.0.0' }),
      aManifest({ ...clock, version: '2.0.0' }),
      aManifest({ id: 'io.one/notes', name: 'io.one/notes' }),
      aManifest({ id: 'io.two/notes', name: 'io.two/notes' }),
    ],
  });
  await caughtUp(() => hub.search(searchQuery({ text: 'clock', mode: 'keyword' })));
  const call = async (name: string, args: Record<string, unknown>) =>
    textOf(await client.callTool({ name, arguments: args }));
  assert.match(await call('get_entity', { id: 'clock' }), /^\{"id":"mcp_server:io\.example\/clock@2\.0\.0"/);
  assert.match(await call('plan_install', { id: 'clock' }), /^\{"id":"mcp_server:io\.example\/clock@2\.0\.0"/);
  for (const asked of [
    { id: 'clock', version: '1.0.0' },
    { id: 'clock@1.0.0' },
    { id: 'clock@1.0.0', version: '1.0.0' },
  ])
    assert.match(await call('plan_install', asked), /^\{"id":"mcp_server:io\.example\/clock@1\.0\.0"/);
  const target = await tempDir(t);
  assert.match(
    await call('install_entity', { id: 'Clock', target }),
    /^invalid_request: install_entity needs an id: 'Clock' is mcp_server:io\.example\/clock@2\.0\.0\.$/,
  );
  for (const tool of ['block_entity', 'remove_entity'])
    for (const id of ['clock', 'mcp_server:io.example/clock'])
      assert.match(await call(tool, { id }), / needs an id: '.+' is mcp_server:io\.example\/clock@2\.0\.0\.$/);

  const several =
    /^invalid_request: Several entities are called 'notes'\. Use one of these ids: mcp_server:io\.\w+\/notes@1\.0\.0, mcp_server:io\.\w+\/notes@1\.0\.0\.$/;
  const similar =
    /^entity_not_found: No entity 'clocks' is in the catalog\. Similar: mcp_server:io\.example\/clock@2\.0\.0\.$/;
  const unknown = /^entity_not_found: No entity 'zzzyyyxxx' is in the catalog\. Use search_catalog to find ids\.$/;
  for (const tool of ['get_entity', 'plan_install', 'install_entity']) {
    const place = tool === 'install_entity' ? { target } : {};
    assert.match(await call(tool, { id: 'notes', ...place }), several, tool);
    assert.match(await call(tool, { id: 'clocks', ...place }), similar, tool);
    assert.match(await call(tool, { id: 'zzzyyyxxx', ...place }), unknown, tool);
  }
});

test('mcp: an install says which files it wrote, and what to do next', async (t) => {
  const server = { url: 'https://pdf.example.org/mcp', transport: 'STREAMABLEHTTP' };
  const { client } = await connected(t, {
    manifests: [aManifest({ mcp_registration: { server } }), MANIFESTS[1] ?? {}],
  });
  const install = async (clients?: string[], id = 'mcp_server:pdf-tables') => {
    const request = { id, target: await tempDir(t), clients };
    const { structuredContent } = await client.callTool({ name: 'install_entity', arguments: request });
    return structuredContent as { next_steps: string[]; files_written: string[] };
  };
  const advice =
    'No MCP client was configured. To configure one, use install_entity with clients claude|cursor|vscode|windsurf|codex.';
  assert.partialDeepStrictEqual(await install(), {
    programs: [],
    next_steps: [advice],
    files_written: ['hub.lock.json'],
  });
  const claude = await install(['claude']);
  assert.deepEqual(claude.files_written, ['.mcp.json', 'hub.lock.json']);
  assert.deepEqual(claude.next_steps, ['Restart the client in that folder, so that it reads its configuration.']);
  const windsurf = await install(['windsurf']);
  assert.match(
    windsurf.next_steps[0] ?? '',
    /^Add this to ~\/\.codeium\/windsurf\/mcp_config\.json: \{ "mcpServers": .*pdf\.example\.org\/mcp/,
  );
  assert.deepEqual((await install(undefined, 'tool:weather')).next_steps, [], 'only servers have clients');
});

test('mcp: an unknown argument is refused, listing the known ones', async () => {
  const { client } = await readOnly();
  const known: Record<string, RegExp> = {
    search_catalog: /accepts query, type, capabilities, /,
    get_entity: /accepts id, prerelease\./,
    plan_install: /accepts id, version, prerelease, clients, prefer\./,
    install_entity: /accepts id, version, prerelease, target, clients, prefer, frozen\./,
    list_pending: /accepts query, error_only, registrable, limit, offset\./,
    sync_remotes: /accepts force\./,
  };
  for (const [name, says] of Object.entries(known)) {
    const refused = await client.callTool({ name, arguments: { id: 'tool:weather', target: '.', surprise: 1 } });
    assert.equal(refused.isError, true, name);
    assert.match(textOf(refused), /Unknown argument .*'surprise'/, name);
    assert.match(textOf(refused), says, name);
  }
});

test('mcp: without a query, search lists the catalog', async () => {
  const { client } = await readOnly();
  const { structuredContent } = await client.callTool({ name: 'search_catalog', arguments: {} });
  assert.equal((structuredContent as { total: number }).total, 3);
});

test('mcp: plan, then install, with a lockfile in the folder', async (t) => {
  const { client } = await readOnly();
  const plan = await client.callTool({ name: 'plan_install', arguments: { id: 'tool:weather@1.0.0' } });
  assert.partialDeepStrictEqual(plan.structuredContent, { id: 'tool:weather@1.0.0', artifacts: [], adapters: [] });
  const target = await tempDir(t);
  const steps: string[] = [];
  const installed = await client.callTool(
    { name: 'install_entity', arguments: { id: 'tool:weather@1.0.0', target } },
    { onprogress: ({ message }) => steps.push(String(message)) },
  );
  assert.equal(installed.isError ?? false, false, textOf(installed));
  assert.partialDeepStrictEqual(installed.structuredContent, { ok: true, id: 'tool:weather@1.0.0' });
  assert.deepEqual((installed.structuredContent as { files_written: string[] }).files_written, ['hub.lock.json']);
});

test('mcp: a plan shows what will fail, and which packages are alternatives', async () => {
  const { client, hub } = await extended();
  const adapters = [{ framework: 'x', template_key: 'y', path: '../out' }];
  const faulty = aManifest({ id: 'faulty', artifacts: [{ kind: 'pypi', spec: { package: '../evil' } }], adapters });
  const packages = [
    { registryType: 'npm', identifier: 'pdf-tables', version: '1.0.0', transport: { type: 'stdio' } },
    { registryType: 'pypi', identifier: 'pdf-tables-py', version: '1.0.0', transport: { type: 'stdio' } },
  ];
  const twofold = aManifest({
    id: 'twofold',
    packages,
    artifacts: [
      { kind: 'npm', spec: { package: 'pdf-tables', version: '1.0.0' } },
      { kind: 'pypi', spec: { package: 'pdf-tables-py', version: '1.0.0' } },
    ],
  });
  await hub.load([{ document: faulty }, { document: twofold }]);
  const planOf = async (args: Record<string, unknown>) => {
    const { structuredContent } = await client.callTool({ name: 'plan_install', arguments: args });
    const { artifacts, adapters } = structuredContent as Record<string, Record<string, string>[]>;
    return { artifacts: artifacts ?? [], adapters: adapters ?? [] };
  };
  const failing = await planOf({ id: 'mcp_server:faulty' });
  assert.match(failing.artifacts[0]?.fault ?? '', /not the name of a Python package/);
  assert.ok(failing.adapters[0]?.fault);
  const npm = await planOf({ id: 'mcp_server:twofold', prefer: 'npm' });
  assert.deepEqual(
    npm.artifacts.map(({ step, alternative }) => [step, alternative ?? false]),
    [
      ['npm.install', false],
      ['pypi.install', true],
    ],
  );
  const pypi = await planOf({ id: 'mcp_server:twofold', prefer: 'pypi', clients: ['claude'] });
  assert.match(pypi.artifacts.find(({ alternative }) => !alternative)?.command ?? '', /pdf-tables-py==1\.0\.0/);
  assert.match(pypi.artifacts.find(({ alternative }) => alternative)?.command ?? '', /pdf-tables@1\.0\.0/);
  assert.partialDeepStrictEqual(pypi.adapters, [{ framework: 'claude', path: '.mcp.json' }]);
});

test('mcp: an install report hides credentials', async (t) => {
  const { client, hub } = await extended();
  // Its step fails and names the path.
  const adapters = [
    { framework: 'x', template_key: 'y', path: '../https://me:very-secret@a.example/x?token=very-secret' },
  ];
  await hub.load([{ document: aManifest({ type: 'tool', id: 'leaky-report', name: 'leaky-report', adapters }) }]);
  const request = { id: 'tool:leaky-report@1.0.0', target: await tempDir(t) };
  const { results } = await hub.install({ ...request, dry_run: false, frozen: false, update: false, force: false });
  assert.match(JSON.stringify(results), /very-secret/, 'there is something to hide');
  const installed = await client.callTool({ name: 'install_entity', arguments: request });
  assert.equal(installed.isError, true);
  assert.match(textOf(installed), /https:\/\/a\.example\/x\?token=\*\*\*/);
  assert.doesNotMatch(JSON.stringify(installed), /very-secret/);
});

test('mcp: a long install reports every step until its end', async (t) => {
  const { client, hub } = await extended();
  const host = await startIndexServer(t);
  host.put('/a.zip', rawZip([{ name: 'a.txt', content: 'one' }]));
  host.delay(() => 700);
  const artifacts = ['one', 'two'].map((dest) => ({ kind: 'zip', spec: { url: host.url('/a.zip'), dest } }));
  await hub.load([{ document: aManifest({ type: 'tool', id: 'slow', name: 'slow', artifacts }) }]);
  const steps: string[] = [];
  const installed = await client.callTool(
    { name: 'install_entity', arguments: { id: 'tool:slow@1.0.0', target: await tempDir(t) } },
    { onprogress: ({ message }) => steps.push(String(message)) },
  );
  assert.equal(installed.isError ?? false, false, textOf(installed));
  assert.deepEqual(steps, ['zip.extract', 'zip.extract', 'adapters.write', 'gateway.register', 'lockfile.write']);
});

test('mcp: without the token of a protected hub, only public tools work', async (t) => {
  const { client, hub, url } = await connected(t, { settings: { API_TOKEN: TOKEN } });
  const found = await client.callTool({ name: 'search_catalog', arguments: { query: 'weather' } });
  assert.equal(found.isError ?? false, false);
  const target = await tempDir(t);
  for (const [name, args] of [
    // A dry run over HTTP requires the token as well.
    ['plan_install', { id: 'tool:weather@1.0.0' }],
    ['install_entity', { id: 'tool:weather@1.0.0', target }],
    ['list_pending', {}],
    ['sync_remotes', {}],
  ] as const) {
    const refused = await client.callTool({ name, arguments: args });
    assert.equal(refused.isError, true, name);
    assert.match(textOf(refused), /^unauthorized: .*Authorization: Bearer/, name);
  }
  assert.equal((await hub.ingestStatus()).last.length, 0);
  const wrong = await fetch(url, { method: 'POST', headers: { authorization: 'Bearer wrong' } });
  assert.equal(wrong.status, 401);
});

test('mcp: with the token, lists pending servers and syncs', async (t) => {
  const { client } = await connected(t, { settings: { API_TOKEN: TOKEN }, token: TOKEN });
  const pending = await client.callTool({
    name: 'list_pending',
    arguments: { query: 'pdf-tables', registrable: false },
  });
  const { items, total, unregistrable } = pending.structuredContent as Record<string, unknown>;
  assert.deepEqual([(items as { uid: string }[])[0]?.uid, total, unregistrable], ['mcp_server:pdf-tables@1.0.0', 1, 2]);
  assert.doesNotMatch(JSON.stringify(pending), /very-secret/);
  const registrable = await client.callTool({ name: 'list_pending', arguments: {} });
  assert.partialDeepStrictEqual(registrable.structuredContent, { total: 0, unregistrable: 2 });
  const synced = await client.callTool({ name: 'sync_remotes', arguments: {} });
  assert.partialDeepStrictEqual(synced.structuredContent, { count: 0, ingested: [] });
});

test('mcp: entities and manifests are resources, also with a slash in the id', async () => {
  const { client } = await readOnly();
  const { resourceTemplates } = await client.listResourceTemplates();
  assert.deepEqual(resourceTemplates.map(({ uriTemplate }) => uriTemplate).toSorted(), [
    'catalog://entity/{id}',
    'catalog://manifest/{id}',
  ]);
  const uri = `catalog://manifest/${encodeURIComponent('mcp_server:owner/slashed@1.0.0')}`;
  const { contents } = await client.readResource({ uri });
  assert.equal(JSON.parse((contents[0] as { text: string }).text).id, 'owner/slashed');
  const entity = await client.readResource({ uri: 'catalog://entity/tool:weather@1.0.0' });
  assert.equal(JSON.parse((entity.contents[0] as { text: string }).text).title, 'Weather');
  assert.deepEqual((await client.readResource({ uri: 'catalog://entity/weather' })).contents, [
    { ...entity.contents[0], uri: 'catalog://entity/weather' },
  ]);
  await assert.rejects(client.readResource({ uri: 'catalog://entity/tool:nothing@1.0.0' }), /No entity/);
});

test('mcp: ids are completed by prefix, and counted', async (t) => {
  const { client, hub } = await connected(t);
  const complete = async (value: string) => {
    const ref = { type: 'ref/resource', uri: 'catalog://entity/{id}' } as const;
    return (await client.complete({ ref, argument: { name: 'id', value } })).completion;
  };
  assert.deepEqual(await complete('tool:w'), { values: ['tool:weather@1.0.0'], total: 1, hasMore: false });
  assert.deepEqual((await complete('too')).values, ['tool:weather@1.0.0']);
  assert.deepEqual((await complete('mcp_server:pdf-tables@1')).values, ['mcp_server:pdf-tables@1.0.0']);
  assert.deepEqual((await complete('weather')).values, []);
  assert.equal((await complete('')).total, 3);
  assert.deepEqual((await complete('tool:\0')).values, []);
  assert.deepEqual((await complete('Tool:W')).values, ['tool:weather@1.0.0']);
  // More than one page of the catalog, with names that differ from their ids.
  const ids = Array.from({ length: 600 }, (_, index) => `n${String(index).padStart(3, '0')}`);
  await hub.load(ids.map((id) => ({ document: aManifest({ type: 'agent', id, name: 'same', title: 'Same' }) })));
  const many = await complete('agent:n1');
  assert.deepEqual([many.values.length, many.values[0], many.total], [100, 'agent:n100@1.0.0', 100]);
  assert.deepEqual((await complete('agent:n599')).values, ['agent:n599@1.0.0']);
  const all = await complete('agent:n');
  assert.deepEqual([all.values.length, all.values[99], all.total, all.hasMore], [100, 'agent:n099@1.0.0', 600, true]);
});

test('mcp: a list names each entity once, and a sync reports refusals', async (t) => {
  const { client, hub } = await connected(t);
  await hub.load([{ document: aManifest({ type: 'tool', id: 'weather', name: 'weather', version: '2.0.0' }) }]);
  const total = async (filter: Record<string, string>) => {
    const { structuredContent } = await client.callTool({
      name: 'search_catalog',
      arguments: { query: '', ...filter },
    });
    return (structuredContent as { total: number }).total;
  };
  assert.deepEqual([await total({}), await total({ versions: 'all' })], [3, 4]);
  const host = await startIndexServer(t);
  host.put('/index.json', { manifests: ['bad.json'] });
  host.put('/bad.json', '{');
  const url = host.url('/index.json');
  await hub.addRemote(url);
  const synced = await client.callTool({ name: 'sync_remotes', arguments: {} });
  assert.partialDeepStrictEqual(synced.structuredContent, { ingested: [url], results: [{ url, failed: 1 }] });
});

test('mcp: a sync shows no secrets of remote addresses, in progress or result', async (t) => {
  const { client, hub } = await connected(t);
  const host = await startIndexServer(t);
  host.put('/index.json?token=very-secret', { manifests: ['bad.json'] });
  host.put('/index.json', { manifests: ['bad.json'] });
  host.put('/bad.json', '{');
  // Long enough for progress to be reported.
  host.delay((path) => (path === '/bad.json' ? 1_500 : 0));
  await hub.addRemote(host.url('/index.json?token=very-secret'));
  await hub.addRemote(host.url('/nothing.json?token=very-secret'));
  const messages: string[] = [];
  const synced = await client.callTool(
    { name: 'sync_remotes', arguments: {} },
    { onprogress: ({ message }) => messages.push(String(message)) },
  );
  assert.match(messages.join('\n'), /index\.json\?token=\*\*\*: /);
  assert.doesNotMatch(JSON.stringify([synced, messages]), /very-secret/);
  const { errors } = synced.structuredContent as Record<string, Record<string, unknown>>;
  assert.match(String(errors?.[host.url('/nothing.json?token=***')]), /404/);
  assert.partialDeepStrictEqual(synced.structuredContent, {
    results: [{ url: host.url('/index.json?token=***'), failed: 1 }],
  });
});

test('mcp: the prompt contains the need from its argument', async () => {
  const { client } = await readOnly();
  const { messages } = await client.getPrompt({ name: 'find_server', arguments: { need: 'invoices' } });
  assert.match(JSON.stringify(messages), /Find me a server for this need: invoices/);
});

test('mcp: refuses other sites, and host names that are not the hub’s', async (t) => {
  const { url } = await connected(t, { settings: { BASE_URL: 'https://hub.example.org' } });
  const ask = (headers: Record<string, string>) =>
    new Promise<number | undefined>((resolve, reject) => {
      const request = httpRequest(url, { method: 'POST', headers: { 'content-type': 'application/json', ...headers } });
      request.once('response', (response) => resolve(response.resume().statusCode)).once('error', reject);
      request.end('{}');
    });
  const refused: Record<string, string>[] = [
    { host: 'rebound.example.com' },
    { origin: 'https://evil.example' },
    { origin: 'null' },
    { host: 'rebound.example.com', origin: 'http://rebound.example.com' },
  ];
  for (const headers of refused) assert.equal(await ask(headers), 403, JSON.stringify(headers));
  const welcome: Record<string, string>[] = [
    {},
    { host: 'hub.example.org' },
    { host: 'hub:8443' },
    { host: 'hub.corp.internal' },
    // An invalid port: no URL can be built from it.
    { host: 'localhost:99999' },
    { host: 'hub.example.org', origin: 'https://hub.example.org' },
    { origin: 'http://localhost:6274' },
  ];
  for (const headers of welcome) {
    const status = (await ask(headers)) ?? 0;
    assert.ok(status !== 403 && status < 500, `${JSON.stringify(headers)}: ${status}`);
  }
});

test('mcp: other methods are refused', async () => {
  const { url } = await readOnly();
  const got = await fetch(url);
  assert.deepEqual([got.status, got.headers.get('allow')], [405, 'POST, OPTIONS']);
});

test('mcp: a malformed request gets a JSON-RPC error', async (t) => {
  const { url } = await connected(t, { settings: { MAX_BODY_BYTES: '2000', API_TOKEN: TOKEN } });
  const json = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' };
  const invalid = ['7', '"text"', 'null', '[]', '[1, "junk"]', '{}', '{"jsonrpc":"2.0","id":1}', ''];
  const cases = [
    { body: '{"a":', headers: json, status: 400, code: -32_700 },
    ...invalid.map((body) => ({ body, headers: json, status: 400, code: -32_600 })),
    { body: `"${'x'.repeat(3_000)}"`, headers: json, status: 413, code: -32_000 },
    { body: '{}', headers: { ...json, 'content-type': 'text/plain' }, status: 415, code: -32_000 },
    { body: '{}', headers: { ...json, origin: 'https://evil.example' }, status: 403, code: -32_000 },
    { body: '{}', headers: { ...json, authorization: 'Bearer wrong' }, status: 401, code: -32_000 },
  ];
  for (const { body, headers, status, code } of cases) {
    const response = await fetch(url, { method: 'POST', headers, body });
    const about = `${body.slice(0, 30)} ${JSON.stringify(headers)}`;
    assert.equal(response.status, status, about);
    assert.match(response.headers.get('content-type') ?? '', /^application\/json\b/, about);
    const answer = (await response.json()) as {
      jsonrpc: string;
      id: unknown;
      error: { code: number; message: string };
    };
    assert.deepEqual([answer.jsonrpc, answer.error.code], ['2.0', code], about);
    assert.ok(answer.error.message.length > 0);
    if (!body.includes('"id"')) assert.equal(answer.id, null, about);
  }
});

test('mcp: malformed JSON on other endpoints is still answered with problem+json', async () => {
  const { url } = await readOnly();
  const headers = { 'content-type': 'application/json' };
  const response = await fetch(new URL('/catalog/install', url), { method: 'POST', headers, body: '{"a":' });
  assert.equal(response.status, 400);
  assert.match(response.headers.get('content-type') ?? '', /^application\/problem\+json/);
});
