import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { EntityRecord } from '../../src/catalog/contract.ts';
import { launchOf } from '../../src/catalog/launch/launch.ts';
import type { PublicConfig } from '../../src/hub/operations.ts';
import { findTemplate } from '../../src/install/adapters/templates.ts';
import { HubFailure } from '../../web/src/api/failure.ts';
import { clientConfigs } from '../../web/src/entity/use/client-config.ts';
import { withEvent } from '../../web/src/install/shown-steps.ts';
import { readMetrics } from '../../web/src/operations/status/metrics-text.ts';
import { databaseTile, gatewayTile, hubTile } from '../../web/src/operations/status/tile-words.ts';
import { count, shortNumber } from '../../web/src/parts/words.ts';
import { countSentence } from '../../web/src/search/count-words.ts';
import { hubParameters, readSearch, searchPath } from '../../web/src/search/search-url.ts';
import { quotedSegments, segments } from '../../web/src/search/segments.ts';
import { saysItAll, shortReason } from '../../web/src/search/short-reason.ts';
import { createStorage } from '../../web/src/storage.ts';
import { aSubject } from '../install/subjects.ts';

const entityWith = (fields: Partial<EntityRecord>) =>
  ({
    id: 'mcp_server:pdf-tables@1.0.0',
    name: 'io.example/pdf tables',
    artifacts: [],
    mcp_registration: null,
    ...fields,
  }) as EntityRecord;

const configsOf = (entity: EntityRecord) => clientConfigs(entity).configs;

test('client configuration: each client gets the layout it reads', () => {
  const entity = entityWith({ mcp_registration: { server: { transport: 'HTTP', url: 'https://a.example/mcp' } } });
  const configs = Object.fromEntries(
    configsOf(entity).flatMap(({ file, text }) => (file.endsWith('.toml') ? [] : [[file, JSON.parse(text)]])),
  );
  const address = { type: 'http', url: 'https://a.example/mcp' };
  assert.deepEqual(configs, {
    '.mcp.json': { mcpServers: { 'pdf-tables': address } },
    '.cursor/mcp.json': { mcpServers: { 'pdf-tables': address } },
    '.vscode/mcp.json': { servers: { 'pdf-tables': address } },
    '~/.codeium/windsurf/mcp_config.json': { mcpServers: { 'pdf-tables': { serverUrl: address.url } } },
  });
});

test('client configuration: secrets come from the environment, and nothing else is read from it', () => {
  const exec = { cmd: ['run', `--home=\${HOME}`], env: { API_KEY: 'abc', HOST: `\${HOME}`, LEVEL: 'high' } };
  const [claude, cursor] = configsOf(entityWith({ mcp_registration: { server: { exec } } }));
  assert.deepEqual(JSON.parse(claude?.text ?? '').mcpServers['pdf-tables'], {
    type: 'stdio',
    command: 'run',
    args: [`--home=\${HOME_FOR_IO_EXAMPLE__PDF_TABLES}`],
    env: { API_KEY: `\${API_KEY}`, HOST: `\${HOST}`, LEVEL: 'high' },
  });
  assert.equal(JSON.parse(cursor?.text ?? '').mcpServers['pdf-tables'].env.API_KEY, `\${env:API_KEY}`);
});

test('client configuration: a registration may give the command as clients do', () => {
  const env = { API_KEY: 'hunter2', DB_PASS: 'hunter2', TOKEN_URL: 'https://login.example/', LEVEL: 'high' };
  const args = ['-y', 'pdf', '--token', 'hunter2', 80, { odd: true }];
  const shown = (registered: object) =>
    configsOf(entityWith({ mcp_registration: { server: registered } }))
      .slice(0, 3)
      .map(({ text }) => JSON.parse(text));
  const [claude, cursor, code] = shown({ transport: 'STDIO', command: 'npx', args, env });
  assert.deepEqual(claude.mcpServers['pdf-tables'], {
    type: 'stdio',
    command: 'npx',
    args: ['-y', 'pdf', '--token', `\${TOKEN_FOR_IO_EXAMPLE__PDF_TABLES}`, '80'],
    env: {
      API_KEY: `\${API_KEY}`,
      DB_PASS: `\${DB_PASS}`,
      TOKEN_URL: 'https://login.example/',
      LEVEL: 'high',
    },
  });
  assert.equal(cursor.mcpServers['pdf-tables'].env.DB_PASS, `\${env:DB_PASS}`);
  assert.equal(code.servers['pdf-tables'].env.DB_PASS, `\${input:pdf-tables-db-pass}`);
  assert.doesNotMatch(JSON.stringify([cursor, code]), /hunter2/);
  assert.deepEqual(shown({ command: 7, args: 'x' }), []);
});

test('client configuration: contains no login and no secret of an address, header or option', () => {
  const at = (server: object) =>
    JSON.parse(configsOf(entityWith({ mcp_registration: { server } }))[0]?.text ?? '').mcpServers['pdf-tables'];
  const url = 'https://me:hunter2@a.example/mcp?api_key=hunter2&region=eu';
  const headers = { Authorization: 'Bearer hunter2', 'X-Region': 'eu', 'bad name': 'hunter2' };
  assert.deepEqual(at({ transport: 'HTTP', url, headers }), {
    type: 'http',
    url: `https://\${USERNAME_FOR_IO_EXAMPLE__PDF_TABLES}:\${PASSWORD_FOR_IO_EXAMPLE__PDF_TABLES}@a.example/mcp?api_key=\${API_KEY_FOR_IO_EXAMPLE__PDF_TABLES}&region=eu`,
    headers: {
      Authorization: `\${AUTHORIZATION_FOR_IO_EXAMPLE__PDF_TABLES}`,
      'X-Region': `\${X_REGION_FOR_IO_EXAMPLE__PDF_TABLES}`,
    },
  });
  const env = { DATABASE_URL: 'postgres://me:hunter2@db.example/x', LEVEL: 'high' };
  const exec = { cmd: ['run'], env };
  assert.deepEqual(at({ transport: 'STDIO', exec }).env, { DATABASE_URL: `\${DATABASE_URL}`, LEVEL: 'high' });
  const cmd = ['run', '--api-key', 'hunter2', '--token=hunter2', 'postgres://me:hunter2@db.example/x', '--port', '80'];
  assert.deepEqual(at({ transport: 'STDIO', exec: { cmd } }).args, [
    '--api-key',
    `\${API_KEY_FOR_IO_EXAMPLE__PDF_TABLES}`,
    `--token=\${TOKEN_FOR_IO_EXAMPLE__PDF_TABLES}`,
    `postgres://\${USERNAME_FOR_IO_EXAMPLE__PDF_TABLES}:\${PASSWORD_FOR_IO_EXAMPLE__PDF_TABLES}@db.example/x`,
    '--port',
    '80',
  ]);
});

test('client configuration: contains no secret of a variable, header or whole command line', () => {
  const cmd = ['docker', '-e', 'GITHUB_TOKEN=hunter2', '--header', 'Authorization: Bearer hunter2', 'A=b'];
  const more = ['DB=postgres://me:hunter2@db.example/x', '-c', 'API_KEY=hunter2 run --token hunter2'];
  const exec = { cmd: [...cmd, ...more], env: { GH_PAT: 'hunter2', LEVEL: 'high' } };
  const [claude] = configsOf(entityWith({ mcp_registration: { server: { exec } } }));
  const { args, env } = JSON.parse(claude?.text ?? '').mcpServers['pdf-tables'];
  assert.deepEqual(env, { GH_PAT: `\${GH_PAT}`, LEVEL: 'high' });
  assert.deepEqual(args, [
    '-e',
    `GITHUB_TOKEN=\${GITHUB_TOKEN_FOR_IO_EXAMPLE__PDF_TABLES}`,
    '--header',
    `Authorization: \${AUTHORIZATION_FOR_IO_EXAMPLE__PDF_TABLES}`,
    'A=b',
    `DB=postgres://\${USERNAME_FOR_IO_EXAMPLE__PDF_TABLES}:\${PASSWORD_FOR_IO_EXAMPLE__PDF_TABLES}@db.example/x`,
    '-c',
    `API_KEY=\${API_KEY_FOR_IO_EXAMPLE__PDF_TABLES} run --token \${TOKEN_FOR_IO_EXAMPLE__PDF_TABLES}`,
  ]);
});

test('client configuration: the page and an install agree', () => {
  const secret = ['--api-key', 'hunter2', '--token=hunter2', '--header', 'Authorization: Bearer hunter2', '--port', 80];
  const env = { GH_PAT: 'hunter2', OPTIONS: '--password=hunter2', LEVEL: 'high', URL: '<your url>', DEBUG: true };
  for (const server of [
    { transport: 'STDIO', url: 'https://docs.example/pdf', command: 'npx', args: secret, env },
    { exec: { cmd: ['npx', ...secret, { name: '--pin', value: 'hunter2', isSecret: true }], env } },
    { command: 'npx', args: ['-y', { valueHint: 'folder' }, 'postgres://me:hunter2@db.example/x'] },
    { command: 'npx --api-key hunter2' },
    { transport: 'SSE', url: 'https://me:hunter2@a.example/mcp?api_key=hunter2#top' },
  ]) {
    const [claude] = configsOf(entityWith({ name: 'pdf-tables', mcp_registration: { server } }));
    const subject = aSubject({ name: 'pdf-tables', mcp_registration: { server } });
    const launch = launchOf(subject);
    assert.ok(launch.kind !== 'none');
    const request = { subject, params: {}, launch, path: '.mcp.json', targetDir: '/project' };
    const installed = findTemplate('claude', 'mcp')?.render(request);
    assert.ok(installed?.kind === 'entry');
    const { env: installedEnv = {}, ...entry } = installed.entry;
    const { env: shownEnv = {}, ...shown } = JSON.parse(claude?.text ?? '').mcpServers['pdf-tables'];
    assert.deepEqual([shown, shownEnv], [entry, installedEnv]);
    assert.doesNotMatch(JSON.stringify([installed, claude]), /hunter2/);
  }
});

test('search address: is read back unchanged, without invalid values', () => {
  const path = '/?type=agent&mode=keyword&capabilities=ocr,pdf&include_inactive=true&q=read+pdf&versions=all&show=60';
  assert.equal(searchPath(readSearch(new URL(path, 'http://h').searchParams)), path);
  const odd = readSearch(new URLSearchParams({ type: 'x', mode: 'y', show: '-3', capabilities: ',,' }));
  assert.equal(searchPath(odd), '/');
  assert.equal(readSearch(new URLSearchParams({ show: '1e9' })).show, 100);
  assert.equal(readSearch(new URLSearchParams({ q: 'x'.repeat(9_999) })).q.length, 500);
});

test('search address: a filter may contain commas and quotes', () => {
  const state = {
    ...readSearch(new URLSearchParams()),
    capabilities: ['ocr', 'read, write'],
    providers: ['"a", inc.'],
  };
  const { searchParams } = new URL(searchPath(state), 'http://h');
  assert.deepEqual(readSearch(searchParams), state);
  assert.equal(hubParameters(state).get('capabilities'), 'ocr,"read, write"');
});

test('search address: requests use the hub’s parameter names', () => {
  const asked = hubParameters(readSearch(new URLSearchParams({ q: ' pdf ', include_pending: 'false' })));
  assert.deepEqual(Object.fromEntries(asked), {
    include_pending: 'false',
    q: 'pdf',
    versions: 'latest',
    limit: '20',
    with_snippets: 'true',
  });
});

const MARKED: [text: string, query: string, marked: string[]][] = [
  ['Reads tables out of PDF files', 'pdf table', ['tables', 'PDF']],
  ['Extraction, extracted, extracts', 'extracting', ['extracted', 'extracts']],
  ['Crème brûlée', 'creme', ['Crème']],
  ['a b c', 'a', ['a']],
  ['<b>bold</b>', 'bold', ['bold']],
  ['(.*)+ regex', '.*+ regex', ['regex']],
  ['Inspects in-memory indexes in the index', 'tables in an index', ['indexes', 'index']],
  ['Painting a pain au chocolat', 'pain relief', ['pain']],
  ['Plans trips; planning; a planet', 'plans', ['Plans', 'planning']],
  ['Postgres and PostgreSQL', 'postg', ['Postgres', 'PostgreSQL']],
  ['Paints like painters', 'house paint', ['Paints']],
  ['For painters', 'house paint', ['painters']],
  ['A pd file, a PDF file', 'pd', ['pd']],
  ['in and out', 'in', ['in']],
  ['支持PDF文件转换', '文件', ['文件']],
  ['pdfkit支持pdf文件pdf', 'pdf', ['pdfkit支持pdf文件pdf']],
  ['pdf支持pdf文件pdf', 'pdf', ['pdf', 'pdf', 'pdf']],
];

for (const [text, query, marked] of MARKED) {
  test(`highlight: ${query} in ${text}`, () => {
    const parts = segments(text, query);
    assert.equal(parts.map(({ part }) => part).join(''), text, 'no character is lost');
    assert.deepEqual(
      parts.filter(({ isMatch }) => isMatch).map(({ part }) => part),
      marked,
    );
  });
}

test('highlight: marks only the quotes of a reason', () => {
  const reason = 'Has “name” in its name or tags: “Keeps the name of a file in mind.”';
  const parts = quotedSegments(reason, 'name in tags');
  assert.equal(parts.map(({ part }) => part).join(''), reason);
  assert.deepEqual(
    parts.filter(({ isMatch }) => isMatch).map(({ part }) => part),
    ['name', 'name'],
  );
});

test('counts: the page says what it counts', () => {
  const state = (query: string) => readSearch(new URLSearchParams(query));
  const page = { total: 27, items: Array(20).fill({}) };
  assert.equal(countSentence(page, state('')), '27 entries, most recently added first');
  assert.equal(countSentence(page, state('q=pdf')), 'About 27 results for “pdf”');
  assert.equal(countSentence(page, state('sort=name')), '27 entries');
});

const settings = { database: 'postgres', gateway_configured: false } as PublicConfig;
const unhealthy = { status: 'error', version: '1.2.3', db: 'error' } as const;
const silent = { failure: new HubFailure('unreachable', 'The hub does not answer.') };
const overloaded = { failure: new HubFailure('busy', 'It cannot keep up.') };

test('health: reports only what is known', () => {
  assert.equal(hubTile('asked').value, '…');
  assert.deepEqual(hubTile(unhealthy), { value: 'Unhealthy', note: 'version 1.2.3', tone: 'bad' });
  assert.equal(hubTile(silent).value, 'Unreachable');
  assert.deepEqual(hubTile(overloaded), { value: 'Unhealthy', note: 'It cannot keep up.', tone: 'bad' });
  assert.deepEqual(databaseTile(unhealthy, settings), { value: 'Unreachable', note: 'PostgreSQL', tone: 'bad' });
  assert.deepEqual(databaseTile({ ...unhealthy, db: 'ok' }, undefined), { value: 'Connected', note: '', tone: 'good' });
  assert.deepEqual(databaseTile(overloaded, undefined), { value: 'Unknown', note: '' });
  assert.equal(gatewayTile(undefined, 'not tried').value, 'Unknown');
  assert.equal(gatewayTile(settings, 'not tried').value, 'Not configured');
  const configured = { ...settings, gateway_configured: true } as PublicConfig;
  assert.equal(gatewayTile(configured, 'being tried').value, 'Configured');
  assert.deepEqual(gatewayTile(configured, { outcome: 'ok', version: '1.0' }), {
    value: 'Connected',
    note: 'version 1.0',
    tone: 'good',
  });
  for (const outcome of ['unauthorized', 'down'] as const)
    assert.partialDeepStrictEqual(gatewayTile(configured, { outcome, error: 'Why.' }), { note: 'Why.', tone: 'bad' });
  assert.match(gatewayTile(configured, overloaded).note, /The check failed/);
});

test('storage: without storage, the page remembers until it is closed', () => {
  const kept = new Map<string, string>();
  const storage = {
    getItem: (key: string) => kept.get(key) ?? null,
    setItem: (k: string, v: string) => kept.set(k, v),
  };
  const full = { getItem: () => null, setItem: () => assert.fail(), removeItem: () => assert.fail() };
  const blocked = () => {
    throw new DOMException('blocked', 'SecurityError');
  };
  for (const access of [blocked, () => full as unknown as Storage]) {
    const stored = createStorage(access);
    assert.equal(stored.read('a'), undefined);
    stored.write('a', '1');
    assert.equal(stored.read('a'), '1');
    stored.remove('a');
    assert.equal(stored.read('a'), undefined);
  }
  createStorage(() => storage as unknown as Storage).write('a', '2');
  assert.equal(createStorage(() => storage as unknown as Storage).read('a'), '2');
});

const REASONS: [reason: string, shown: string, short: string][] = [
  ['Mentions “pdf” and “tables”: “Reads tables out of PDF files.”', 'Reads tables out of PDF files. And more', ''],
  ['Close in meaning: “Reads tables…”', 'Reads  tables out of files', 'Close in meaning.'],
  ['Mentions “pdf”: “Elsewhere in the readme.”', 'Reads tables', 'Mentions “pdf”: “Elsewhere in the readme.”'],
  [
    'Mentions “write”: “Collects changes and writes the notes that people read.”',
    'Collects changes and writes the…',
    '',
  ],
  [
    'Mentions “people”: “Collects changes and writes the notes that people read.”',
    'Collects changes and writes the…',
    'Mentions “people”: “Collects changes and writes the notes that people read.”',
  ],
  ['A sentence by a model: it fits.', 'it fits', 'A sentence by a model: it fits.'],
];

for (const [reason, shown, short] of REASONS) {
  test(`reasons: ${reason}`, () => assert.equal(shortReason(reason, shown), short));
}

test('reasons: none is expected where all words of the query are visible', () => {
  assert.ok(saysItAll('Reads a table out of PDF files.', 'tables in a pdf'));
  assert.ok(!saysItAll('Reads PDF files.', 'tables in a pdf'));
});

test('install steps: events add and finish them, also when two have the same name', () => {
  const finished = { step: 'git.checkout', ok: true, elapsed_secs: 1 };
  const steps = [
    { kind: 'started', step: 'git.checkout' } as const,
    { kind: 'finished', result: finished } as const,
    { kind: 'started', step: 'git.checkout' } as const,
  ].reduce((steps, event) => withEvent(steps, event, 5), withEvent([], { kind: 'started', step: 'git.checkout' }, 5));
  assert.deepEqual(
    steps.map(({ result }) => result),
    [finished, undefined, undefined],
  );
  assert.deepEqual(withEvent([], { kind: 'finished', result: finished }, 5), [
    { step: 'git.checkout', startedAt: 5, result: finished },
  ]);
});

test('metrics: extracts the overview from the text of /metrics', () => {
  const metrics = readMetrics(`# HELP x y
hub_entities{type="tool"} 9
hub_http_request_duration_seconds_bucket{le="0.01",method="GET",route="/a\\"b",status="200"} 6
hub_http_request_duration_seconds_bucket{le="+Inf",method="GET",route="/a",status="200"} 8
hub_http_request_duration_seconds_count{method="GET",route="/a",status="200"} 8
hub_http_request_duration_seconds_count{method="GET",route="/a",status="503"} 2
process_resident_memory_bytes 1.5e+8
`);
  assert.deepEqual(metrics, {
    entities: { tool: 9 },
    requests: 10,
    serverErrors: 2,
    medianSeconds: 0.01,
    memoryBytes: 150_000_000,
    startedAt: undefined,
    searches: [],
  });
});

test('numbers: match the British English format of browsers', () => {
  const whole = new Intl.NumberFormat('en-GB');
  const short = new Intl.NumberFormat('en-GB', { notation: 'compact', maximumFractionDigits: 1 });
  const EDGES = [0, 1, 999, 1000, 9_999, 10_000, 10_049, 10_050, 105_763, 999_949, 999_950, 1_250_000, 2_000_000_000];
  for (const number of EDGES) {
    assert.equal(count(number, 'entry', 'entry'), `${whole.format(number)} entry`);
    assert.equal(shortNumber(number), (number < 10_000 ? whole : short).format(number));
  }
});
