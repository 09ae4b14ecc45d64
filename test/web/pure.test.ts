import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { EntityRecord } from '../../src/catalog/contract.ts';
import { clientConfigs } from '../../web/src/entity/client-config.ts';
import { serverEntry } from '../../web/src/entity/server-entry.ts';
import { shellWord } from '../../web/src/entity/shell.ts';
import { withEvent } from '../../web/src/install/shown-steps.ts';
import { readFigures } from '../../web/src/operations/metrics-text.ts';
import { hubParameters, readSearch, searchPath } from '../../web/src/search/search-url.ts';
import { segments } from '../../web/src/search/segments.ts';
import { shortReason } from '../../web/src/search/short-reason.ts';

const entityWith = (fields: Partial<EntityRecord>) =>
  ({ name: 'io.example/pdf tables', artifacts: [], mcp_registration: null, ...fields }) as EntityRecord;

const SERVERS: [name: string, entity: Partial<EntityRecord>, entry: ReturnType<typeof serverEntry>][] = [
  ['nothing known', {}, undefined],
  [
    'a command',
    { mcp_registration: { server: { transport: 'STDIO', exec: { cmd: ['uvx', 'a==1'], env: { A: 1 } } } } },
    { kind: 'command', command: 'uvx', args: ['a==1'], env: { A: '1' } },
  ],
  [
    'an address',
    { mcp_registration: { server: { transport: 'SSE', url: 'https://a.example/sse' } } },
    { kind: 'address', type: 'sse', url: 'https://a.example/sse' },
  ],
  [
    'an address that is called SSE and is not',
    { mcp_registration: { server: { transport: 'SSE', url: 'https://a.example/mcp' } } },
    { kind: 'address', type: 'http', url: 'https://a.example/mcp' },
  ],
  [
    'a web page beside STDIO is no address',
    { mcp_registration: { server: { transport: 'stdio', url: 'https://a.example/' } } },
    undefined,
  ],
  [
    'a Python package',
    { artifacts: [{ kind: 'pypi', spec: { package: 'a', version: '1.2' } }] },
    { kind: 'command', command: 'uvx', args: ['a==1.2'], env: {} },
  ],
  [
    'an npm package with a range for a version',
    { artifacts: [{ kind: 'other', spec: { registry: 'npm', package: '@a/b', version: '>=1 <2' } }] },
    { kind: 'command', command: 'npx', args: ['-y', '@a/b'], env: {} },
  ],
  [
    'an image',
    { artifacts: [{ kind: 'oci', spec: { image: 'r.example/a', tag: '1' } }] },
    { kind: 'command', command: 'docker', args: ['run', '-i', '--rm', 'r.example/a:1'], env: {} },
  ],
];

for (const [name, entity, entry] of SERVERS) {
  test(`client configuration: ${name}`, () => assert.deepEqual(serverEntry(entityWith(entity)), entry));
}

test('client configuration: each client gets the layout it reads', () => {
  const entity = entityWith({ mcp_registration: { server: { transport: 'HTTP', url: 'https://a.example/mcp' } } });
  const configs = Object.fromEntries(clientConfigs(entity).map(({ file, text }) => [file, JSON.parse(text)]));
  const address = { type: 'http', url: 'https://a.example/mcp' };
  assert.deepEqual(configs, {
    '.mcp.json': { mcpServers: { 'pdf-tables': address } },
    '.cursor/mcp.json': { mcpServers: { 'pdf-tables': address } },
    '.vscode/mcp.json': { servers: { 'pdf-tables': address } },
  });
});

test('client configuration: secrets come from the environment, and nothing else may be asked of it', () => {
  const exec = { cmd: ['run', `--home=\${HOME}`], env: { API_KEY: 'abc', HOST: `\${HOME}`, LEVEL: 'high' } };
  const [claude, cursor] = clientConfigs(entityWith({ mcp_registration: { server: { exec } } }));
  assert.deepEqual(JSON.parse(claude?.text ?? '').mcpServers['pdf-tables'], {
    type: 'stdio',
    command: 'run',
    args: ['--home=$ {HOME}'],
    env: { API_KEY: `\${API_KEY}`, HOST: `\${HOST}`, LEVEL: 'high' },
  });
  assert.equal(JSON.parse(cursor?.text ?? '').mcpServers['pdf-tables'].env.API_KEY, `\${env:API_KEY}`);
});

test('commands: what a shell would read as more than a word is quoted', () => {
  assert.equal(shellWord('mcp_server:a/b@1.0.0'), 'mcp_server:a/b@1.0.0');
  assert.equal(shellWord("tool:a';rm@1"), `'tool:a'\\'';rm@1'`);
  for (const word of ['tool:$(a)@1', 'tool:a`b`@1', 'tool:a&b@1', '-x', '~'])
    assert.equal(shellWord(word), `'${word}'`);
});

test('search address: what it says comes back, and nonsense is left out', () => {
  const path = '/?type=agent&mode=keyword&capabilities=ocr,pdf&include_inactive=true&q=read+pdf&versions=all&show=60';
  assert.equal(searchPath(readSearch(new URL(path, 'http://h').searchParams)), path);
  const odd = readSearch(new URLSearchParams({ type: 'x', mode: 'y', show: '-3', capabilities: ',,' }));
  assert.equal(searchPath(odd), '/');
  assert.equal(readSearch(new URLSearchParams({ show: '1e9' })).show, 100);
  assert.equal(readSearch(new URLSearchParams({ q: 'x'.repeat(9_999) })).q.length, 500);
});

test('search address: the hub is asked with its own names', () => {
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
  ['Extraction, extracted, extracts', 'extracting', ['Extraction', 'extracted', 'extracts']],
  ['Crème brûlée', 'creme', ['Crème']],
  ['a b c', 'a', []],
  ['<b>bold</b>', 'bold', ['bold']],
  ['(.*)+ regex', '.*+ regex', ['regex']],
];

for (const [text, query, marked] of MARKED) {
  test(`highlight: ${query} in ${text}`, () => {
    const parts = segments(text, query);
    assert.equal(parts.map(({ part }) => part).join(''), text, 'no sign is lost');
    assert.deepEqual(
      parts.filter(({ isMatch }) => isMatch).map(({ part }) => part),
      marked,
    );
  });
}

const REASONS: [reason: string, shown: string, short: string][] = [
  [
    'Mentions “pdf” and “tables”: “Reads tables out of PDF files.”',
    'Reads tables out of PDF files. And more',
    'Mentions “pdf” and “tables”.',
  ],
  ['Close in meaning: “Reads tables…”', 'Reads  tables out of files', 'Close in meaning.'],
  ['Mentions “pdf”: “Elsewhere in the readme.”', 'Reads tables', 'Mentions “pdf”: “Elsewhere in the readme.”'],
  ['A sentence by a model: it fits.', 'it fits', 'A sentence by a model: it fits.'],
];

for (const [reason, shown, short] of REASONS) {
  test(`reasons: ${reason}`, () => assert.equal(shortReason(reason, shown), short));
}

test('install steps: events add and finish them, also when two have one name', () => {
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

test('figures: those worth a glance are found in the text of /metrics', () => {
  const figures = readFigures(`# HELP x y
hub_entities{type="tool"} 9
hub_http_request_duration_seconds_bucket{le="0.01",method="GET",route="/a\\"b",status="200"} 6
hub_http_request_duration_seconds_bucket{le="+Inf",method="GET",route="/a",status="200"} 8
hub_http_request_duration_seconds_count{method="GET",route="/a",status="200"} 8
hub_http_request_duration_seconds_count{method="GET",route="/a",status="503"} 2
process_resident_memory_bytes 1.5e+8
`);
  assert.deepEqual(figures, {
    entities: { tool: 9 },
    requests: 10,
    serverErrors: 2,
    medianSeconds: 0.01,
    memoryBytes: 150_000_000,
    startedAt: undefined,
  });
});
