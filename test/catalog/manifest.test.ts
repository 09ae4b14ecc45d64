import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { type Manifest, readManifest } from '../../src/catalog/manifest.ts';
import { HubError } from '../../src/errors.ts';
import type { JsonObject } from '../../src/lib/json.ts';
import { anyText } from '../lib/any-text.ts';

const REQUIRED = { type: 'tool', id: 'pdf-tables', version: '1.0.0' };
const REGISTRY = 'io.modelcontextprotocol.registry/official';

test('manifest: type, id and version are enough', () => {
  assert.deepEqual(readManifest(REQUIRED), {
    type: 'tool',
    slug: 'pdf-tables',
    version: '1.0.0',
    name: 'pdf-tables',
    title: null,
    summary: '',
    description: '',
    license: null,
    homepage: null,
    readme: null,
    schemaVersion: null,
    capabilities: [],
    tags: [],
    frameworks: [],
    providers: [],
    artifacts: [],
    packagesAndRemotes: [],
    adapters: [],
    compatibility: {},
    links: {},
    lifecycle: { status: 'active', reason: null },
    provenance: {},
    mcpRegistration: null,
    publishedAt: null,
  });
});

const TOO_DEEP = JSON.parse(`${'{"a":'.repeat(65)}1${'}'.repeat(65)}`);
const DEEPEST_ALLOWED = JSON.parse(`${'{"a":'.repeat(63)}1${'}'.repeat(63)}`);

const READINGS: [sentence: string, fields: JsonObject, expected: Partial<Manifest>][] = [
  ['uses the name', { name: 'a', title: 'b' }, { name: 'a', title: 'b' }],
  ['without a name, uses the title', { title: 'PDF Tables' }, { name: 'PDF Tables', title: 'PDF Tables' }],
  ['without name and title, uses the id', { name: ' ', title: null }, { name: 'pdf-tables', title: null }],
  ['uses the summary', { summary: 'a', description: 'b' }, { summary: 'a', description: 'b' }],
  ['without a summary, uses the description', { summary: '', description: 'b' }, { summary: 'b', description: 'b' }],
  ['spaces around texts are dropped', { name: '\n a b\t', license: ' MIT ' }, { name: 'a b', license: 'MIT' }],
  ['spaces around id and version are dropped', { id: ' x ', version: '1\n' }, { slug: 'x', version: '1' }],
  ['drops NUL', { name: 'a\u0000b', tags: ['\u0000'] }, { name: 'ab', tags: [] }],
  ['half a surrogate pair is replaced', { title: 'a\ud83d' }, { title: 'a\ufffd', name: 'a\ufffd' }],
  ['the schema version is a whole number', { schema_version: 2 }, { schemaVersion: 2 }],
  ['ignores any other schema version', { schema_version: '2' }, { schemaVersion: null }],
  ['lists tags once, ignoring case', { tags: ['PDF', 'pdf', 'ocr'] }, { tags: ['PDF', 'ocr'] }],
  [
    'cuts tags beyond 200 and titles beyond 1,000 characters',
    { tags: Array.from({ length: 300 }, (_, count) => `tag-${count}`), title: 't'.repeat(2_000) },
    { tags: Array.from({ length: 200 }, (_, count) => `tag-${count}`), title: 't'.repeat(1_000) },
  ],
  ['a single tag becomes a list', { tags: 'pdf' }, { tags: ['pdf'] }],
  ['ignores list values that are not text', { tags: ['a', 1, null, ['b'], { c: 1 }, ''] }, { tags: ['a'] }],
  ['lists capabilities', { capabilities: ['ocr', 'OCR '] }, { capabilities: ['ocr'] }],
  [
    'frameworks come from compatibility and from the top level',
    { compatibility: { frameworks: ['langgraph', 'crewai'] }, frameworks: ['CrewAI', 'autogen'] },
    { frameworks: ['langgraph', 'crewai', 'autogen'] },
  ],
  [
    'providers come from compatibility and from the top level',
    { compatibility: { providers: 'openai' }, providers: ['watsonx'] },
    { providers: ['openai', 'watsonx'] },
  ],
  ['keeps compatibility completely', { compatibility: { runtime: 'node' } }, { compatibility: { runtime: 'node' } }],
  ['only objects are artifacts', { artifacts: [{ kind: 'git' }, 'x', null, []] }, { artifacts: [{ kind: 'git' }] }],
  ['only objects are adapters', { adapters: [1, { framework: 'crewai' }] }, { adapters: [{ framework: 'crewai' }] }],
  ['one artifact alone is not a list', { artifacts: { kind: 'git' } }, { artifacts: [] }],
  ['the registration must be an object', { mcp_registration: { tool: {} } }, { mcpRegistration: { tool: {} } }],
  ['ignores any other registration', { mcp_registration: ['tool'] }, { mcpRegistration: null }],
  [
    'source_url is the repository',
    { source_url: 'https://git.example' },
    { links: { repository: 'https://git.example' } },
  ],
  [
    'a link to the repository wins over source_url',
    { source_url: 'https://a.example', links: { repository: 'https://b.example', documentation: null, x: 7 } },
    { links: { repository: 'https://b.example' } },
  ],
  [
    'the lifecycle has a status and a reason',
    { lifecycle: { status: 'deprecated', reason: 'Moved.' } },
    { lifecycle: { status: 'deprecated', reason: 'Moved.' } },
  ],
  [
    'ignores the case of the status',
    { lifecycle: { status: 'Disabled' } },
    { lifecycle: { status: 'disabled', reason: null } },
  ],
  ['the status may be at the top level', { status: 'disabled' }, { lifecycle: { status: 'disabled', reason: null } }],
  ['an unknown status is active', { lifecycle: { status: 'odd' } }, { lifecycle: { status: 'active', reason: null } }],
  [
    'prefers the last change over the publication',
    { provenance: { updated_at: '2026-02-01T00:00:00Z', published_at: '2026-01-01T00:00:00Z' } },
    { publishedAt: '2026-02-01T00:00:00.000Z' },
  ],
  [
    'skips an invalid date',
    { provenance: { updated_at: 'soon', published_at: '2026-01-01' } },
    { publishedAt: '2026-01-01T00:00:00.000Z' },
  ],
  [
    'uses the dates of a registry last',
    { _meta: { [REGISTRY]: { updatedAt: '2026-03-01T00:00:00Z', publishedAt: '2026-01-01T00:00:00Z' } } },
    { publishedAt: '2026-03-01T00:00:00.000Z' },
  ],
  [
    'uses the publication date of a registry without a last change',
    { _meta: { [REGISTRY]: { publishedAt: '2026-01-01' } } },
    { publishedAt: '2026-01-01T00:00:00.000Z' },
  ],
  ['accepts 64 levels of nesting', { extra: DEEPEST_ALLOWED }, { slug: 'pdf-tables' }],
];
for (const [sentence, fields, expected] of READINGS) {
  test(`manifest: ${sentence}`, () => {
    const manifest: Partial<Manifest> = readManifest({ ...REQUIRED, ...fields });
    const read = Object.fromEntries(Object.keys(expected).map((key) => [key, manifest[key as keyof Manifest]]));
    assert.deepEqual(read, expected);
  });
}

const DATES: [text: unknown, publishedAt: string | null][] = [
  ['2026-05-22T10:00:00.123456789Z', '2026-05-22T10:00:00.123Z'],
  ['2026-05-22T10:00:00+02:00', '2026-05-22T08:00:00.000Z'],
  ['2026-05-22T10:00:00', '2026-05-22T10:00:00.000Z'],
  ['2026-05-22 10:00:00', '2026-05-22T10:00:00.000Z'],
  [' 2026-05-22 ', '2026-05-22T00:00:00.000Z'],
  ['2026-02-30', null],
  ['1969-12-31', null],
  ['9999-12-31T23:59:59-01:00', null],
  ['20260522', null],
  ['version 12', null],
  ['1', null],
  [1_780_000_000_000, null],
  [null, null],
  [{}, null],
];
for (const [text, publishedAt] of DATES) {
  test(`manifest: the date ${JSON.stringify(text)} is ${publishedAt ?? 'none'}`, (t) => {
    // Dates without a zone must not depend on the machine's.
    const { TZ } = process.env;
    process.env.TZ = 'America/New_York';
    t.after(() => {
      if (TZ === undefined) delete process.env.TZ;
      else process.env.TZ = TZ;
    });
    assert.equal(readManifest({ ...REQUIRED, provenance: { updated_at: text } }).publishedAt, publishedAt);
  });
}

const REFUSALS: [sentence: string, document: unknown, paths: string[]][] = [
  ['undefined', undefined, ['']],
  ['null', null, ['']],
  ['a list', [REQUIRED], ['']],
  ['text', 'tool', ['']],
  ['an empty object, naming every missing field', {}, ['type', 'id', 'version']],
  ['an unknown type', { ...REQUIRED, type: 'model' }, ['type']],
  ['a version that is a number', { ...REQUIRED, version: 1.1 }, ['version']],
  ['a whitespace id', { ...REQUIRED, id: ' ' }, ['id']],
  ['an id with NUL', { ...REQUIRED, id: 'a\u0000' }, ['id']],
  ['an id that escapes its folder', { ...REQUIRED, id: '../x' }, ['id']],
  ['a version with @', { ...REQUIRED, version: '1@2' }, ['version']],
  [
    'an identity that is only inherited',
    JSON.parse(`{"__proto__": ${JSON.stringify(REQUIRED)}}`),
    ['type', 'id', 'version'],
  ],
  ['more than 64 levels of nesting', { ...REQUIRED, extra: TOO_DEEP }, ['']],
];
for (const [sentence, document, paths] of REFUSALS) {
  test(`manifest: refuses ${sentence}`, () => {
    const { code, faults } = refusal(document);
    assert.equal(code, 'invalid_manifest');
    assert.deepEqual(
      faults.map(({ path }) => path),
      paths,
    );
  });
}

test('manifest: a refusal lists all errors in one sentence', () => {
  assert.equal(
    refusal({ type: 'model', id: '', version: 'a b' }).message,
    'The manifest cannot be read: type must be one of agent, tool, mcp_server; id must be a non-empty string; version must not contain spaces or control characters.',
  );
  assert.equal(refusal([]).message, 'The manifest cannot be read: it must be an object.');
});

test('manifest: a version or id written as a number is refused with the advice to quote it', () => {
  assert.equal(
    refusal({ ...REQUIRED, version: 1.1 }).message,
    'The manifest cannot be read: version must be a string, but is the number 1.1: put it in quotes, as in "1.0".',
  );
  assert.match(refusal({ ...REQUIRED, id: 7 }).message, /id must be a string, but is the number 7: put it in quotes/);
});

test('manifest: keys such as __proto__ are ordinary keys', () => {
  const odd = JSON.parse(
    '{"__proto__": {"title": "x"}, "links": {"__proto__": "https://a.example", "constructor": "b"}}',
  );
  const manifest = readManifest({ ...REQUIRED, ...odd });
  assert.equal(manifest.title, null);
  assert.equal(JSON.stringify(manifest.links), '{"__proto__":"https://a.example","constructor":"b"}');
  assert.equal(({} as JsonObject).title, undefined);
});

test('manifest: names and list values are cut to what an index accepts', () => {
  const { name, tags } = readManifest({ ...REQUIRED, name: '😀'.repeat(500), tags: ['t'.repeat(500)] });
  assert.ok(name.length === 200 && name.isWellFormed());
  assert.deepEqual(tags, ['t'.repeat(200)]);
});

test('manifest: any other JSON is refused with an error of the hub', () => {
  fc.assert(
    fc.property(fc.jsonValue(), (document) => {
      assert.throws(() => readManifest(document), HubError);
    }),
  );
});

const FIELDS = [
  ...Object.keys(readManifest(REQUIRED)),
  'source_url',
  'status',
  '_meta',
  'mcp_registration',
  'schema_version',
];

test('manifest: an invalid optional field affects only itself', () => {
  fc.assert(
    fc.property(fc.dictionary(fc.constantFrom(...FIELDS), oddValue()), (fields) => {
      const manifest = readManifest({ ...fields, ...REQUIRED });
      assert.deepEqual([manifest.type, manifest.slug, manifest.version], ['tool', 'pdf-tables', '1.0.0']);
      for (const text of [manifest.name, manifest.summary, ...manifest.tags, ...manifest.frameworks]) {
        assert.ok(text.isWellFormed() && !text.includes('\u0000'));
      }
    }),
    { numRuns: 500 },
  );
});

function oddValue(): fc.Arbitrary<unknown> {
  const text = anyText();
  const names = fc.constantFrom('status', 'reason', 'frameworks', 'providers', 'updated_at', 'repository', REGISTRY);
  return fc.oneof(text, fc.array(text), fc.dictionary(names, fc.oneof(text, fc.jsonValue())), fc.jsonValue());
}

function refusal(document: unknown): HubError {
  try {
    readManifest(document);
  } catch (error) {
    if (error instanceof HubError) return error;
    throw error;
  }
  return assert.fail('The manifest was read.');
}
