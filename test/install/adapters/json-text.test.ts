import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readJson, removeMember, setMember } from '../../../src/install/adapters/json-text.ts';

const ENTRY = { command: 'uvx', args: ['pdf'] };
const added = (text: string) => setMember(text, 'servers', { name: 'pdf', value: ENTRY });
const removed = (text: string) => removeMember(text, 'servers', 'pdf');
/** Without the prototypes of whoever read it. */
const document = (text: string) => JSON.parse(JSON.stringify(readJson(text, { allowsComments: true })));

const LAYOUTS = {
  'one below the other': '{\n  "servers": {\n    "a": { "command": "x" },\n    "b": {}\n  }\n}\n',
  'with tabs': '{\n\t"servers": {\n\t\t"a": {}\n\t}\n}',
  'in one line': '{ "servers": { "a": {}, "b": 1 } }',
  'without a blank': '{"servers":{"a":{}}}',
  'a comma behind the last': '{\n  "servers": {\n    "a": {},\n    "b": {},\n  },\n}\n',
  'a comment behind the last': '{\n  "servers": {\n    "a": {}, // first\n    "b": {} // why b is here\n  }\n}\n',
  'a comment behind the comma of the last': '{\n  "servers": {\n    "b": {}, /* mine */\n  }\n}\n',
  'comments below and above': '{\n  "servers": {\n    // above\n    "b": {}\n    // below\n  }\n}\n',
  'ends of lines of another system': '\uFEFF{\r\n  "servers": {\r\n    "b": {} // mine\r\n  }\r\n}\r\n',
  'something behind the section': '{\n  "servers": {\n    "b": {}\n  },\n  "inputs": [] // theirs\n}\n',
};

for (const [name, text] of Object.entries(LAYOUTS))
  test(`json text: an entry comes and goes, and no character changes: ${name}`, () => {
    const withEntry = added(text);
    assert.notEqual(withEntry, text);
    assert.partialDeepStrictEqual(document(withEntry), { servers: { pdf: ENTRY } });
    assert.equal(removed(withEntry), text);
  });

for (const [name, text, after] of [
  [
    'the last of several',
    '{\n  "servers": {\n    "mine": {}, // do not touch: prod\n    /* see wiki */\n    "pdf": 1\n  }\n}\n',
    '{\n  "servers": {\n    "mine": {} // do not touch: prod\n    /* see wiki */\n  }\n}\n',
  ],
  [
    'the first of several',
    '{\n  "servers": {\n    "pdf": 1,\n    // key of mine is in the vault\n    "mine": {}\n  }\n}\n',
    '{\n  "servers": {\n    // key of mine is in the vault\n    "mine": {}\n  }\n}\n',
  ],
  [
    'one in the middle, with a comment of its own',
    '{"servers": {\n  "a": 1,\n  "pdf": 1, // said of it, with a , in it\n  "b": 2\n}}',
    '{"servers": {\n  "a": 1,\n  // said of it, with a , in it\n  "b": 2\n}}',
  ],
  ['the first in one line', '{ "servers": { "pdf": 1, "b": 2 } }', '{ "servers": { "b": 2 } }'],
  ['the only one', '{ "servers": { "pdf": 1 } }', '{ "servers": {} }'],
  ['the only one, with a comment', '{ "servers": { /* none yet */ "pdf": 1 } }', '{ "servers": { /* none yet */ } }'],
] as const)
  test(`json text: a removed entry takes no comment along: ${name}`, () => assert.equal(removed(text), after));

test('json text: a section that is null holds nothing, and becomes one that does', () => {
  const text = '{\n  "servers": null, // later\n  "z": 1\n}\n';
  assert.deepEqual(document(added(text)), { servers: { pdf: ENTRY }, z: 1 });
  assert.match(added(text), /\}, \/\/ later\n {2}"z": 1\n\}\n$/);
});
