import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parse } from 'jsonc-parser';
import {
  type EntryMerge,
  isFilledIn,
  mergeEntry as mergeInto,
  stateOf,
} from '../../../src/install/adapters/config-file.ts';
import { jsonConfig } from '../../../src/install/adapters/json-config.ts';
import type { JsonObject } from '../../../src/lib/json.ts';
import { aSubject, HOSTILE_TEXTS } from '../subjects.ts';
import { renderedFor } from './rendered.ts';

const wanted = {
  format: 'json' as const,
  section: 'mcpServers',
  name: 'pdf',
  inputs: [],
  entry: { type: 'stdio', command: 'uvx', args: ['pdf'], env: { KEY: `\${KEY}`, LEVEL: 'info' } },
};
const mergeEntry = (existing: string, entry: EntryMerge['wanted'], known?: { name: string; written: JsonObject }) => {
  const earlier = known && { ...entry, name: known.name, entry: known.written };
  return mergeInto(existing, { wanted: entry, earlier, taken: [], isForced: false });
};
const merged = (existing: string, known?: string, written: JsonObject = wanted.entry) => {
  const { text, name } = mergeEntry(existing, wanted, known ? { name: known, written } : undefined);
  return { document: JSON.parse(text), name, text };
};

test('config: a new file contains only the entry', () => {
  assert.deepEqual(merged('').document, { mcpServers: { pdf: wanted.entry } });
});

test('config: the rest of the file and its indentation stay', () => {
  const existing = '{\n\t"theme": "dark",\n\t"mcpServers": {\n\t\t"other": { "command": "x" }\n\t},\n\t"z": [1]\n}\n';
  const { document, text } = merged(existing);
  assert.deepEqual(Object.keys(document), ['theme', 'mcpServers', 'z']);
  assert.deepEqual(document.mcpServers, { other: { command: 'x' }, pdf: wanted.entry });
  assert.match(text, /^\{\n\t"theme"/);
});

test('config: a second install changes no byte', () => {
  const first = merged('{"mcpServers": {}}').text;
  assert.equal(merged(first).text, first);
  const byHand = `{"mcpServers":{"pdf":${JSON.stringify(wanted.entry)}}}`;
  assert.equal(merged(byHand).text, byHand, 'also in a user’s own layout');
});

test('config: keeps values that the user filled in, and settings of the client', () => {
  const filledIn = { ...wanted.entry, env: { KEY: 'sk-1', LEVEL: 'debug' }, disabled: true };
  const { document } = merged(JSON.stringify({ mcpServers: { pdf: filledIn } }), 'pdf');
  assert.deepEqual(document.mcpServers.pdf, filledIn);
});

test('config: does not touch a foreign entry of the same name', () => {
  const theirs = { command: 'their-own' };
  const { document, name } = merged(JSON.stringify({ mcpServers: { pdf: theirs } }));
  assert.equal(name, 'pdf-2');
  assert.deepEqual(document.mcpServers, { pdf: theirs, 'pdf-2': wanted.entry });
  assert.equal(merged(JSON.stringify(document), 'pdf-2').name, 'pdf-2');
  assert.equal(merged(JSON.stringify(document)).name, 'pdf-2', 'recognized by its command');
});

test('config: a new version replaces the entry of an earlier install', () => {
  const old = { mcpServers: { pdf: { type: 'stdio', command: 'uvx', args: ['pdf==1'], env: {} } } };
  assert.deepEqual(merged(JSON.stringify(old), 'pdf', old.mcpServers.pdf).document, {
    mcpServers: { pdf: wanted.entry },
  });
});

for (const [name, text, reason] of [
  ['invalid JSON', '{"mcpServers":', /not plain JSON/],
  ['JSON with comments', '{\n// mine\n"mcpServers": {}}', /not plain JSON/],
  ['a trailing comma', '{"mcpServers": {},}', /not plain JSON/],
  [
    'a repeated section',
    '{"mcpServers": {"a": {}}, "mcpServers": {"b": {}}}',
    /'mcpServers' or 'pdf' occurs twice in it/,
  ],
  ['a list', '[]', /not a JSON object/],
  ['an empty section', '{"mcpServers": null}', /'mcpServers' in it is not an object/],
  ['an invalid section', '{"mcpServers": []}', /'mcpServers' in it is not an object/],
] as const) {
  test(`config: a file with ${name} is not changed`, () =>
    assert.throws(() => merged(text), { name: 'RangeError', message: reason }));
}

test('config: the text around the entry stays: long numbers, order, empty lines', () => {
  const existing = `{
    "id": 12345678901234567890, "number": 1.0,
    "z": 1e2,

    "mcpServers": {
        "10": {"n": 9007199254740993}, "2": {}, "a": {"x": 1} },
    "b": "\\u00e9\\/"
}
`;
  const { text } = merged(existing);
  for (const line of existing.split('\n').filter(Boolean)) assert.ok(text.split('\n').includes(line), line);
  assert.deepEqual(JSON.parse(text).mcpServers.pdf, wanted.entry);
  assert.equal(merged(text).text, text);
});

test('config: keeps the line endings of the file', () => {
  const { text } = mergeEntry('{\r\n  "mcpServers": {}\r\n}\r\n', wanted);
  assert.ok(text.startsWith('{\r\n  "mcpServers": {\r\n    "pdf": {\r\n'), JSON.stringify(text));
  assert.doesNotMatch(text, /[^\r]\n/);
});

test('config: keeps comments around new and changed entries where the client allows them', () => {
  const withComments = { ...wanted, format: 'json with comments' as const };
  const existing = `// mine
{
  /* all of them */
  "mcpServers": {
    // "old": {},
    "other": { "command": "x" }, // theirs
  },
}
`;
  const first = mergeEntry(existing, withComments).text;
  for (const comment of ['// mine', '/* all of them */', '// "old": {},', '// theirs'])
    assert.ok(first.includes(comment), first);
  assert.deepEqual(parse(first), { mcpServers: { other: { command: 'x' }, pdf: wanted.entry } });
  const entry = { ...wanted.entry, args: ['pdf', '--new'] };
  const changed = mergeEntry(first, { ...withComments, entry }, { name: 'pdf', written: wanted.entry }).text;
  assert.equal(changed.replace(/,\s*"--new"/, ''), first);
  for (const broken of ['{ "mcpServers": { /* }', '// nothing', '{ "mcpServers": {} } }', '{ "a" 1 }'])
    assert.throws(() => mergeEntry(broken, withComments), { name: 'RangeError', message: /not JSON/ });
  const deep = `{"a": ${'['.repeat(400_000)}${']'.repeat(400_000)}}`;
  for (const each of [wanted, withComments]) assert.throws(() => mergeEntry(deep, each), RangeError);
});

for (const name of ['constructor', 'toString', '__proto__']) {
  test(`config: a variable and an entry may be named ${name}`, () => {
    const entry = { ...wanted.entry, env: Object.fromEntries([[name, `\${X}`]]) };
    const { text } = mergeEntry('', { ...wanted, entry });
    assert.deepEqual(Object.entries(JSON.parse(text).mcpServers.pdf.env), [[name, `\${X}`]]);
    assert.equal(stateOf(jsonConfig.find(text.replace(`"${name}"`, '"other"'), wanted), entry), 'another');
    assert.equal(isFilledIn({ env: {} }, { env: entry.env }), false);
    assert.equal(isFilledIn(entry.env, {}), false);
  });
}

test('config: a new version that changes the entry keeps values of the user', () => {
  const written = { ...wanted.entry, env: { KEY: `\${KEY}`, GONE: '1' } };
  const of = (entry: JsonObject) => JSON.stringify({ mcpServers: { pdf: entry } });
  const known = { name: 'pdf', written };
  assert.deepEqual(JSON.parse(mergeEntry(of(written), wanted, known).text).mcpServers.pdf, wanted.entry);
  const enough = of({ ...wanted.entry, env: { KEY: 'sk-1', LEVEL: 'debug', MINE: 'x' }, timeout: 5 });
  assert.deepEqual(mergeEntry(enough, wanted, known), { text: enough, name: 'pdf', isTheirs: false });
  const filled = of({ ...written, env: { KEY: 'sk-1', GONE: '1', MINE: 'x' }, timeout: 5 });
  const upgraded = JSON.parse(mergeEntry(filled, wanted, known).text).mcpServers.pdf;
  assert.deepEqual(upgraded, { ...wanted.entry, env: { KEY: 'sk-1', LEVEL: 'info', MINE: 'x' }, timeout: 5 });
  const louder = { ...wanted, entry: { ...wanted.entry, env: { KEY: `\${KEY}`, LEVEL: 'warn' } } };
  assert.match(mergeEntry(of(wanted.entry), louder, { name: 'pdf', written: wanted.entry }).text, /"LEVEL": ?"warn"/);
});

test('config: only an unchanged entry counts as the same', () => {
  const { text } = merged('{"mcpServers": {}}');
  assert.equal(stateOf(jsonConfig.find(text, wanted), wanted.entry), 'same');
  assert.equal(stateOf(jsonConfig.find(text, { ...wanted, name: 'other' }), wanted.entry), 'absent');
  assert.equal(stateOf(jsonConfig.find(text.replace('info', 'debug'), wanted), wanted.entry), 'filled in');
  assert.equal(stateOf(jsonConfig.find(text.replace('uvx', 'sh'), wanted), wanted.entry), 'another');
});

test('config: does not write secrets in addresses, and keeps those the user fills in', () => {
  const subject = aSubject({
    mcp_registration: { server: { transport: 'HTTP', url: 'https://me:pw@x.example/mcp?api_key=sk-123&lang=de' } },
  });
  const placeholders = {
    claude: (name: string) => `\${${name}_FOR_IO_EXAMPLE_DOCS__PDF_TABLES}`,
    cursor: (name: string) => `\${env:${name}_FOR_IO_EXAMPLE_DOCS__PDF_TABLES}`,
    vscode: (name: string) =>
      `\${input:pdf-tables-${name.toLowerCase().replace('_', '-')}-for-io-example-docs--pdf-tables}`,
  };
  for (const [client, placeholder] of Object.entries(placeholders)) {
    const rendered = renderedFor(client, 'mcp', subject);
    assert.ok(rendered?.kind === 'entry');
    const login = `${placeholder('USERNAME')}:${placeholder('PASSWORD')}`;
    const url = `https://${login}@x.example/mcp?api_key=${placeholder('API_KEY')}&lang=de`;
    assert.equal(rendered.entry.url, url);
    const filledIn = { ...rendered.entry, url: 'https://a:b@x.example/mcp?api_key=mine&lang=de' };
    const existing = JSON.stringify({ [rendered.section]: { 'pdf-tables': filledIn } });
    for (const known of [undefined, { name: 'pdf-tables', written: rendered.entry }])
      assert.deepEqual(mergeEntry(existing, rendered, known), { text: existing, name: 'pdf-tables', isTheirs: false });
    const other = JSON.stringify({ [rendered.section]: { 'pdf-tables': { ...filledIn, url: 'https://x.example/' } } });
    assert.equal(mergeEntry(other, rendered).name, 'pdf-tables-2');
  }
});

test('config: a manifest cannot read the environment of the user', () => {
  const steal = `\${AWS_SECRET_ACCESS_KEY}`;
  const remote = aSubject({
    mcp_registration: { server: { transport: 'HTTP', url: `https://x.example/${steal}?k=${steal}` } },
  });
  const command = aSubject({
    mcp_registration: { server: { exec: { cmd: [steal, `--x=${steal}`], env: { LANG: `a ${steal}` } } } },
  });
  const names = aSubject({
    mcp_registration: {
      server: {
        transport: 'HTTP',
        url: 'https://x.example/?AWS_SECRET_ACCESS_KEY=',
        headers: { 'AWS-Secret-Access-Key': '' },
      },
    },
  });
  for (const client of ['claude', 'cursor', 'vscode']) {
    for (const subject of [remote, command, names]) {
      const entry = renderedFor(client, 'mcp', subject);
      assert.doesNotMatch(JSON.stringify(entry), /\$\{(env:)?AWS_SECRET_ACCESS_KEY\}/);
    }
  }
});

test('config: hostile names become plain names, and the file stays valid JSON', () => {
  for (const text of HOSTILE_TEXTS) {
    const subject = aSubject({
      name: text,
      mcp_registration: { server: { exec: { cmd: [text], env: { [text]: text } } } },
    });
    if (text.trim() === '' || text === '\u0000') continue;
    const entry = renderedFor('claude', 'mcp', subject);
    assert.ok(entry?.kind === 'entry');
    assert.match(entry.name, /^[A-Za-z0-9][A-Za-z0-9_-]*$/);
    const document = JSON.parse(mergeEntry('{"mcpServers":{"kept":{}}}', entry).text);
    assert.deepEqual(Object.keys(document.mcpServers).length, 2, text);
  }
});

const LAYOUTS = {
  'one entry per line': '{\n  "mcpServers": {\n    "a": { "command": "x" },\n    "b": {}\n  }\n}\n',
  'with tabs': '{\n\t"mcpServers": {\n\t\t"a": {}\n\t}\n}',
  'a trailing comma': '{\n  "mcpServers": {\n    "a": {},\n    "b": {},\n  },\n}\n',
  'a comment after the last': '{\n  "mcpServers": {\n    "a": {}, // first\n    "b": {} // why b is here\n  }\n}\n',
  'comments above and below': '{\n  "mcpServers": {\n    // above\n    "b": {}\n    // below\n  }\n}\n',
  'a key after the section': '{\n  "mcpServers": {\n    "b": {}\n  },\n  "inputs": [] // theirs\n}\n',
};

for (const [name, text] of Object.entries(LAYOUTS))
  test(`config: adding and removing an entry restores the text: ${name}`, () => {
    const entry = { ...wanted, format: 'json with comments' as const };
    const added = mergeEntry(text, entry).text;
    assert.partialDeepStrictEqual(parse(added), { mcpServers: { pdf: wanted.entry } });
    assert.equal(jsonConfig.remove(added, entry), text);
  });

for (const [name, text, after] of [
  [
    'the last of several',
    '{\n  "mcpServers": {\n    "mine": {}, // do not touch: prod\n    /* see wiki */\n    "pdf": 1\n  }\n}\n',
    '{\n  "mcpServers": {\n    "mine": {} // do not touch: prod\n    /* see wiki */\n  }\n}\n',
  ],
  [
    'in the middle, with its own comment',
    '{"mcpServers": {\n  "a": 1,\n  "pdf": 1, // said of it, with a , in it\n  "b": 2\n}}',
    '{"mcpServers": {\n  "a": 1,\n  // said of it, with a , in it\n  "b": 2\n}}',
  ],
  ['the first, on one line', '{ "mcpServers": { "pdf": 1, "b": 2 } }', '{ "mcpServers": { "b": 2 } }'],
  ['the only one', '{ "mcpServers": { "pdf": 1 } }', '{ "mcpServers": { } }'],
] as const)
  test(`config: removing an entry keeps all comments: ${name}`, () =>
    assert.equal(jsonConfig.remove(text, { ...wanted, format: 'json with comments' }), after));

test('config: inputs of a removed entry are removed unless another entry uses them', () => {
  const [one, two] = ['a', 'b'].map((id) => ({ type: 'promptString' as const, id, description: id, password: true }));
  assert.ok(one && two);
  const asking = {
    ...wanted,
    inputs: [one, two],
    entry: { command: 'x', env: { A: `\${input:a}`, B: `\${input:b}` } },
  };
  const other = { ...wanted, name: 'other', inputs: [one], entry: { command: 'y', env: { A: `\${input:a}` } } };
  const both = mergeEntry(mergeEntry('', asking).text, other).text;
  assert.equal(parse(both).inputs.length, 2);
  const rest = jsonConfig.remove(both, asking);
  assert.deepEqual(parse(rest).inputs, [one]);
  assert.equal('inputs' in parse(jsonConfig.remove(rest, other)), false);
});

const SERVERS = '"mcpServers": {\n    "b": {}\n  }';
const THEIR_INPUTS = {
  'a comment above': `{\n  "inputs": [\n    // my input\n    { "id": "mine", "type": "promptString" } ],\n  ${SERVERS}\n}\n`,
  'a comment after the last': `{\n  "inputs": [\n    { "id": "mine" } // mine\n  ],\n  ${SERVERS}\n}\n`,
};
for (const [name, text] of Object.entries(THEIR_INPUTS)) {
  test(`config: the text of other inputs stays: ${name}`, () => {
    const input = { type: 'promptString' as const, id: 'ours', description: 'Key', password: true };
    const entry = { command: 'x', env: { KEY: `\${input:ours}` } };
    const ours = { ...wanted, format: 'json with comments' as const, inputs: [input], entry };
    const { text: added } = mergeEntry(text, ours);
    assert.deepEqual(parse(added).inputs[0], input, added);
    assert.equal(jsonConfig.remove(added, ours), text);
  });
}

test('config: an input is added after a trailing comma', () => {
  const text = '{ "inputs": [\n  { "id": "mine" }, // mine\n] }';
  const input = { type: 'promptString' as const, id: 'ours', description: 'Key', password: true };
  const added = jsonConfig.addInputs?.(text, [input]) ?? '';
  assert.deepEqual(parse(added, [], { allowTrailingComma: true }).inputs, [input, { id: 'mine' }], added);
});
