import assert from 'node:assert/strict';
import { mkdir, readdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { gitInstaller } from '../../../src/install/artifacts/git.ts';
import { explain } from '../../../src/install/explain.ts';
import { treeOf } from '../../../src/install/tree.ts';
import { treeDigest } from '../../../src/lib/files.ts';
import { createRun } from '../../../src/lib/run.ts';
import { startGitHost } from '../git-host.ts';
import { stage } from './stage.ts';

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
      const { install, read, assertContained } = await stage(t);
      const installed = await install(gitInstaller, { repo: host.url('thing.git'), ...(ref ? { ref } : {}) });
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
  const { install, targetDir } = await stage(t);
  await install(gitInstaller, { repo: host.url('thing'), ref: 'main' });
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
  const { install, targetDir } = await stage(t);
  const first = await install(gitInstaller, { repo: host.url('thing'), ref: 'main' });
  const before = await treeDigest(targetDir);
  const second = await install(gitInstaller, { repo: host.url('thing'), ref: 'main' });
  assert.deepEqual(second, first);
  assert.equal(await treeDigest(targetDir), before);
});

test('git: two targets get the same bytes, and git finds nothing changed in them', async (t) => {
  const host = await startGitHost(t);
  await host.create('thing', { 'a.txt': 'one' });
  const [one, other] = [await stage(t), await stage(t)];
  for (const { install } of [one, other]) await install(gitInstaller, { repo: host.url('thing'), ref: 'main' });
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
  const fresh = await stage(t);
  await fresh.install(gitInstaller, { repo: host.url('two/thing'), ref: 'other' });
  const wanted = await treeDigest(join(fresh.targetDir, 'vendor'));

  const { install, targetDir } = await stage(t);
  await install(gitInstaller, { repo: host.url('one/thing'), ref: 'main' });
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
  await install(gitInstaller, { repo: host.url('two/thing'), ref: 'other' });
  assert.equal(await treeDigest(join(targetDir, 'vendor')), wanted);
});

test('git: dest chooses the place; what a person made is never replaced', async (t) => {
  const host = await startGitHost(t);
  await host.create('thing', { 'a.txt': 'one' });
  const { install, failure, targetDir, read } = await stage(t);
  const spec = { repo: host.url('thing'), ref: 'main', dest: 'src/lib' };
  assert.equal((await install(gitInstaller, spec)).path, 'src/lib');
  const before = await treeDigest(targetDir);
  await install(gitInstaller, spec);
  assert.equal(await treeDigest(targetDir), before);
  await mkdir(join(targetDir, 'mine'));
  await writeFile(join(targetDir, 'mine/work'), 'years of it');
  assert.match(await failure(gitInstaller, { ...spec, dest: 'mine' }), /files that no install put there/);
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
    const { install } = await stage(t);
    assert.equal((await install(gitInstaller, { repo: host.url('thing'), ref })).resolved, commit, ref);
  }
});

test('git: a frozen install takes the commit of the lockfile, wherever the branch is by now', async (t) => {
  const host = await startGitHost(t);
  const first = await host.create('thing', { 'a.txt': 'one' });
  await host.commit('thing', { 'a.txt': 'two' });
  const { install, read, failure } = await stage(t);
  const spec = { repo: host.url('thing'), ref: 'main' };
  const locked = { resolved: first, integrity: `sha1:${first}` };
  assert.equal((await install(gitInstaller, spec, { locked })).resolved, first);
  assert.equal(await read('vendor/thing/a.txt'), 'one');
  const gone = { resolved: 'b'.repeat(40), integrity: null };
  assert.match(await failure(gitInstaller, spec, { locked: gone }), /has no branch, tag or commit 'bbbb/);
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
  const without = await stage(t);
  await without.install(gitInstaller, { repo: host.url('outer'), ref: 'main' });
  assert.deepEqual(await readdir(join(without.targetDir, 'vendor/outer/sub/inner')), []);
  const { install, read, targetDir } = await stage(t);
  const spec = { repo: host.url('outer'), ref: 'main', submodules: true };
  await install(gitInstaller, spec);
  assert.equal(await read('vendor/outer/sub/inner/i.txt'), 'inner');
  const before = await treeDigest(targetDir);
  const installed = await install(gitInstaller, spec);
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
    const { failure, files, assertContained } = await stage(t, { allowPrivate: true });
    for (const allowPrivateNetwork of [true, false]) {
      const sentence = await failure(gitInstaller, { repo: host.url(name), submodules: true }, { allowPrivateNetwork });
      assert.match(sentence, /address of the submodule 'sub'/, name);
    }
    assert.deepEqual(await files(), []);
    await assertContained();
  }
});

const REFUSED: [string, Record<string, unknown>, RegExp][] = [
  ['no repo', {}, /repo .*received undefined/],
  ['a repo that is no text', { repo: 7 }, /repo .*received number/],
  ['an empty repo', { repo: '' }, /must not be empty/],
  ['a repo that is an option', { repo: '--upload-pack=touch /tmp/x' }, /must not/],
  ['a repo that is an option without blanks', { repo: '-oProxyCommand=x' }, /begin with '-'/],
  ['a command as transport', { repo: 'ext::sh' }, /must be an https or http address/],
  ['another helper as transport', { repo: 'fd::17/foo' }, /must be an https or http address/],
  ['an ssh address', { repo: 'git@github.com:owner/thing.git' }, /ssh address/],
  ['an ssh url', { repo: 'ssh://git@github.com/owner/thing.git' }, /ssh address/],
  ['an ssh host that is an option', { repo: 'ssh://-oProxyCommand=evil/x' }, /ssh address/],
  ['a git: address', { repo: 'git://example.org/thing' }, /by https or http only/],
  ['an ftp address', { repo: 'ftp://example.org/thing' }, /by https or http only/],
  ['a line end in the repo', { repo: 'https://example.org/a\nb' }, /control/],
  ['a ref that is an option', { repo: 'https://example.org/a', ref: '--upload-pack=x' }, /begin with/],
  ['a ref that is a refspec', { repo: 'https://example.org/a', ref: 'main:refs/heads/x' }, /is no name/],
  ['a ref that forces', { repo: 'https://example.org/a', ref: '+main' }, /begin with/],
  ['a ref with a range', { repo: 'https://example.org/a', ref: 'a..b' }, /is no name/],
  ['a ref with a reflog', { repo: 'https://example.org/a', ref: 'main@{1}' }, /is no name/],
  ['an empty ref', { repo: 'https://example.org/a', ref: '' }, /must not be empty/],
  ['a dest above', { repo: 'https://example.org/a', dest: '../x' }, /'\.\.'/],
  ['an absolute dest', { repo: 'https://example.org/a', dest: '/etc' }, /relative/],
  ['the target itself as dest', { repo: 'https://example.org/a', dest: '.' }, /below the target/],
  ['the lockfile as dest', { repo: 'https://example.org/a', dest: 'hub.lock.json' }, /kept for/],
  ['the folder of the hub as dest', { repo: 'https://example.org/a', dest: '.hub/x' }, /kept for/],
  ['a repository of the project as dest', { repo: 'https://example.org/a', dest: 'x/.git/hooks' }, /\.git/],
];

for (const [name, spec, reason] of REFUSED) {
  test(`git: refuses ${name}`, async (t) => {
    const { failure, files, assertContained } = await stage(t);
    assert.match(await failure(gitInstaller, spec), reason);
    assert.deepEqual(await files(), []);
    await assertContained();
  });
}

test('git: a host or repository that is not there is told in a sentence', async (t) => {
  const host = await startGitHost(t);
  await host.create('thing');
  const { failure, files } = await stage(t);
  assert.match(
    await failure(gitInstaller, { repo: host.url('nothing') }),
    /There is no repository at .*\/nothing, or it is not public \(status 404\)/,
  );
  assert.match(
    await failure(gitInstaller, { repo: host.url('thing'), ref: 'nope' }),
    /has no branch, tag or commit 'nope'/,
  );
  assert.match(await failure(gitInstaller, { repo: 'http://127.0.0.1:1/x' }), /could not be reached/);
  host.intercept = (_request, response) => {
    response.writeHead(401, { 'www-authenticate': 'Basic realm="x"' }).end();
    return true;
  };
  assert.match(await failure(gitInstaller, { repo: host.url('thing') }), /not public \(status 401\)/);
  host.intercept = (_request, response) => {
    response.writeHead(200, { 'content-type': 'text/html' }).end('<html>no repository</html>');
    return true;
  };
  assert.match(await failure(gitInstaller, { repo: host.url('thing') }), /no repository at .*, or an empty one/);
  assert.deepEqual(await files(), []);
});

test('git: an empty repository is told in a sentence', async (t) => {
  const host = await startGitHost(t);
  await mkdir(join(host.folder, 'empty'));
  await host.git('empty', 'init', '--quiet', '.');
  const { failure } = await stage(t);
  assert.match(await failure(gitInstaller, { repo: host.url('empty') }), /or an empty one/);
});

test('git: redirects are followed where they may lead, and private addresses are not fetched when they may not', async (t) => {
  const host = await startGitHost(t);
  const commit = await host.create('moved');
  host.intercept = (request, response) => {
    if (!request.url?.startsWith('/old')) return false;
    response.writeHead(301, { location: request.url.replace('/old', '/moved') }).end();
    return true;
  };
  const { install } = await stage(t);
  assert.equal((await install(gitInstaller, { repo: host.url('old') })).resolved, commit);

  const guarded = await stage(t, { allowPrivate: false });
  const refused = { allowPrivateNetwork: false };
  assert.match(await guarded.failure(gitInstaller, { repo: host.url('moved') }, refused), /ALLOW_PRIVATE_NETWORK/);
  assert.match(
    await guarded.failure(gitInstaller, { repo: 'http://169.254.169.254/latest' }),
    /never connected to|metadata/,
  );
  assert.match(
    await guarded.failure(gitInstaller, { repo: join(host.folder, 'moved') }, refused),
    /folder of this machine/,
  );
  assert.match(
    await guarded.failure(gitInstaller, { repo: `file://${host.folder}/moved` }, refused),
    /folder of this machine/,
  );
});

test('git: links that lead out of the repository are refused by name; others stay', async (t) => {
  const host = await startGitHost(t);
  await host.create('good', { 'a.txt': 'one' });
  await symlink('a.txt', join(host.folder, 'good/link'));
  await host.commit('good', {});
  const { install, targetDir } = await stage(t);
  await install(gitInstaller, { repo: host.url('good') });
  assert.equal(await readFile(join(targetDir, 'vendor/good/link'), 'utf8'), 'one');
  for (const [name, to] of Object.entries({
    absolute: '/etc/passwd',
    above: '../../../x',
    hidden: 'sub/../../../x',
    git: '.git/config',
  })) {
    await host.create(name, { 'sub/a.txt': 'one' });
    await symlink(to, join(host.folder, name, 'evil'));
    await host.commit(name, {});
    const { failure, files, assertContained } = await stage(t);
    assert.match(await failure(gitInstaller, { repo: host.url(name) }), /holds the link 'evil'/);
    assert.deepEqual(await files(), []);
    await assertContained();
  }
});

test('git: a link that an earlier install or a person left in the way is not followed', async (t) => {
  const host = await startGitHost(t);
  await host.create('thing');
  const outside = await stage(t);
  for (const path of ['vendor', 'vendor/thing']) {
    const { install, targetDir } = await stage(t);
    await mkdir(join(targetDir, path, '..'), { recursive: true });
    await symlink(outside.targetDir, join(targetDir, path));
    assert.match(await sentence(install(gitInstaller, { repo: host.url('thing') })), /link/);
    assert.deepEqual(await outside.files(), []);
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
  const { failure, files } = await stage(t);
  assert.match(
    await failure(gitInstaller, { repo: host.url('bomb'), ref: 'bomb' }),
    /unfold to more than 200000 files/,
  );
  assert.deepEqual(await files(), []);
});

test('git: settings, hooks and credentials of the machine are not used', async (t) => {
  const host = await startGitHost(t);
  await host.create('thing', { 'a.txt': 'one', '.gitattributes': '*.txt filter=evil\n' });
  const home = await stage(t);
  const mark = join(home.targetDir, 'mark');
  await writeFile(
    join(home.targetDir, '.gitconfig'),
    `[filter "evil"]\n\tsmudge = touch ${mark}\n[credential]\n\thelper = "!touch ${mark}"\n[core]\n\thooksPath = ${home.targetDir}\n[url "http://127.0.0.1:1/"]\n\tinsteadOf = http://\n`,
  );
  await writeFile(join(home.targetDir, 'post-checkout'), `#!/bin/sh\ntouch ${mark}\n`, { mode: 0o755 });
  const env = { ...process.env, HOME: home.targetDir, GIT_CONFIG_GLOBAL: join(home.targetDir, '.gitconfig') };
  const { install, read } = await stage(t, { env });
  await install(gitInstaller, { repo: host.url('thing') });
  assert.equal(await read('vendor/thing/a.txt'), 'one');
  assert.deepEqual(
    (await readdir(home.targetDir)).filter((name) => name === 'mark'),
    [],
  );
});

test('git: without git on the machine, the sentence says what to install', async (t) => {
  const host = await startGitHost(t);
  await host.create('thing');
  const { failure } = await stage(t, { env: { PATH: '/nowhere' } });
  assert.match(
    await failure(gitInstaller, { repo: host.url('thing') }),
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
  const { install, files, assertContained } = await stage(t);
  const stopped = install(gitInstaller, { repo: host.url('thing') }, { signal: controller.signal });
  assert.match(await sentence(stopped), /was stopped/);
  assert.deepEqual(await files(), []);
  await assertContained();
});

function sentence(failing: Promise<unknown>): Promise<string> {
  return failing.then(() => assert.fail('it was installed'), explain);
}
