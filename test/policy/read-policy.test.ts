import assert from 'node:assert/strict';
import { test } from 'node:test';
import { HubError } from '../../src/errors.ts';
import { readPolicy } from '../../src/policy/read-policy.ts';

test('policy: YAML and JSON are read alike, and single values become lists', () => {
  const yaml = `
version: 1
rules:
  - name: no copyleft
    match: { license: [AGPL-*, GPL-*], type: mcp_server }
    except: { remote: internal }
    install: block
default: { register: require_approval }
`;
  const json = JSON.stringify({
    version: 1,
    rules: [
      {
        name: 'no copyleft',
        match: { license: ['AGPL-*', 'GPL-*'], type: ['mcp_server'] },
        except: { remote: ['internal'] },
        install: 'block',
      },
    ],
    default: { register: 'require_approval' },
  });
  assert.deepEqual(readPolicy(yaml), JSON.parse(json));
  assert.deepEqual(readPolicy(json), JSON.parse(json));
  assert.deepEqual(readPolicy('version: 1'), { version: 1, rules: [], default: {} });
});

test('policy: many values on one line are not nested', () => {
  const names = Array.from({ length: 500 }, (_, index) => `{ outcome: allow, name: "[{ ${index}" }`);
  assert.equal(readPolicy(`{ version: 1, rules: [${names.join(', ')}] }`).rules.length, 500);
});

const broken: { text: string; says: RegExp }[] = [
  { text: '', says: /line 1, column 1: the policy is empty; it must start with 'version: 1'/ },
  { text: 'version: 2', says: /line 1, column 1: version must be 1/ },
  { text: 'rules: []', says: /line 1, column 1: version must be 1/ },
  { text: 'version: 1\nrule: []', says: /line 2, column 1: rule is not a known field here/ },
  {
    text: 'version: 1\nrules:\n  - outcome: maybe',
    says: /line 3, column 5: rules\.0\.outcome must be one of allow, block/,
  },
  { text: 'version: 1\nrules:\n  - outcome: hide', says: /'hide' is only for search: write 'search: hide'/ },
  { text: 'version: 1\nrules:\n  - name: nothing', says: /line 3, column 5: rules\.0 has no effect/ },
  {
    text: 'version: 1\nrules:\n  - outcome: allow\n  - match: { licence: MIT }\n    outcome: block',
    says: /line 4, column 14: rules\.1\.match\.licence is not a known field here/,
  },
  {
    text: 'version: 1\nrules:\n  - match: { type: server }\n    outcome: block',
    says: /line 3, column 14: .*type must be one of agent, tool, mcp_server/,
  },
  {
    text: 'version: 1\nrules:\n  - match: { license: }\n    outcome: block',
    says: /line 3, column 14: .*license is missing; it must be a string/,
  },
  {
    text: 'version: 1\nrules:\n  - match: { license: [] }\n    outcome: block',
    says: /license must not be an empty list/,
  },
  {
    text: 'version: 1\nrules:\n  - match: { quality_below: 7 }\n    outcome: block',
    says: /quality_below must be from 0 to 1/,
  },
  {
    text: 'version: 1\nrules:\n  - match: { digest: maybe }\n    outcome: block',
    says: /digest must be true or false/,
  },
  { text: 'version: 1\nrules:\n  - except: {}\n    outcome: block', says: /except must have at least one member/ },
  {
    text: 'version: 1\nrules:\n  - outcome: allow\n    outcome: block',
    says: /line 4, column 5: map keys must be unique/,
  },
  { text: 'version: 1\nrules: [', says: /line 2, column \d+: / },
  {
    text: '{ "version": 1,\n  "rules": [ { "outcome": "nope" } ] }',
    says: /line 2, column 16: rules\.0\.outcome must be one of/,
  },
  { text: 'version: 1 # \u0000', says: /must be text/ },
  ...['[', '{', '- ', '? ', 'a: ['].map((opening) => ({
    text: opening.repeat(199_000 / opening.length),
    says: /line 1, column 1: is nested too deeply/,
  })),
  ...[`${']'.repeat(99_000)}${'['.repeat(99_000)}`, `[${'? '.repeat(99_000)}`, '&a '.repeat(60_000)].map((text) => ({
    text,
    says: /line 1, column 1: is nested too deeply/,
  })),
  {
    text: Array.from({ length: 15_000 }, (_, number) => `k${number}: 1`).join('\n'),
    says: /line 1, column 1: k0 is not a known field/,
  },
];
for (const { text, says } of broken) {
  test(`policy: ${JSON.stringify(text.slice(0, 200))} is refused with its line`, () => {
    assert.throws(
      () => readPolicy(text),
      (error) => {
        assert.ok(error instanceof HubError);
        assert.equal(error.code, 'invalid_policy');
        assert.match(error.message, says);
        assert.ok(error.faults.length > 0);
        return true;
      },
    );
  });
}

test('policy: refuses more patterns than the hub can match against every entity', () => {
  const match = { name: Array.from({ length: 1_000 }, (_, index) => `n${index}`) };
  const rules = (count: number) => Array.from({ length: count }, () => ({ match, except: match, outcome: 'block' }));
  assert.equal(readPolicy(JSON.stringify({ version: 1, rules: rules(5) })).rules.length, 5);
  assert.throws(
    () => readPolicy(JSON.stringify({ version: 1, rules: rules(6) })),
    /line 1, column 14: rules must not have more than 10000 patterns in total, but have 12000/,
  );
  assert.throws(() => readPolicy(`version: 1 # ${'x'.repeat(200_000)}`), /must not be longer than 200000 characters/);
});

test('policy: refuses aliases that expand too much', () => {
  const bomb = [
    'a: &a [x,x,x,x,x,x,x,x,x]',
    ...'bcdefghi'.split('').map((key, index) => {
      const before = 'abcdefgh'[index];
      return `${key}: &${key} [${Array(9).fill(`*${before}`).join(',')}]`;
    }),
  ].join('\n');
  assert.throws(() => readPolicy(`${bomb}\nversion: 1`), /aliases that expand to too much/);
});
