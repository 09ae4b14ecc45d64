import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Trust, TrustSignal } from '../../src/catalog/contract.ts';
import { compilePolicy } from '../../src/policy/decide.ts';
import type { Action } from '../../src/policy/document.ts';
import { readPolicy } from '../../src/policy/read-policy.ts';
import type { PolicySubject } from '../../src/policy/store.ts';
import { policyWarnings } from '../../src/policy/warnings.ts';

const signedBy = (repository: string | null, identity: string): TrustSignal => ({
  ...{ signal: 'npm_provenance', artifact: 'pdf@1.0.0', state: 'verified', detail: '', digest: null },
  source: { repository, commit: null, workflow: null, identity, issuer: 'https://issuer.example' },
});
const SIGNED: Trust = {
  state: 'verified',
  checked_at: null,
  signals: [signedBy('github.com/acme/pdf', 'a workflow'), signedBy(null, 'ann@example.org')],
};
const NOW = new Date('2026-06-15T00:00:00.000Z');

function aSubject(fields: Partial<PolicySubject> = {}): PolicySubject {
  return {
    uid: 'mcp_server:pdf@1.0.0',
    type: 'mcp_server',
    name: 'io.example/pdf',
    slug: 'pdf',
    quality: 0.5,
    publishedAt: '2026-06-01T00:00:00.000Z',
    createdAt: '2026-06-10T00:00:00.000Z',
    isRegistrable: true,
    remote: { url: 'https://catalog.example.org/index.json', name: 'Team' },
    registers: 'all',
    publisher: 'io.example',
    license: 'Apache-2.0',
    transports: ['sse'],
    artifacts: ['npm'],
    hasDigests: false,
    trust: null,
    brings: 'sha256:1',
    ...fields,
  };
}

function decide(text: string, subject: PolicySubject = aSubject()) {
  return compilePolicy(readPolicy(text)).decide(subject, NOW);
}

const matches: { match: string; fields?: Partial<PolicySubject>; isMatch: boolean }[] = [
  { match: '{}', isMatch: true },
  { match: '{ type: mcp_server }', isMatch: true },
  { match: '{ type: [agent, tool] }', isMatch: false },
  { match: '{ name: IO.EXAMPLE/* }', isMatch: true },
  { match: '{ name: pdf }', isMatch: true },
  { match: '{ name: example }', isMatch: false },
  { match: '{ publisher: io.example }', isMatch: true },
  { match: '{ publisher: [com.acme, "io.*"] }', isMatch: true },
  { match: '{ publisher: none }', isMatch: false },
  { match: '{ publisher: none }', fields: { publisher: null }, isMatch: true },
  { match: '{ publisher: "*" }', fields: { publisher: null }, isMatch: false },
  { match: '{ digest: false }', isMatch: true },
  { match: '{ digest: true }', isMatch: false },
  { match: '{ digest: true }', fields: { hasDigests: true }, isMatch: true },
  { match: '{ digest: true }', fields: { hasDigests: true, artifacts: ['remote'] }, isMatch: false },
  { match: '{ digest: false }', fields: { artifacts: [] }, isMatch: false },
  { match: '{ remote: team }', isMatch: true },
  { match: '{ remote: "https://catalog.example.org/*" }', isMatch: true },
  { match: '{ remote: team }', fields: { remote: null }, isMatch: false },
  { match: '{ remote: none }', fields: { remote: null }, isMatch: true },
  { match: '{ transport: sse }', isMatch: true },
  { match: '{ transport: none }', fields: { transports: [] }, isMatch: true },
  { match: '{ artifact: [oci, npm] }', isMatch: true },
  { match: '{ artifact: none }', isMatch: false },
  { match: '{ license: "apache*" }', isMatch: true },
  { match: '{ license: none }', fields: { license: null }, isMatch: true },
  { match: '{ license: none }', isMatch: false },
  { match: '{ quality_below: 0.5 }', isMatch: false },
  { match: '{ quality_at_least: 0.5 }', isMatch: true },
  { match: '{ younger_than_days: 14 }', isMatch: false },
  { match: '{ younger_than_days: 15 }', isMatch: true },
  { match: '{ older_than_days: 13 }', isMatch: true },
  { match: '{ older_than_days: 14 }', isMatch: false },
  { match: '{ younger_than_days: 6 }', fields: { publishedAt: null }, isMatch: true },
  { match: '{ digest: false }', isMatch: true },
  { match: '{ digest: true }', isMatch: false },
  { match: '{ signature: false }', isMatch: true },
  { match: '{ signature: true }', isMatch: false },
  { match: '{ trust: not_checked }', isMatch: true },
  { match: '{ signed_by: none }', isMatch: true },
  { match: '{ signed_by: "*" }', isMatch: false },
  { match: '{ signature: true }', fields: { trust: SIGNED }, isMatch: true },
  { match: '{ signature: true }', fields: { trust: { ...SIGNED, state: 'absent' } }, isMatch: false },
  { match: '{ trust: [failed, absent] }', fields: { trust: { ...SIGNED, state: 'failed' } }, isMatch: true },
  { match: '{ signed_by: GitHub.com/acme/* }', fields: { trust: SIGNED }, isMatch: false },
  { match: '{ signed_by: [github.com/acme/*, ann@example.org] }', fields: { trust: SIGNED }, isMatch: true },
  { match: '{ signed_by: "*" }', fields: { trust: { ...SIGNED, state: 'not_checked' } }, isMatch: false },
  { match: '{ type: mcp_server, license: MIT }', isMatch: false },
];
for (const { match, fields, isMatch } of matches) {
  test(`decide: ${match} ${isMatch ? 'matches' : 'does not match'} ${fields ? JSON.stringify(fields) : ''}`, () => {
    const decisions = decide(`{ version: 1, rules: [{ match: ${match}, install: block }] }`, aSubject(fields));
    assert.equal(decisions.install.outcome, isMatch ? 'block' : 'allow');
  });
}

test('decide: for each action, the first matching rule that mentions it decides', () => {
  const decisions = decide(`
version: 1
rules:
  - name: other publishers
    match: { publisher: com.acme }
    outcome: block
  - name: hidden
    search: hide
  - name: wait
    match: { type: mcp_server }
    outcome: require_approval
    approval: name
  - outcome: block
default: { register: block }
`);
  assert.deepEqual(decisions, {
    search: { outcome: 'hide', rule: 2, label: "rule 2 'hidden'", approval: 'version' },
    install: { outcome: 'require_approval', rule: 3, label: "rule 3 'wait'", approval: 'name' },
    register: { outcome: 'require_approval', rule: 3, label: "rule 3 'wait'", approval: 'name' },
  });
});

test('decide: a specific action wins over the outcome; exceptions exclude a rule', () => {
  const text =
    'version: 1\nrules:\n  - match: { type: mcp_server }\n    except: { remote: team }\n    outcome: block\n    search: allow';
  assert.equal(decide(text).install.outcome, 'allow');
  const elsewhere = decide(text, aSubject({ remote: null }));
  assert.deepEqual([elsewhere.search.outcome, elsewhere.install.outcome], ['allow', 'block']);
});

test('decide: the defaults decide what no rule covers', () => {
  const decisions = decide('version: 1\ndefault: { search: hide, register: require_approval, approval: name }');
  const outcomes = Object.entries(decisions).map(([action, { outcome, rule }]) => [action as Action, outcome, rule]);
  assert.deepEqual(outcomes, [
    ['search', 'hide', null],
    ['install', 'allow', null],
    ['register', 'require_approval', null],
  ]);
  assert.equal(decisions.register.approval, 'name');
});

test('explain: names the rule and the facts', () => {
  const policy = compilePolicy(
    readPolicy(
      'version: 1\nrules:\n  - { name: young, match: { license: "apache-*", younger_than_days: 20 }, install: block }',
    ),
  );
  const { install, search } = policy.decide(aSubject(), NOW);
  assert.match(policy.explain(install, aSubject(), NOW), /rule 1 'young'.*license apache-2\.0, an age of 14 days/);
  assert.match(policy.explain(search, aSubject(), NOW), /default/);
  assert.equal(policy.dependsOnAge, true);
  assert.equal(compilePolicy(readPolicy('version: 1')).dependsOnAge, false);
});

const warnings: { rules: string; says: RegExp[] }[] = [
  { rules: '[{ match: { type: tool }, outcome: allow }]', says: [] },
  { rules: '[{ outcome: allow }]', says: [/Rule 1 matches every entity/] },
  {
    rules:
      '[{ match: { type: tool }, install: block }, { outcome: allow }, { name: late, match: { license: MIT }, install: block }]',
    says: [/Rule 2 matches every entity/, /Rule 3 'late' never decides about install: rule 2 decides first/],
  },
  {
    rules:
      '[{ match: { type: [tool, agent] }, install: block }, { match: { type: tool, license: MIT }, outcome: allow }]',
    says: [/Rule 2 never decides about install: rule 1 decides first/],
  },
  {
    rules:
      '[{ match: { type: tool }, except: { license: MIT }, install: block }, { match: { type: tool }, install: allow }]',
    says: [],
  },
  { rules: '[{ match: { type: tool }, search: hide }, { match: { type: tool }, install: block }]', says: [] },
  { rules: '[{ match: { quality_below: 0.2, quality_at_least: 0.5 }, outcome: block }]', says: [/can never match/] },
  { rules: '[{ match: { signature: true }, outcome: allow }]', says: [] },
  { rules: "[{ match: { name: '*' }, outcome: allow }]", says: [/Rule 1 matches every entity/] },
  {
    rules:
      "[{ match: { name: [acme, '**'], type: [tool, agent, mcp_server], license: ['*', NONE], quality_at_least: 0 }, outcome: allow }]",
    says: [/Rule 1 matches every entity/],
  },
  { rules: "[{ match: { license: '*' }, outcome: allow }]", says: [] },
  {
    rules: "[{ match: { license: mit, name: '*' }, outcome: block }, { match: { license: MIT }, outcome: allow }]",
    says: [/Rule 2 never decides about search, install, or register: rule 1 decides first/],
  },
  {
    rules: '[{ name: a, match: { type: tool }, install: block }, { name: a, match: { type: agent }, install: block }]',
    says: [/Rule 2 'a' has the same name as rule 1/],
  },
  {
    rules: '[{ match: { type: tool }, outcome: block, approval: name }]',
    says: [/but no action of it requires approval/],
  },
];
for (const { rules, says } of warnings) {
  test(`warnings: ${rules}`, () => {
    const found = policyWarnings(readPolicy(`{ version: 1, rules: ${rules} }`));
    assert.equal(found.length, says.length, found.join('\n'));
    for (const [index, pattern] of says.entries()) assert.match(found[index] ?? '', pattern);
  });
}

test('warnings: are found once for a policy, not for every request', () => {
  const policy = readPolicy('{ version: 1, rules: [{ outcome: allow }] }');
  assert.equal(policyWarnings(policy), policyWarnings(policy));
});
