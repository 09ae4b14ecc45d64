import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { test } from 'node:test';
import { promisify } from 'node:util';
import fc from 'fast-check';
import { parseManifestText } from '../../src/catalog/manifest-text.ts';
import { HubError } from '../../src/errors.ts';
import { anyText } from '../lib/any-text.ts';

const JSON_TEXT =
  '{\n\t"id": "smile",\t"emoji": "\\ud83d\\ude00", "half": "\\ud83d", "long": 12345678901234567890.10\n}\n';

test('manifest text: JSON is parsed as JSON, with tabs and escaped emoji, and kept unchanged', () => {
  const { document, text } = parseManifestText('manifest.json', JSON_TEXT);
  assert.deepEqual(document, { id: 'smile', emoji: '😀', half: '\ud83d', long: 1.2345678901234567e19 });
  assert.equal(text, JSON_TEXT);
});

test('manifest text: JSON is accepted under every file name', () => {
  for (const name of ['manifest.yaml', 'https://a.example/manifest', 'manifest.yml?ref=main', '']) {
    assert.equal(parseManifestText(name, JSON_TEXT).text, JSON_TEXT);
  }
});

test('manifest text: YAML is parsed, and has no JSON text to keep', () => {
  const read = parseManifestText('manifest.yaml', 'type: tool\nid: pdf\ntags: [a, "b"]\n');
  assert.deepEqual(read, { document: { type: 'tool', id: 'pdf', tags: ['a', 'b'] } });
});

test('manifest text: YAML is detected without a file name', () => {
  assert.deepEqual(parseManifestText('https://a.example/manifest', '# A tool\nid: pdf').document, { id: 'pdf' });
});

test('manifest text: short YAML is parsed when the file name says YAML', () => {
  assert.deepEqual(parseManifestText('a.yml', '{id: pdf, tags: [a]}').document, { id: 'pdf', tags: ['a'] });
  assert.match(refusal('a.json', '{id: pdf}').message, /^The document cannot be read as JSON: /);
});

const YAML_VALUES: [yaml: string, value: unknown][] = [
  ['no', 'no'],
  ['on', 'on'],
  ['true', true],
  ['~', null],
  ['1.10', 1.1],
  ['"1.10"', '1.10'],
  ['0o14', 12],
  ['014', 14],
  ['12:30:45', '12:30:45'],
  ['2026-05-22', '2026-05-22'],
  ['.nan', null],
  ['!custom text', 'text'],
  ['größe 😀', 'größe 😀'],
];
for (const [yaml, value] of YAML_VALUES) {
  for (const directive of ['', '%YAML 1.1\n---\n']) {
    const version = directive ? ', even with a directive for 1.1' : '';
    test(`manifest text: in YAML 1.2, ${yaml} is ${JSON.stringify(value)}${version}`, () =>
      assert.deepEqual(parseManifestText('a.yaml', `${directive}a: ${yaml}\n`).document, { a: value }));
  }
}

test('manifest text: ignores a byte order mark at the start', () => {
  assert.deepEqual(parseManifestText('a.json', `\ufeff${JSON_TEXT}`), parseManifestText('a.json', JSON_TEXT));
  assert.deepEqual(parseManifestText('a.yaml', '\ufeffid: pdf').document, { id: 'pdf' });
});

test('manifest text: an empty text is an empty document', () => {
  for (const text of ['', ' \n', '\ufeff', '# nothing\n']) {
    assert.deepEqual(parseManifestText('a.json', text), { document: null });
  }
});

test('manifest text: a few aliases are allowed', () => {
  const { document } = parseManifestText('a.yaml', 'base: &base {license: MIT}\none: *base\ntwo: *base\n');
  assert.deepEqual(document, { base: { license: 'MIT' }, one: { license: 'MIT' }, two: { license: 'MIT' } });
});

const BOMB = Array.from({ length: 20 }, (_, level) =>
  level === 0 ? 'a0: &a0 [x]' : `a${level}: &a${level} [${Array(9).fill(`*a${level - 1}`)}]`,
).join('\n');

const BROKEN: [sentence: string, name: string, text: string, message: RegExp][] = [
  ['JSON with a trailing comma', 'a.json', '{"a": 1,}', /^The document cannot be read as JSON: Expected .+[^.:]\.$/],
  ['truncated JSON', 'a.json', '{"a": [1, ', /^The document cannot be read as JSON: .+[^.:]\.$/],
  ['ambiguous YAML', 'a.yaml', 'a: b: c\n', /^The document cannot be read as YAML: .+ at line 1, column 4\.$/],
  [
    'several documents',
    'a.yaml',
    'a: 1\n---\nb: 2\n',
    /^The document cannot be read as YAML: it contains several documents, but must contain one\.$/,
  ],
  ['an alias without an anchor', 'a.yaml', 'a: *nobody\n', /^The document cannot be read as YAML: .+nobody/],
  ['an alias bomb', 'a.yaml', BOMB, /^The document cannot be read as YAML: its aliases expand to too much data\.$/],
  [
    'a list that contains itself',
    'a.yaml',
    'a: &a [*a, *a]\n',
    /^The document cannot be read as YAML: an alias in it refers to itself\.$/,
  ],
  [
    'deeply nested YAML',
    'a.yaml',
    '['.repeat(10_000),
    /^The document cannot be read as YAML: it is nested too deeply\.$/,
  ],
  ['deeply nested JSON', 'a.json', '['.repeat(100_000), /^The document cannot be read as JSON: /],
];
for (const [sentence, name, text, message] of BROKEN) {
  test(`manifest text: refuses ${sentence}`, () => {
    const error = refusal(name, text);
    assert.equal(error.code, 'invalid_manifest');
    assert.match(error.message, message);
    assert.ok(!error.message.includes('\n'));
  });
}

test('manifest text: YAML with thousands of keys is parsed; of two equal keys the last wins', () => {
  const keys = Array.from({ length: 20_000 }, (_, index) => `key${index}: old\n`);
  const { document } = parseManifestText('a.yaml', `${keys.join('')}key0: new\n`);
  assert.equal((document as Record<string, string>).key0, 'new');
});

test('manifest text: unknown tags write nothing to the terminal', async () => {
  const module = new URL('../../src/catalog/manifest-text.ts', import.meta.url).href;
  const code = `import { parseManifestText } from '${module}'; parseManifestText('a.yaml', 'a: !odd text');`;
  const { stdout, stderr } = await promisify(execFile)(process.execPath, ['--input-type=module', '--eval', code]);
  assert.equal(stdout + stderr, '');
});

test('manifest text: keys such as __proto__ are ordinary keys', () => {
  for (const [name, text] of [
    ['a.json', '{"__proto__": {"a": 1}}'],
    ['a.yaml', '__proto__: {a: 1}'],
  ] as const) {
    const { document } = parseManifestText(name, text);
    assert.equal(JSON.stringify(document), '{"__proto__":{"a":1}}');
    assert.equal((document as { a?: number }).a, undefined);
  }
});

test('manifest text: any text becomes plain JSON or is refused with an error of the hub', () => {
  const pieces = fc.constantFrom(
    'a: ',
    '- ',
    '[',
    ']',
    '{',
    '}',
    '"',
    "'",
    '\n',
    '  ',
    '&a ',
    '*a',
    '!!set ',
    ': ',
    '%',
    '|',
  );
  const yamlLike = fc.array(fc.oneof(pieces, anyText(3))).map((all) => all.join(''));
  fc.assert(
    fc.property(fc.oneof(yamlLike, fc.json()), fc.constantFrom('a.json', 'a.yaml'), (text, name) => {
      try {
        const { document } = parseManifestText(name, text);
        assert.deepEqual(document, JSON.parse(JSON.stringify(document)));
      } catch (error) {
        if (!(error instanceof HubError)) throw error;
      }
    }),
    { numRuns: 500 },
  );
});

function refusal(name: string, text: string): HubError {
  try {
    parseManifestText(name, text);
  } catch (error) {
    if (error instanceof HubError) return error;
    throw error;
  }
  return assert.fail('The text was read.');
}
