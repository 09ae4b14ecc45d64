// What is written as YAML is read back as it was, by a reader of YAML 1.2 and by Python's, which is one of 1.1.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { test } from 'node:test';
import { parse } from 'yaml';
import { watsonxSkill } from '../../../src/install/adapters/watsonx-orchestrate.ts';
import { yamlText } from '../../../src/install/adapters/yaml-text.ts';
import type { JsonObject } from '../../../src/lib/json.ts';
import { aSubject, HOSTILE_TEXTS } from '../subjects.ts';

const UNICODE = [
  ...Array.from({ length: 0xa2 }, (_, code) => code),
  ...[0xad, 0x200b, 0x2028, 0x2029, 0xd800, 0xdfff, 0xe000, 0xfeff, 0xfffd, 0xfffe, 0xffff, 0x1f600, 0x1ffff, 0x10ffff],
].map((code) => String.fromCodePoint(code));
const WORDS = [
  ...[
    'yes',
    'No',
    'ON',
    'off',
    'y',
    'n',
    'true',
    'False',
    'null',
    '~',
    '',
    ' ',
    '<<',
    '=',
    '-',
    '?',
    ':',
    '---',
    '...',
  ],
  ...['1', '1_0', '0x1f', '0o7', '1e3', '.inf', '.nan', '12:30:45', '2026-01-01', '!!int 3', '&a', '*a', '%TAG', '@x'],
  ...['a: b', 'a #b', '[a', '{a', '"', "'", '\\', 'a\n  b \n\n', 'plain_key', 'with-dash', '名前'],
  ...['k'.repeat(1_100), '\u0080'.repeat(500), `long ${'words and\n lines '.repeat(200)}`],
];
const NUMBERS = [0, -1, 1.5, 1e21, -1e-7, 1.25e300, 123456789012, 5e-324];

const TEXTS = [...new Set([...HOSTILE_TEXTS, ...UNICODE, ...UNICODE.map((sign) => `a${sign}b`), ...WORDS])];
const DOCUMENTS: JsonObject[] = [
  ...TEXTS.map((each) => ({ value: each, [each]: [each, { [each]: each }], empty: {}, none: [] })),
  { numbers: NUMBERS, others: [true, false, null] },
];

test('yaml: every value and key is read back as it was', () => {
  for (const document of DOCUMENTS) assert.deepEqual(parse(yamlText(document)), document);
  const same = { a: 1 };
  assert.equal(yamlText({ same, again: same }), 'same:\n  a: 1\nagain:\n  a: 1\n');
});

// In CI nothing is skipped: there it is a failure.
const hasReader = process.env.CI || spawnSync('python3', ['-c', 'import yaml']).status === 0;
const noReader = hasReader ? false : '*** Python has no PyYAML here ***';
test('yaml: so it is by Python’s reader', { skip: noReader }, () => {
  assert.deepEqual(readByPython(DOCUMENTS.map(yamlText)), DOCUMENTS);
});

test('yaml: a skill of watsonx Orchestrate keeps hostile descriptions and parameters, for Python’s reader too', {
  skip: noReader,
}, () => {
  const texts = TEXTS.filter((each) => each.trim() !== '');
  const sources = texts.map((each) => {
    const result = watsonxSkill.render({ subject: aSubject({ description: each }), params: { [each]: each } });
    assert.ok(result.kind === 'file');
    return result.content;
  });
  assert.match(sources[0] ?? '', /^spec_version: "v1"\nkind: "mcp"\n/);
  const expected = texts.map((each) => [aSubject({ description: each }).description, { [each]: each }]);
  const told = (skills: JsonObject[]) => skills.map(({ description, params }) => [description, params]);
  assert.deepEqual(told(sources.map((source) => parse(source))), expected);
  assert.deepEqual(told(readByPython(sources)), expected);
});

function readByPython(sources: readonly string[]): JsonObject[] {
  const script = 'import json, sys, yaml\nprint(json.dumps([yaml.safe_load(each) for each in json.load(sys.stdin)]))';
  const input = JSON.stringify(sources);
  const { status, stdout, stderr } = spawnSync('python3', ['-c', script], { input, maxBuffer: 50_000_000 });
  assert.equal(status, 0, stderr.toString().slice(-1_000));
  return JSON.parse(stdout.toString());
}
