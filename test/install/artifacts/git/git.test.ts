import assert from 'node:assert/strict';
import { mkdir, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { gitKind } from '../../../../src/install/artifacts/git/git.ts';
import { explain } from '../../../../src/install/explain.ts';
import { treeOf } from '../../../../src/install/tree.ts';
import { treeDigest } from '../../../../src/lib/file-digest.ts';
import { createRun } from '../../../../src/lib/run.ts';
import { startGitHost } from '../../git-host.ts';
import { building } from '../building.ts';

test('git: branch, tag, commit, shortened commit and none at all are checked out, detached', async (t) => {
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
    [first.slice(0, 9)]: first,
    '': third,
  };
  for (const [ref, commit] of Object.entries(cases)) {
    await t.test(ref || 'no ref', async (t) => {
      const { install, read, assertContained } = await building(t);
      const installed = await install(gitKind, { repo: host.url('thing.git'), ...(ref ? { ref } : {}) });
      assert.deepEqual(
        [installed.resolved, installed.integrity, installed.path, installed.extra?.commit],
        [commit, `sha1:${commit}`, 'vendor/thing', commit],
      );
      assert.equal((await read('vendor/thing/.git/HEAD')).trim(), commit, 'detached');
      assert.equal(await read('vendor/thing/a.txt'), { [first]: 'one', [second]: 'two', [third]: 'three' }[commit]);
      await assertContained();
    });
  }
});

test('git: only the commit that is wanted is fetched', async (t) => {
  const host = await startGitHost(t);
  await host.create('thing', { 'a.txt': 'one' });
  await host.commit('thing', { 'a.txt': 'two' });
  const { install, targetDir } = await building(t);
  await install(gitKind, { repo: host.url('thing'), ref: 'main' });
  const { stdout } = await createRun(process.env)({
    program: 'git',
    args: ['-C', join(targetDir, 'vendor/thing'), 'rev-list', '--count', 'HEAD'],
    cwd: '/',
    timeoutMs: 5_000,
  });
  assert.equal(stdout.trim(), '1');
});

test('git: a second install changes not a single byte', async (t) => {
  const host = await startGitHost(t);
  await host.create('thing', { 'a.txt': 'one', 'b/c.txt': 'two' });
  const { install, targetDir } = await building(t);
  const first = await install(gitKind, { repo: host.url('thing'), ref: 'main' });
  const before = await treeDigest(targetDir);
  const second = await install(gitKind, { repo: host.url('thing'), ref: 'main' });
  assert.deepEqual(second, first);
  assert.equal(await treeDigest(targetDir), before);
});

test('git: two targets get the same bytes, and git finds nothing changed in them', async (t) => {
  const host = await startGitHost(t);
  await host.create('thing', { 'a.txt': 'one' });
  const [one, other] = [await building(t), await building(t)];
  for (const { install } of [one, other]) await install(gitKind, { repo: host.url('thing'), ref: 'main' });
  assert.equal(await treeDigest(one.targetDir), await treeDigest(other.targetDir));
  const { stdout } = await createRun(process.env)({
    program: 'git',
    args: ['-C', join(one.targetDir, 'vendor/thing'), 'status', '--porcelain'],
    cwd: '/',
    timeoutMs: 5_000,
  });
  assert.equal(stdout, '');
});

test('git: another remote, another ref, or a folder that was changed by hand ends as a fresh install does', async (t) => {
  const host = await startGitHost(t);
  await host.create('one/thing', { 'a.txt': 'one' });
  await host.create('two/thing', { 'b.txt': 'two' });
  await host.git('two/thing', 'branch', 'other');
  const fresh = await building(t);
  await fresh.install(gitKind, { repo: host.url('two/thing'), ref: 'other' });
  const wanted = await treeDigest(join(fresh.targetDir, 'vendor'));

  const { install, targetDir } = await building(t);
  await install(gitKind, { repo: host.url('one/thing'), ref: 'main' });
  const place = join(targetDir, 'vendor/thing');
  await writeFile(join(place, 'a.txt'), 'changed');
  await writeFile(join(place, 'left-over'), 'x');
  await writeFile(join(place, '.git/index.lock'), '');
  await writeFile(
    join(place, '.git/config'),
    '[core]\n\tfsmonitor = touch /tmp/never\n[remote "origin"]\n\turl = ext::evil\n',
  );
  await mkdir(join(place, '.git/hooks'), { recursive: true });
  await writeFile(join(place, '.git/hooks/post-checkout'), '#!/bin/sh\nexit 1\n', { mode: 0o755 });
  await install(gitKind, { repo: host.url('two/thing'), ref: 'other' });
  assert.equal(await treeDigest(join(targetDir, 'vendor')), wanted);
});

test('git: dest chooses the place; what a person made is never replaced', async (t) => {
  const host = await startGitHost(t);
  await host.create('thing', { 'a.txt': 'one' });
  const { install, failure, targetDir, read } = await building(t);
  const spec = { repo: host.url('thing'), ref: 'main', dest: 'src/lib' };
  assert.equal((await install(gitKind, spec)).path, 'src/lib');
  const before = await treeDigest(targetDir);
  await install(gitKind, spec);
  assert.equal(await treeDigest(targetDir), before);
  await mkdir(join(targetDir, 'mine'));
  await writeFile(join(targetDir, 'mine/work'), 'years of it');
  assert.match(await failure(gitKind, { ...spec, dest: 'mine' }), /files that no install put there/);
  assert.equal(await read('mine/work'), 'years of it');
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
  assert.equal(await read('vendor/thing/a.txt'), 'one');
  const gone = { resolved: 'b'.repeat(40), integrity: null };
  assert.match(await failure(gitKind, spec, { locked: gone }), /has no branch, tag or commit 'bbbb/);
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
  assert.deepEqual(await readdir(join(without.targetDir, 'vendor/outer/sub/inner')), []);
  const { install, read, targetDir } = await building(t);
  const spec = { repo: host.url('outer'), ref: 'main', submodules: true };
  await install(gitKind, spec);
  assert.equal(await read('vendor/outer/sub/inner/i.txt'), 'inner');
  const before = await treeDigest(targetDir);
  const installed = await install(gitKind, spec);
  assert.equal(await treeDigest(targetDir), before);

  const tree = await treeOf('git', installed, targetDir);
  await writeFile(join(targetDir, 'vendor/outer/sub/inner/.git/index'), 'as git leaves it after a look');
  assert.equal(await treeOf('git', installed, targetDir), tree, 'a look with git is no change');
  await writeFile(join(targetDir, 'vendor/outer/sub/inner/i.txt'), 'changed');
  assert.notEqual(await treeOf('git', installed, targetDir), tree);
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
    const { failure, files, assertContained } = await building(t, { allowPrivate: true });
    for (const allowPrivateNetwork of [true, false]) {
      const sentence = await failure(gitKind, { repo: host.url(name), submodules: true }, { allowPrivateNetwork });
      assert.match(sentence, /address of the submodule 'sub'/, name);
    }
    assert.deepEqual(await files(), []);
    await assertContained();
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
  const { failure, files } = await building(t);
  assert.match(
    await failure(gitKind, { repo: host.url('bomb'), ref: 'bomb' }),
    /unfold to more than 200000 files/,
  );
  assert.deepEqual(await files(), []);
});

test('git: settings, hooks and credentials of the machine are not used', async (t) => {
  const host = await startGitHost(t);
  await host.create('thing', { 'a.txt': 'one', '.gitattributes': '*.txt filter=evil\n' });
  const home = await building(t);
  const mark = join(home.targetDir, 'mark');
  await writeFile(
    join(home.targetDir, '.gitconfig'),
    `[filter "evil"]\n\tsmudge = touch ${mark}\n[credential]\n\thelper = "!touch ${mark}"\n[core]\n\thooksPath = ${home.targetDir}\n[url "http://127.0.0.1:1/"]\n\tinsteadOf = http://\n`,
  );
  await writeFile(join(home.targetDir, 'post-checkout'), `#!/bin/sh\ntouch ${mark}\n`, { mode: 0o755 });
  const env = { ...process.env, HOME: home.targetDir, GIT_CONFIG_GLOBAL: join(home.targetDir, '.gitconfig') };
  const { install, read } = await building(t, { env });
  await install(gitKind, { repo: host.url('thing') });
  assert.equal(await read('vendor/thing/a.txt'), 'one');
  assert.deepEqual(
    (await readdir(home.targetDir)).filter((name) => name === 'mark'),
    [],
  );
});

test('git: without git on the machine, the sentence says what to install', async (t) => {
  const host = await startGitHost(t);
  await host.create('thing');
  const { failure } = await building(t, { env: { PATH: '/nowhere' } });
  assert.match(
    await failure(gitKind, { repo: host.url('thing') }),
    /git is not installed on the machine of the hub/,
  );
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
  const { install, files, assertContained } = await building(t);
  const stopped = install(gitKind, { repo: host.url('thing') }, { signal: controller.signal });
  assert.match(await sentence(stopped), /was stopped/);
  assert.deepEqual(await files(), []);
  await assertContained();
});

function sentence(failing: Promise<unknown>): Promise<string> {
  return failing.then(() => assert.fail('it was installed'), explain);
}
