import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { appendFile, chmod, mkdir, readFile, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { type TestContext, test } from 'node:test';
import type { LockedArtifact, LockReport } from '../../../src/install/contract.ts';
import { verifyLockfile } from '../../../src/install/verify/verify.ts';
import { createRun } from '../../../src/lib/run.ts';
import { aManifest } from '../../support/builders.ts';
import { tempDir } from '../../support/databases.ts';
import { testHub } from '../../support/hub.ts';
import { startIndexServer } from '../../support/index-server.ts';
import { rawZip } from '../artifacts/raw-archives.ts';

const run = createRun(process.env);

/** What waits for the other end of a pipe waits for good. */
const PIPES = { timeout: 60_000, skip: process.platform === 'win32' };

/** A PATH with only this program on it, which says what it is told to. */
async function programSaying(t: TestContext, name: string, script: string) {
  const folder = await tempDir(t);
  await writeFile(join(folder, name), `#!/bin/sh\n${script}\n`);
  await chmod(join(folder, name), 0o755);
  return createRun({ PATH: folder });
}

async function verify(target: string): Promise<LockReport | undefined> {
  return verifyLockfile({ target, run, signal: new AbortController().signal });
}

/** `outcome what: reason`, for everything that is not the same. */
async function differences(target: string): Promise<string[]> {
  const { checks = [] } = (await verify(target)) ?? {};
  return checks
    .filter(({ outcome }) => outcome !== 'same')
    .map(({ outcome, what, reason }) => `${outcome} ${what}: ${reason}`);
}

/** A target with an archive, a repository and glue code in it, as a hub installs them. */
async function installed(t: TestContext): Promise<string> {
  const host = await startIndexServer(t);
  host.put(
    '/tool.zip',
    rawZip([
      { name: 'run.sh', content: 'echo 1' },
      { name: 'lib/a.txt', content: 'a' },
    ]),
  );
  const repository = await tempDir(t);
  const git = async (...args: string[]) => {
    const identity = ['-c', 'user.name=a', '-c', 'user.email=a@example.com', '-c', 'init.defaultBranch=main'];
    const request = { program: 'git', args: [...identity, ...args], cwd: repository, timeoutMs: 20_000 };
    assert.equal((await run(request)).exitCode, 0);
  };
  await writeFile(join(repository, 'readme.md'), 'hello');
  await git('init', '--quiet');
  await git('add', '.');
  await git('commit', '--quiet', '-m', 'first');
  const manifest = aManifest({
    artifacts: [
      { kind: 'zip', spec: { url: host.url('/tool.zip') } },
      { kind: 'zip', spec: { url: host.url('/tool.zip'), dest: 'elsewhere' } },
      { kind: 'git', spec: { repo: `file://${repository}`, dest: 'vendor/repository' } },
      { kind: 'other', spec: { transport: 'SSE', url: 'https://example.org/sse' } },
    ],
    adapters: [
      { framework: 'langgraph', template_key: 'node' },
      { framework: 'claude', template_key: 'mcp' },
    ],
    mcp_registration: { server: { name: 'pdf', transport: 'SSE', url: 'https://example.org/sse' } },
  });
  const { hub } = await testHub(t);
  const target = await tempDir(t);
  const report = await hub.install({
    id: 'mcp_server:pdf-tables@1.0.0',
    target,
    manifest,
    dry_run: false,
    frozen: false,
  });
  assert.deepEqual(
    report.results.filter(({ ok }) => !ok),
    [],
  );
  return target;
}

test('verify: what was installed is the same, and any change is told', async (t) => {
  const target = await installed(t);
  const whole = await verify(target);
  assert.equal(whole?.ok, true, JSON.stringify(whole, null, 1));
  assert.deepEqual(
    whole?.checks.map(({ outcome, what }) => `${outcome} ${what}`),
    ['same zip', 'same zip', 'same git', 'same other', 'same adapter langgraph', 'same adapter claude'],
  );
  const adapter = whole?.checks.find(({ what }) => what === 'adapter langgraph')?.path ?? '';
  const config = join(target, whole?.checks.find(({ what }) => what === 'adapter claude')?.path ?? '');

  const changes: { name: string; change: () => Promise<unknown>; says: RegExp; undo: () => Promise<unknown> }[] = [
    {
      name: 'a file of an archive is changed',
      change: () => writeFile(join(target, 'vendor/tool/run.sh'), 'echo 2'),
      undo: () => writeFile(join(target, 'vendor/tool/run.sh'), 'echo 1'),
      says: /^different zip: files in the folder were changed$/,
    },
    {
      name: 'a file of an archive becomes a program',
      change: () => chmod(join(target, 'elsewhere/run.sh'), 0o755),
      undo: () => chmod(join(target, 'elsewhere/run.sh'), 0o644),
      says: /^different zip: files/,
    },
    {
      name: 'a file is added to a repository',
      change: () => writeFile(join(target, 'vendor/repository/new.txt'), ''),
      undo: () => rm(join(target, 'vendor/repository/new.txt')),
      says: /^different git: files in the folder were changed$/,
    },
    {
      name: 'a file of a repository is changed',
      change: () => appendFile(join(target, 'vendor/repository/readme.md'), '!'),
      undo: () => writeFile(join(target, 'vendor/repository/readme.md'), 'hello'),
      says: /^different git: files in the folder were changed$/,
    },
    {
      name: 'a repository is at another commit',
      change: () =>
        rename(join(target, 'vendor/repository/.git/HEAD'), join(target, 'head')).then(() =>
          writeFile(join(target, 'vendor/repository/.git/HEAD'), `${'0'.repeat(40)}\n`),
        ),
      undo: () => rename(join(target, 'head'), join(target, 'vendor/repository/.git/HEAD')),
      says: /^different git: is at '0{40}', and should be at commit [0-9a-f]{40}$/,
    },
    {
      name: 'a repository is gone',
      change: () => rename(join(target, 'vendor/repository'), join(target, 'moved')),
      undo: () => rename(join(target, 'moved'), join(target, 'vendor/repository')),
      says: /^missing git: there is no repository$/,
    },
    {
      name: 'a folder is a link',
      change: async () => {
        await rename(join(target, 'vendor/tool'), join(target, 'moved'));
        await symlink(join(target, 'moved'), join(target, 'vendor/tool'));
      },
      undo: async () => {
        await rm(join(target, 'vendor/tool'));
        await rename(join(target, 'moved'), join(target, 'vendor/tool'));
      },
      says: /^different zip: .*goes through a link/,
    },
    {
      name: 'glue code is changed',
      change: () => appendFile(join(target, adapter), '\n# mine\n'),
      undo: async () => writeFile(join(target, adapter), (await readFile(join(target, adapter), 'utf8')).slice(0, -8)),
      says: /^different adapter langgraph: the file was changed$/,
    },
    {
      name: 'an entry is changed',
      change: () => editJson(config, (text) => text.replace('https://example.org/sse', 'https://evil.example/sse')),
      undo: () => editJson(config, (text) => text.replace('https://evil.example/sse', 'https://example.org/sse')),
      says: /^different adapter claude: the entry '.*' was changed/,
    },
  ];
  for (const { name, change, undo, says } of changes) {
    await t.test(name, async () => {
      await change();
      const found = await differences(target);
      await undo();
      assert.equal(found.length, 1, found.join('\n'));
      assert.match(found[0] ?? '', says);
      assert.deepEqual(await differences(target), [], 'and all is well again');
    });
  }

  await t.test('another entry of the same file is no concern of ours', async () => {
    await editJson(config, (text) => {
      const document = JSON.parse(text);
      document.mcpServers.mine = { command: 'x' };
      return JSON.stringify(document);
    });
    assert.deepEqual(await differences(target), []);
  });
  await t.test('a file that is gone is missing', async () => {
    await rm(config);
    assert.deepEqual(await differences(target), ['missing adapter claude: the file is gone']);
    assert.equal((await verify(target))?.ok, false);
  });
});

test('verify: without a lockfile there is nothing to compare with; a broken one is said', async (t) => {
  const target = await tempDir(t);
  assert.equal(await verify(target), undefined);
  assert.equal(await verify(join(target, 'nowhere')), undefined);
  await writeFile(join(target, 'hub.lock.json'), '{');
  await assert.rejects(verify(target), /not JSON/);
});

test('verify: packages of npm, by version, digest and content', async (t) => {
  const target = await tempDir(t);
  const put = (path: string, content: unknown) => putFile(target, path, content);
  const lock = (integrity: string) => ({
    packages: { 'node_modules/@a/b': { version: '1.0.0', integrity, dependencies: { c: '1' } }, ...C },
  });
  const C = { 'node_modules/c': { version: '1.2.3', integrity: 'sha512-c' } };
  await put('node_modules/@a/b/package.json', { name: '@a/b', version: '1.0.0' });
  await put('package-lock.json', lock('sha512-b'));
  await lockArtifacts(target, [
    {
      kind: 'other',
      spec: { registry: 'npm', package: '@a/b' },
      resolved: '@a/b@1.0.0',
      integrity: 'sha512-b',
      path: 'node_modules/@a/b',
      ok: true,
      dependencies: [{ resolved: 'c@1.2.3', integrity: 'sha512-c' }],
    },
  ]);
  assert.deepEqual(await differences(target), []);
  await put('package-lock.json', lock('sha512-x'));
  assert.match((await differences(target))[0] ?? '', /^different other: package-lock\.json has sha512-x for it/);
  C['node_modules/c'].version = '1.2.4';
  await put('package-lock.json', lock('sha512-b'));
  assert.match((await differences(target))[0] ?? '', /^different other: .*c@1\.2\.4/);
  await put('node_modules/@a/b/package.json', { name: '@a/b', version: '1.0.1' });
  assert.match((await differences(target))[0] ?? '', /^different other: is @a\/b@1\.0\.1, and should be @a\/b@1\.0\.0/);
  await put('node_modules/@a/b/package.json', 'null');
  assert.match(
    (await differences(target))[0] ?? '',
    /^different other: is @a\/b@undefined, and should be @a\/b@1\.0\.0/,
  );
  await put('node_modules/@a/b/package.json', '{');
  assert.match((await differences(target))[0] ?? '', /^different other: cannot be read any more/);
  await rm(join(target, 'node_modules'), { recursive: true });
  assert.match((await differences(target))[0] ?? '', /^missing other: the package is gone/);
});

test('verify: pipes in the place of files of npm are not waited for', PIPES, async (t) => {
  const target = await tempDir(t);
  const spec = { registry: 'npm', package: 'b' };
  await lockArtifacts(target, [
    { kind: 'other', spec, resolved: 'b@1.0.0', integrity: 'sha512-b', path: 'node_modules/b', ok: true },
  ]);
  await putFile(target, 'node_modules/b/package.json', { name: 'b', version: '1.0.0' });
  assert.match((await differences(target))[0] ?? '', /^different other: There is no package-lock\.json/);
  execFileSync('mkfifo', [join(target, 'package-lock.json')]);
  assert.match(
    (await differences(target))[0] ?? '',
    /^different other: The package-lock\.json .* cannot be understood/,
  );
  await rm(join(target, 'node_modules/b/package.json'));
  execFileSync('mkfifo', [join(target, 'node_modules/b/package.json')]);
  assert.deepEqual(await differences(target), ['missing other: the package is gone']);
});

test('verify: pipes in the place of files of repositories and images are not waited for', PIPES, async (t) => {
  const target = await tempDir(t);
  const digest = `sha256:${'0'.repeat(64)}`;
  await lockArtifacts(target, [
    { kind: 'git', spec: { repo: 'https://example.org/a' }, resolved: 'abc', integrity: null, path: 'a', ok: true },
    {
      kind: 'oci',
      spec: { image: 'example.org/b' },
      resolved: `example.org/b@${digest}`,
      integrity: digest,
      path: 'b',
      ok: true,
      platform: 'linux/other',
      tree: 'sha256:1',
    },
  ]);
  for (const [folder, name] of [
    ['a/.git', 'HEAD'],
    ['b/blobs/sha256', '0'.repeat(64)],
  ] as const) {
    await mkdir(join(target, folder), { recursive: true });
    execFileSync('mkfifo', [join(target, folder, name)]);
  }
  assert.deepEqual(await differences(target), [
    'missing git: there is no repository',
    'different oci: files in the folder were changed',
  ]);
});

test('verify: packages of Python, by version and their own list of files', async (t) => {
  const target = await tempDir(t);
  const packages = '.venv/lib/python3.12/site-packages';
  const put = (path: string, content: unknown) => putFile(target, `${packages}/${path}`, content);
  const install = async (name: string, version: string) => {
    const digest = createHash('sha256').update('x = 1').digest('base64url');
    await put(`${name}/__init__.py`, 'x = 1');
    await put(`${name}-${version}.dist-info/METADATA`, `Metadata-Version: 2.1\nName: ${name}\nVersion: ${version}\n`);
    await put(
      `${name}-${version}.dist-info/RECORD`,
      `${name}/__init__.py,sha256=${digest},5\n${name}-${version}.dist-info/RECORD,,\n`,
    );
  };
  await install('My_Tool', '1.0.0');
  await install('needed', '2.0');
  const artifact = { kind: 'pypi', spec: { package: 'my-tool' }, integrity: 'sha256:1', path: '.venv', ok: true };
  const dependencies = [{ resolved: 'needed==2.0', integrity: 'sha256:2' }];
  await lockArtifacts(target, [{ ...artifact, resolved: 'my-tool==1.0.0', dependencies }]);
  assert.deepEqual(await differences(target), []);
  await put('needed/__init__.py', 'x = 2');
  assert.deepEqual(await differences(target), ['different pypi: needed/__init__.py was changed']);
  await put('My_Tool-1.0.0.dist-info/METADATA', 'Version: 1.0.1\n');
  assert.deepEqual(await differences(target), ['different pypi: my-tool is of version 1.0.1, and should be of 1.0.0']);
  await rm(join(target, packages, 'My_Tool-1.0.0.dist-info'), { recursive: true });
  assert.deepEqual(await differences(target), ['missing pypi: my-tool is gone']);
  await rm(join(target, '.venv'), { recursive: true });
  assert.deepEqual(await differences(target), ['missing pypi: there is no virtual environment']);
});

test('verify: images, as docker or podman has them', async (t) => {
  const target = await tempDir(t);
  const image = { kind: 'oci', spec: { image: 'a' }, resolved: 'docker.io/library/a@sha256:1', integrity: 'sha256:1' };
  await lockArtifacts(target, [{ ...image, path: null, ok: true }]);
  const outcomeWith = async (name: string, script: string) => {
    const fake = await programSaying(t, name, script);
    const report = await verifyLockfile({ target, run: fake, signal: new AbortController().signal });
    return report?.checks[0]?.outcome;
  };
  assert.equal(await outcomeWith('docker', 'test "$6" = docker.io/library/a@sha256:1'), 'same');
  assert.equal(await outcomeWith('podman', 'exit 0'), 'same');
  assert.equal(await outcomeWith('docker', 'echo "Error: No such image: a" >&2; exit 1'), 'missing');
  assert.equal(await outcomeWith('docker', 'echo "Cannot connect to the Docker daemon" >&2; exit 1'), 'unchecked');
  assert.equal(await outcomeWith('other', 'exit 0'), 'unchecked');
});

test('verify: what cannot be told from the folder is said, and is no failure', async (t) => {
  const target = await tempDir(t);
  await mkdir(join(target, 'vendor/old'), { recursive: true });
  const base = { resolved: null, integrity: null, path: null, ok: true };
  await lockArtifacts(target, [
    { ...base, kind: 'other', spec: { registry: 'cargo', package: 'a' } },
    { ...base, kind: 'zip', spec: { url: 'https://example.org/a.zip' }, path: 'vendor/old' },
  ]);
  const found = await differences(target);
  assert.equal(found.length, 2);
  assert.ok(found.every((line) => line.startsWith('unchecked ')));
  assert.equal((await verify(target))?.ok, true);
});

test('verify: what an install could not put in place is missing', async (t) => {
  const target = await tempDir(t);
  const spec = { repo: 'https://example.org/a.git' };
  await lockArtifacts(target, [{ kind: 'git', spec, resolved: null, integrity: null, path: null, ok: false }]);
  assert.match((await differences(target))[0] ?? '', /^missing git: was not in place/);
  assert.equal((await verify(target))?.ok, false);
});

test('verify: a path that leads out of the folder is not followed', async (t) => {
  const target = await tempDir(t);
  await lockArtifacts(target, [
    { kind: 'zip', spec: {}, resolved: null, integrity: null, path: '../..', tree: 'sha256:1', ok: true },
  ]);
  assert.match((await differences(target))[0] ?? '', /^different zip: The path '\.\.\/\.\.' must not hold '\.\.'/);
});

async function putFile(target: string, path: string, content: unknown): Promise<void> {
  await mkdir(dirname(join(target, path)), { recursive: true });
  await writeFile(join(target, path), typeof content === 'string' ? content : JSON.stringify(content));
}

async function lockArtifacts(target: string, artifacts: LockedArtifact[]): Promise<void> {
  const provenance = { manifest_url: null, source_url: null, manifest_digest: 'sha256:0' };
  const entity = { id: 'tool:a@1', type: 'tool', name: 'a', version: '1', artifacts, adapters: [], provenance };
  await putFile(target, 'hub.lock.json', { version: 1, entities: [entity] });
}

async function editJson(file: string, edit: (text: string) => string): Promise<void> {
  await writeFile(file, edit(await readFile(file, 'utf8')));
}

test('verify: values that a person filled in are no change; others beside them are', async (t) => {
  const { hub } = await testHub(t);
  const servers = [
    { exec: { cmd: ['uvx', 'pdf'], env: { API_KEY: '', LOG_LEVEL: 'info' } } },
    {
      transport: 'HTTP',
      url: 'https://example.org/mcp?api_key=x&lang=de',
      headers: { 'X-Token': '', 'X-Region': 'eu' },
    },
  ];
  for (const server of servers) {
    const target = await tempDir(t);
    const manifest = aManifest({
      adapters: [
        { framework: 'claude', template_key: 'mcp' },
        { framework: 'vscode', template_key: 'mcp' },
      ],
      mcp_registration: { server },
    });
    await hub.install({ id: 'mcp_server:pdf-tables@1.0.0', target, manifest, dry_run: false, frozen: false });
    assert.deepEqual(await differences(target), []);
    for (const file of ['.mcp.json', '.vscode/mcp.json'])
      await editJson(join(target, file), (text) => {
        assert.match(text, /\$\{/);
        return text.replaceAll(/\$\{[^}]+\}/g, 'filled-in');
      });
    assert.deepEqual(await differences(target), []);
    await editJson(join(target, '.mcp.json'), (text) => text.replace(/"(info|eu)"/, '"other"'));
    assert.deepEqual(await differences(target), ["different adapter claude: the entry 'pdf-tables' was changed"]);
  }
});
