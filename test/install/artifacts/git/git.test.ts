import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { gitKind } from '../../../../src/install/artifacts/git/git.ts';
import { vendorTree } from '../../../../src/install/artifacts/place.ts';
import { explain } from '../../../../src/install/explain.ts';
import { createRun } from '../../../../src/lib/run.ts';
import { startGitHost } from '../../git-host.ts';
import { emptyFolder } from '../artifact-context.ts';
import { building } from '../building.ts';

test('git: branch, tag, commit and none at all are checked out, detached', async (t) => {
  const host = await startGitHost(t);
  const first = await host.create('thing', { 'a.txt': 'one' });
  await host.git('thing', 'tag', 'v1.0.0');
  const second = await host.commit('thing', { 'a.txt': 'two' });
  await host.git('thing', 'branch', 'feature/x');
  const third = await host.commit('thing', { 'a.txt': 'three' });
  const cases = {
    'v1.0.0': first,
    'feature/x': second,
    main: third,
    [second]: second,
    '': third,
  };
  for (const [ref, commit] of Object.entries(cases)) {
    await t.test(ref || 'no ref', async (t) => {
      const { install, read, assertContained } = await building(t);
      const installed = await install(gitKind, { repo: host.url('thing.git'), ...(ref ? { ref } : {}) });
      assert.deepEqual(
        [installed.resolved, installed.integrity, installed.extra?.commit],
        [commit, `sha1:${commit}`, commit],
      );
      assert.equal((await read('.git/HEAD')).trim(), commit, 'detached');
      assert.equal(await read('a.txt'), { [first]: 'one', [second]: 'two', [third]: 'three' }[commit]);
      await assertContained();
    });
  }
});

test('git: annotated tags, tags before branches, and full names of refs', async (t) => {
  const host = await startGitHost(t);
  const first = await host.create('thing', { 'a.txt': 'one' });
  await host.git('thing', 'tag', '--annotate', '--message', 'one', 'v1');
  await host.git('thing', 'update-ref', 'refs/pull/7/head', first);
  const second = await host.commit('thing', { 'a.txt': 'two' });
  await host.git('thing', 'branch', 'v1');
  await host.git('thing', 'branch', 'other/main', first);
  const cases = { v1: first, 'heads/v1': second, 'refs/tags/v1': first, 'refs/pull/7/head': first, main: second };
  for (const [ref, commit] of Object.entries(cases)) {
    const { install } = await building(t);
    assert.equal((await install(gitKind, { repo: host.url('thing'), ref })).resolved, commit, ref);
  }
});

test('git: a shortened commit is refused, because hosts do not know it', async (t) => {
  const host = await startGitHost(t);
  const commit = await host.create('thing');
  const { failure } = await building(t);
  assert.match(
    await failure(gitKind, { repo: host.url('thing'), ref: commit.slice(0, 9) }),
    /If it is a shortened commit, use the full one/,
  );
});

test('git: to resolve a ref, nothing but the list of refs is fetched', async (t) => {
  const host = await startGitHost(t);
  const commit = await host.create('thing');
  const { context } = await building(t);
  const spec = gitKind.spec.parse({ repo: host.url('thing'), ref: 'main' });
  assert.equal((await gitKind.resolve(spec, context)).resolved, commit);
  assert.deepEqual(await readdir(context.stagingDir), []);
});

test('git: only the commit that is wanted is fetched', async (t) => {
  const host = await startGitHost(t);
  await host.create('thing', { 'a.txt': 'one' });
  await host.commit('thing', { 'a.txt': 'two' });
  const { install, folder } = await building(t);
  await install(gitKind, { repo: host.url('thing'), ref: 'main' });
  const { stdout } = await createRun(process.env)({
    program: 'git',
    args: ['-C', folder, 'rev-list', '--count', 'HEAD'],
    cwd: '/',
    timeoutMs: 5_000,
  });
  assert.equal(stdout.trim(), '1');
});

test('git: two targets get the same bytes, and git finds nothing changed in them', async (t) => {
  const host = await startGitHost(t);
  await host.create('thing', { 'a.txt': 'one' });
  const [one, other] = [await building(t), await building(t)];
  for (const { install } of [one, other]) await install(gitKind, { repo: host.url('thing'), ref: 'main' });
  assert.equal(await vendorTree(one.folder), await vendorTree(other.folder));
  const { stdout } = await createRun(process.env)({
    program: 'git',
    args: ['-C', one.folder, 'status', '--porcelain'],
    cwd: '/',
    timeoutMs: 5_000,
  });
  assert.equal(stdout, '');
});

test('git: a plain file host works too', async (t) => {
  const host = await startGitHost(t, { plain: true });
  const first = await host.create('thing', { 'a.txt': 'one' });
  await host.git('thing', 'tag', 'v1');
  const second = await host.commit('thing', { 'a.txt': 'two' });
  for (const [ref, commit] of [
    ['v1', first],
    ['main', second],
    [undefined, second],
    [first, first],
  ] as const) {
    const { install } = await building(t);
    assert.equal((await install(gitKind, { repo: host.url('thing'), ref })).resolved, commit, ref);
  }
});

test('git: a frozen install takes the commit of the lockfile, wherever the branch is by now', async (t) => {
  const host = await startGitHost(t);
  const first = await host.create('thing', { 'a.txt': 'one' });
  await host.commit('thing', { 'a.txt': 'two' });
  const { install, read, failure } = await building(t);
  const spec = { repo: host.url('thing'), ref: 'main' };
  const locked = { resolved: first, integrity: `sha1:${first}` };
  assert.equal((await install(gitKind, spec, { locked })).resolved, first);
  assert.equal(await read('a.txt'), 'one');
  const gone = { resolved: 'b'.repeat(40), integrity: `sha1:${'b'.repeat(40)}` };
  assert.match(await failure(gitKind, spec, { locked: gone }), /has no branch, tag or commit 'bbbb/);
  const unlocked = { resolved: 'main', integrity: null };
  assert.match(await failure(gitKind, spec, { locked: unlocked }), /has no commit for/);
});

test('git: a host that gives out no commits by id gives out the ref, or its history', async (t) => {
  const host = await startGitHost(t);
  const first = await host.create('thing', { 'a.txt': 'one' });
  const second = await host.commit('thing', { 'a.txt': 'two' });
  for (const name of ['allowAnySHA1InWant', 'allowTipSHA1InWant', 'allowReachableSHA1InWant'])
    await host.git('thing', 'config', `uploadpack.${name}`, 'false');
  // Protocol 2 knows no such limit.
  host.protocol = '';
  const { install, read } = await building(t);
  const spec = { repo: host.url('thing'), ref: 'main' };
  assert.equal((await install(gitKind, spec)).resolved, second);
  const locked = { resolved: first, integrity: `sha1:${first}` };
  assert.equal((await install(gitKind, spec, { locked })).resolved, first);
  assert.equal(await read('a.txt'), 'one');
});

test('git: submodules come when they are asked for, each from an address that was checked', async (t) => {
  const host = await startGitHost(t);
  await host.create('inner', { 'i.txt': 'inner' });
  await host.create('outer', { 'o.txt': 'outer' });
  await host.git(
    'outer',
    '-c',
    'protocol.file.allow=always',
    'submodule',
    'add',
    '--quiet',
    host.url('inner.git'),
    'sub/inner',
  );
  await host.commit('outer', { '.gitmodules': `[submodule "inner"]\n\tpath = sub/inner\n\turl = ../inner.git\n` });
  const without = await building(t);
  await without.install(gitKind, { repo: host.url('outer'), ref: 'main' });
  assert.deepEqual(await readdir(join(without.folder, 'sub/inner')), []);
  const { install, read } = await building(t);
  await install(gitKind, { repo: host.url('outer'), ref: 'main', submodules: true });
  assert.equal(await read('sub/inner/i.txt'), 'inner');
});

test('git: a submodule that names a folder or a command of the machine is refused', async (t) => {
  const host = await startGitHost(t);
  await host.create('inner');
  for (const [name, url] of Object.entries({
    command: 'ext::sh -c touch% /tmp/never',
    ssh: 'git@example.org:x/y.git',
    option: '--upload-pack=evil',
    folder: join(host.folder, 'inner'),
  })) {
    await host.create(name);
    await host.git(name, 'submodule', 'add', '--quiet', host.url('inner.git'), 'sub');
    await host.commit(name, { '.gitmodules': `[submodule "x"]\n\tpath = sub\n\turl = ${url}\n` });
    const { failure } = await building(t, { allowPrivate: true });
    for (const allowPrivateNetwork of [true, false]) {
      const sentence = await failure(gitKind, { repo: host.url(name), submodules: true }, { allowPrivateNetwork });
      assert.match(sentence, /address of the submodule 'sub'/, name);
    }
  }
});

test('git: a repository that unfolds to millions of files is refused before it is checked out', async (t) => {
  const host = await startGitHost(t);
  await host.create('bomb', { 'x/f': 'boom' });
  let tree = await host.git('bomb', 'rev-parse', 'HEAD:x');
  for (let level = 0; level < 7; level += 1) {
    const list = Array.from({ length: 10 }, (_, index) => `040000 tree ${tree}\td${index}`).join('\n');
    await writeFile(join(host.folder, 'bomb/list'), `${list}\n`);
    tree = await host.git('bomb', '-c', 'alias.mk=!git mktree < list', 'mk');
  }
  const commit = await host.git('bomb', 'commit-tree', '-m', 'boom', tree);
  await host.git('bomb', 'update-ref', 'refs/heads/bomb', commit);
  const { failure } = await building(t);
  assert.match(
    await failure(gitKind, { repo: host.url('bomb'), ref: 'bomb' }),
    /has more files or refs than an install accepts/,
  );
});

test('git: settings, hooks and credentials of the machine are not used', async (t) => {
  const host = await startGitHost(t);
  await host.create('thing', { 'a.txt': 'one', '.gitattributes': '*.txt filter=evil\n' });
  const home = await emptyFolder(t);
  const mark = join(home, 'mark');
  await writeFile(
    join(home, '.gitconfig'),
    `[filter "evil"]\n\tsmudge = touch ${mark}\n[credential]\n\thelper = "!touch ${mark}"\n[core]\n\thooksPath = ${home}\n[url "http://127.0.0.1:1/"]\n\tinsteadOf = http://\n`,
  );
  await writeFile(join(home, 'post-checkout'), `#!/bin/sh\ntouch ${mark}\n`, { mode: 0o755 });
  const env = { ...process.env, HOME: home, GIT_CONFIG_GLOBAL: join(home, '.gitconfig') };
  const { install, read } = await building(t, { env });
  await install(gitKind, { repo: host.url('thing') });
  assert.equal(await read('a.txt'), 'one');
  assert.ok(!existsSync(mark));
});

test('git: without git on the machine, the sentence says what to install', async (t) => {
  const host = await startGitHost(t);
  await host.create('thing');
  const { failure } = await building(t, { env: { PATH: '/nowhere' } });
  assert.match(await failure(gitKind, { repo: host.url('thing') }), /git is not installed on this machine/);
});

test('git: a fetch that is stopped leaves nothing behind', async (t) => {
  const host = await startGitHost(t);
  await host.create('thing');
  const controller = new AbortController();
  host.intercept = (request) => {
    if (!request.url?.includes('git-upload-pack') || request.method !== 'POST') return false;
    controller.abort();
    return true;
  };
  const { install, assertContained } = await building(t);
  const stopped = install(gitKind, { repo: host.url('thing') }, { signal: controller.signal });
  assert.match(await sentence(stopped), /was stopped/);
  await assertContained();
});

function sentence(failing: Promise<unknown>): Promise<string> {
  return failing.then(() => assert.fail('it was installed'), explain);
}
