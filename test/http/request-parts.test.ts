// Paths, query strings and entity tags of requests.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { z } from 'zod';
import { isReadable, routableUrl } from '../../src/http/address-path.ts';
import { matchesEtag } from '../../src/http/etag.ts';
import { choice, csv, flag, freeText, wholeNumber, words } from '../../src/http/query-string.ts';

const addresses = [
  ['/', '/'],
  ['/catalog/entities/tool:a/b@1', '/catalog/entities/tool:a%2Fb@1'],
  ['/catalog/entities/tool%3Aa%2Fb@1?x=/', '/catalog/entities/tool%3Aa%2Fb@1?x=/'],
  ['/entities/%zz', '/entities/%25zz'],
  ['/entities/a/%ff', '/entities/a%2F%25ff'],
  ['/%zz?q=%zz#%', '/%25zz?q=%zz#%'],
  ['/100%', '/100%25'],
  ['/catalog?q=100%', '/catalog?q=100%'],
] as const;
for (const [url, expected] of addresses) {
  test(`addresses: ${url} is read as ${expected}`, () => assert.equal(routableUrl(url), expected));
}

test('addresses: the router can decode every normalized path', () => {
  const part = fc.oneof(fc.constantFrom('%', '%zz', '%ff', '%41', '/', '?', '#', '/entities/'), fc.string());
  fc.assert(fc.property(fc.array(part), (parts) => isReadable(routableUrl(`/${parts.join('')}`))));
});

const tags = [
  { given: undefined, matches: false },
  { given: '', matches: false },
  { given: '*', matches: true },
  { given: 'W/"abc"', matches: true },
  { given: '"abc"', matches: true },
  { given: '"other"', matches: false },
  { given: '"other", W/"abc"', matches: true },
  { given: '"other" , "one more"', matches: false },
  { given: '"a,b", "abc"', matches: true },
  { given: 'abc', matches: false },
  { given: '"*"', matches: false },
  { given: 'W/"ABC"', matches: false },
];
for (const { given, matches } of tags) {
  test(`etag: If-None-Match ${given} ${matches ? 'matches' : 'does not match'} W/"abc"`, () => {
    assert.equal(matchesEtag(given, 'W/"abc"'), matches);
  });
}

interface Case {
  name: string;
  schema: z.ZodType;
  /** Text → the value it is read as; for `refused`, text → the message. */
  read: [unknown, unknown][];
  refused: [unknown, string][];
}

const NOT_A_FLAG = 'must be true or false';
const NOT_A_NUMBER = 'must be a whole number from 1 to 500';
const NOT_A_CHOICE = 'must be one of name, quality';

const cases: Case[] = [
  {
    name: 'flag',
    schema: flag(false),
    read: [
      ...['true', '1', 'yes', 'on', 'TRUE', ' Yes '].map((text): [string, boolean] => [text, true]),
      ...['false', '0', 'no', 'off', 'OFF'].map((text): [string, boolean] => [text, false]),
      [undefined, false],
    ],
    refused: [
      ...['', '2', 'maybe', 'null'].map((text): [string, string] => [text, NOT_A_FLAG]),
      [['true', 'true'], 'must be given only once'],
    ],
  },
  {
    name: 'csv',
    schema: csv({ most: 3, longest: 5 }),
    read: [
      ['a,b', ['a', 'b']],
      [' a ,, b,', ['a', 'b']],
      ['a,a', ['a']],
      ['"a,b",c', ['a,b', 'c']],
      ['a"b,"c', ['a"b', '"c']],
      [
        ['a,b', 'c'],
        ['a', 'b', 'c'],
      ],
      [',', []],
      ['', []],
      [undefined, []],
    ],
    refused: ['a,b,c,d', 'abcdef'].map((text) => [
      text,
      'must be a list of at most 3 values of at most 5 characters each',
    ]),
  },
  {
    name: 'freeText',
    schema: freeText(5),
    read: [
      ['\u0000 a', '\u0000 a'],
      ['', ''],
    ],
    refused: [
      ['abcdef', 'must not be longer than 5 characters'],
      [['a', 'b'], 'must be given only once'],
    ],
  },
  { name: 'flag with default true', schema: flag(true), read: [[undefined, true]], refused: [] },
  {
    name: 'wholeNumber',
    schema: wholeNumber(1, 500).prefault(50),
    read: [
      ['1', 1],
      ['500', 500],
      ['007', 7],
      [undefined, 50],
    ],
    refused: [
      ...['', '0', '501', '-1', '1.5', '1e2', '0x10', ' 7 ', '٣', 'ten', '9'.repeat(400)].map(
        (text): [string, string] => [text, NOT_A_NUMBER],
      ),
      [['1', '2'], 'must be given only once'],
    ],
  },
  {
    name: 'choice',
    schema: choice(['name', 'quality']).prefault('name'),
    read: [
      ['quality', 'quality'],
      [' Quality', 'quality'],
      [undefined, 'name'],
    ],
    refused: [
      ...['', 'constructor', '__proto__'].map((text): [string, string] => [text, NOT_A_CHOICE]),
      [['name', 'quality'], 'must be given only once'],
    ],
  },
  {
    name: 'words',
    schema: words(5).default(''),
    read: [
      ['ab 😀', 'ab 😀'],
      ['', ''],
      [undefined, ''],
    ],
    refused: [
      ['123456', 'must not be longer than 5 characters'],
      ['a\u0000b', 'must not contain NUL characters'],
      [['a', 'b'], 'must be given only once'],
    ],
  },
];

for (const { name, schema, read, refused } of cases) {
  for (const [text, expected] of read) {
    test(`${name}: ${JSON.stringify(text)} is ${JSON.stringify(expected)}`, () => {
      assert.deepEqual(schema.parse(text), expected);
    });
  }
  for (const [text, message] of refused) {
    test(`${name}: ${JSON.stringify(text)?.slice(0, 40)} is refused`, () => {
      assert.deepEqual(
        schema.safeParse(text).error?.issues.map((issue) => issue.message),
        [message],
      );
    });
  }
}
