import assert from 'node:assert/strict';
import { test } from 'node:test';
import { kindNameOf } from '../../src/catalog/artifact-kind.ts';
import { safeName } from '../../src/install/target/places.ts';
import type { JsonObject } from '../../src/lib/json.ts';
import { gapArguments } from '../../src/lib/secrets/secret-arguments.ts';
import { cpuMs } from '../support/in-time.ts';
import { aPlan, aSubject, HOSTILE_TEXTS } from './subjects.ts';

const KINDS: [string, JsonObject, string][] = [
  ['pypi', { package: 'x' }, 'pypi'],
  ['PyPI', { package: 'x' }, 'pypi'],
  ['oci', { image: 'x' }, 'oci'],
  ['git', { repo: 'x' }, 'git'],
  ['zip', { url: 'x' }, 'zip'],
  ['other', { registry: 'npm', package: 'x' }, 'npm'],
  ['other', { registry: 'mcpb', package: 'https://x.example/a.mcpb' }, 'mcpb'],
  ['other', { registry: 'pypi', package: 'x' }, 'pypi'],
  ['other', { transport: 'SSE', url: 'https://x.example' }, 'remote'],
  ['other', { url: 'https://x.example' }, 'unsupported'],
  ['other', { registry: 'nuget', package: 'x', transport: 'x', url: 'x' }, 'unsupported'],
  ['other', {}, 'unsupported'],
  ['constructor', {}, 'unsupported'],
  ['', { registry: 7 }, 'unsupported'],
];

for (const [kind, spec, expected] of KINDS) {
  test(`plan: '${kind}' with ${JSON.stringify(spec)} is ${expected}`, () =>
    assert.equal(kindNameOf(kind, spec), expected));
}

test('plan: every artifact has a step, a readable command and a reason; none is missing', async () => {
  const specs: [string, JsonObject, string, RegExp][] = [
    ['pypi', { package: 'x', version: '1.2.3' }, 'pypi.install', /x==1\.2\.3/],
    ['oci', { image: 'r.example/x:1' }, 'oci.pull', /r\.example\/x:1/],
    ['git', { repo: 'https://g.example/x', ref: 'v1' }, 'git.checkout', /v1 of https:\/\/g\.example\/x/],
    ['zip', { url: 'https://z.example/y.zip' }, 'zip.extract', /https:\/\/z\.example\/y\.zip/],
    ['other', { registry: 'npm', package: '@a/b', version: '1.0.0' }, 'npm.install', /@a\/b@1\.0\.0/],
    ['npm', { package: 'c', registry_url: 'https://n.example/r' }, 'npm.install', /c@.* from https:\/\/n\.example\/r/],
    ['pypi', { package: 'y', registry_url: 'https://p.example/s' }, 'pypi.install', /y.* from https:\/\/p\.example\/s/],
    ['other', { transport: 'SSE', url: 'https://x.example' }, 'remote.skip', /nothing/],
    ['weird', {}, 'artifact.unsupported', /nothing/],
  ];
  const { artifacts } = await aPlan(aSubject({ artifacts: specs.map(([kind, spec]) => ({ kind, spec })) }));
  assert.equal(artifacts.length, specs.length);
  for (const [index, [kind, spec, step, command]] of specs.entries()) {
    const planned = artifacts[index];
    assert.deepEqual([planned?.kind, planned?.spec, planned?.step], [kind, spec, step]);
    assert.equal(planned?.fault !== undefined, step === 'artifact.unsupported');
    assert.match(planned?.command ?? '', command);
    assert.ok(planned?.reason);
  }
});

for (const path of [
  'package.json',
  'Package-Lock.json',
  '.npmrc',
  '.venv/x',
  'vendor/x',
  'src/.git/hooks/x',
  'AGENTS.md',
  'docs/Claude.md',
  'conftest.py',
  'src/Makefile',
  '.hub/x',
  'hub.lock.json',
  './Hub.Lock.JSON',
  'npm-shrinkwrap.json',
  'yarn.lock',
  '.mcp.json',
  './.MCP.json',
  '././.cursor/mcp.json',
  '.vscode/MCP.JSON',
  '.cursor',
  '.mcp.json/x',
]) {
  test(`plan: refuses an adapter at ${path}, which belongs to others`, async () => {
    for (const framework of ['langgraph', 'watsonx_orchestrate', 'no-such-framework']) {
      const { adapters } = await aPlan(aSubject({ adapters: [{ framework, template_key: '', path }] }));
      assert.match(
        adapters[0]?.fault ?? '',
        /which other programs write|that other programs run|reserved for the hub|only for adapters of MCP clients/,
      );
    }
  });
}

test('plan: adapters of MCP clients may name client files, and merge into them', async () => {
  const adapters = ['claude', 'cursor', 'vscode'].map((framework, index) => ({
    framework,
    template_key: 'mcp',
    path: ['./.mcp.json', '.cursor/mcp.json', '.vscode/mcp.json'][index],
  }));
  for (const { fault } of (await aPlan(aSubject({ adapters }))).adapters) assert.equal(fault, undefined);
});

for (const dest of ['.cursor', '.VSCode', '.mcp.json/x', '.github/workflows', '.git/hooks', '.venv']) {
  test(`plan: refuses ${dest} as destination, because another program would run its content`, async () => {
    const specs: [string, JsonObject][] = [
      ['git', { repo: 'https://g.example/x', dest }],
      ['zip', { url: 'https://z.example/y.zip', dest }],
    ];
    const { artifacts } = await aPlan(aSubject({ artifacts: specs.map(([kind, spec]) => ({ kind, spec })) }));
    for (const { fault } of artifacts) assert.match(fault ?? '', /must not start with '\.'/);
  });
}

test('plan: hides credentials in the address of a repository', async () => {
  const artifacts = [{ kind: 'git', spec: { repo: 'https://user:password@g.example/x' } }];
  assert.doesNotMatch((await aPlan(aSubject({ artifacts }))).artifacts[0]?.command ?? '', /password/);
});

test('plan: every manifest has a plan, and always the same one', async () => {
  const values: unknown[] = [...HOSTILE_TEXTS, 7, null, true, [], {}, [[]]];
  for (const value of values) {
    for (const kind of ['pypi', 'oci', 'git', 'zip', 'other', value]) {
      const spec = Object.fromEntries(
        ['package', 'version', 'image', 'tag', 'digest', 'repo', 'ref', 'url', 'dest', 'registry', 'index_url'].map(
          (name) => [name, value],
        ),
      );
      const adapters = [{ framework: value, template_key: value, path: value, params: value }];
      const subject = aSubject({
        artifacts: [
          { kind, spec },
          { kind, spec: value },
        ],
        adapters,
        mcp_registration: { server: value },
      });
      const plan = await aPlan(subject);
      assert.equal(plan.artifacts.length, 2);
      assert.deepEqual(plan, await aPlan(subject));
      for (const { path, fault } of plan.adapters) assert.ok(fault !== undefined || !/(^|\/)\.\.(\/|$)|^\//.test(path));
    }
  }
});

const LONG: [string, JsonObject, RegExp][] = [
  ['a dest of slashes', anArchive({ dest: `a${'/'.repeat(200_000)}b` }), /dest is too long/],
  ['an address of dots', anArchive({ url: `https://h.example/a${'.'.repeat(200_000)}a` }), /url .*longer than 2048/],
  ['a repository of slashes', aRepository(`https://h.example/a${'/'.repeat(200_000)}b`), /repo .*longer than 2048/],
  ['an image of colons', anImage(`a${':'.repeat(200_000)}/`), /image must not be longer/],
  ['a range of spaces', aPackage(`1${' '.repeat(200_000)}!`), /version must not be longer/],
  ['a framework of dots', anAdapter({ framework: `a${'.'.repeat(200_000)}a` }), /framework .*longer than 100/],
  [
    'a template key of dashes',
    anAdapter({ template_key: `a${'-'.repeat(200_000)}a` }),
    /template_key .*longer than 100/,
  ],
  ['a path of slashes', anAdapter({ path: `a${'/'.repeat(200_000)}b` }), /must not be longer than 1024/],
];

for (const [what, fields, reason] of LONG) {
  test(`plan: ${what} is refused quickly, however long it is`, async () => {
    const took = await cpuMs(async () => {
      const { artifacts, adapters } = await aPlan(aSubject(fields));
      assert.match([...artifacts, ...adapters][0]?.fault ?? '', reason);
    });
    assert.ok(took < 5_000, `${took} ms`);
  });
}

test('plan: a command of any length is parsed quickly', async () => {
  const long = 'x'.repeat(200_000);
  const took = await cpuMs(() => {
    gapArguments([`${long} --api-key=abc`, 'z']);
    gapArguments(['sh', '-c', `${long} https://h.example/?token=abc ${long}`]);
  });
  assert.ok(took < 5_000, `${took} ms`);
});

test('names: made from any text, of limited length and without dots at either end', () => {
  assert.equal(safeName(`a${'x'.repeat(200_000)}b`).length, 80);
  assert.deepEqual(
    ['.-a.b-.', '...', `a${'.'.repeat(90)}b`].map((each) => safeName(each)),
    ['a.b', 'unnamed', 'a'],
  );
});

function anArchive(spec: JsonObject): JsonObject {
  return { artifacts: [{ kind: 'zip', spec: { url: 'https://h.example/x.zip', ...spec } }] };
}

function aRepository(repo: string): JsonObject {
  return { artifacts: [{ kind: 'git', spec: { repo } }] };
}

function anImage(image: string): JsonObject {
  return { artifacts: [{ kind: 'oci', spec: { image } }] };
}

function aPackage(version: string): JsonObject {
  return { artifacts: [{ kind: 'other', spec: { registry: 'npm', package: 'x', version } }] };
}

function anAdapter(fields: JsonObject): JsonObject {
  return { adapters: [{ framework: 'unknown', template_key: 'x', ...fields }] };
}
