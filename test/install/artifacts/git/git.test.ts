import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, readdir, readFile, symlink, writeFile } from 'node:fs/promises';
import type { ServerResponse } from 'node:http';
import { join } from 'node:path';
import { test } from 'node:test';
import { createGitKind, gitKind } from '../../../../src/install/artifacts/git/git.ts';
import { vendorTree } from '../../../../src/install/artifacts/place.ts';
import { explain } from '../../../../src/install/errors.ts';
import { findStrayLink } from '../../../../src/install/target/tree.ts';
import { createRun } from '../../../../src/lib/run.ts';
import { startGitHost } from '../../git-host.ts';
import { emptyFolder } from '../artifact-context.ts';
import { building } from '../building.ts';

test('git: finds the commit of a branch, a tag, a full name or the default', async (t) => {
  const host = await startGitHost(t);
  const first = await host.create('thing', { 'a.txt': 'one' });
  await host.git('thing', 'tag', 'v1.0.0');
  await host.git('thing', 'tag', '--annotate', '--message', 'one', 'v1');
  await host.git('thing', 'update-ref', 'refs/pull/7/head', first);
  const second = await host.commit('thing', { 'a.txt': 'two' });
  // Tags take precedence over branches.
  await host.git('thing', 'branch', 'v1');
  await host.git('thing', 'branch', 'feature/main', first);
  const cases = {
    ...{ 'v1.0.0': first, v1: first, 'heads/v1': second, 'refs/tags/v1': first, 'refs/pull/7/head': first },
    ...{ 'feature/main': first, main: second, [first]: first, HEAD: second },
  };
  const { context } = await building(t);
  for (const [ref, commit] of Object.entries(cases)) {
    const spec = gitKind.spec.parse({ repo: host.url('thing.git'), ref });
    assert.deepEqual(await gitKind.resolve(spec, context), { resolved: commit, integrity: `sha1:${commit}` }, ref);
  }
  assert.deepEqual(await readdir(context.stagingDir), [], 'only the list of refs is fetched');
});

test('git: checks out one commit, detached, with the same bytes in every target', async (t) => {
  const host = await startGitHost(t);
  await host.create('thing', { 'a.txt': 'one' });
  const commit = await host.commit('thing', { 'a.txt': 'two' });
  const [one, other] = [await building(t), await building(t)];
  for (const { install } of [one, other])
    assert.equal((await install(gitKind, { repo: host.url('thing') })).extra?.commit, commit);
  assert.equal(await one.read('a.txt'), 'two');
  assert.equal((await one.read('.git/HEAD')).trim(), commit, 'detached');
  assert.equal(await vendorTree(one.folder), await vendorTree(other.folder));
  await one.assertContained();
  const run = createRun(process.env);
  const git = async (...args: string[]) =>
    (await run({ program: 'git', args: ['-C', one.folder, ...args], cwd: '/', timeoutMs: 60_000 })).stdout.trim();
  assert.equal(await git('rev-list', '--count', 'HEAD'), '1');
  assert.equal(await git('status', '--porcelain'), '');
});

test('git: refuses a short commit, which hosts cannot resolve', async (t) => {
  const host = await startGitHost(t);
  const commit = await host.create('thing');
  const { failure } = await building(t);
  assert.match(
    await failure(gitKind, { repo: host.url('thing'), ref: commit.slice(0, 9) }),
    /If it is a shortened commit, use the full one/,
  );
});

test('git: a frozen install uses the locked commit although the branch moved', async (t) => {
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

test('git: does not fetch submodules, and refuses a manifest that wants them', async (t) => {
  const host = await startGitHost(t);
  await host.create('inner', { 'i.txt': 'inner' });
  await host.create('outer', { 'o.txt': 'outer' });
  await host.git('outer', 'submodule', 'add', '--quiet', host.url('inner.git'), 'sub');
  await host.commit('outer', {});
  const { install, failure, folder } = await building(t);
  assert.match(await failure(gitKind, { repo: host.url('outer'), submodules: true }), /submodules are not fetched/);
  await install(gitKind, { repo: host.url('outer') });
  assert.deepEqual(await readdir(join(folder, 'sub')), []);
});

test('git: a repository that expands to millions of files is refused before checkout', async (t) => {
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
  assert.match(await failure(gitKind, { repo: host.url('bomb'), ref: 'bomb' }), /it wrote more than 50000000 bytes/);
});

test('git: ignores settings, hooks and credentials of the machine', async (t) => {
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

test('git: without git, the error says what to install', async (t) => {
  const host = await startGitHost(t);
  await host.create('thing');
  const { failure } = await building(t, { env: { PATH: '/nowhere' } });
  assert.match(await failure(gitKind, { repo: host.url('thing') }), /git is not installed on this machine/);
});

test('git: a stopped fetch leaves nothing behind', async (t) => {
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

test('git: counts files and bytes before checkout', async (t) => {
  const host = await startGitHost(t);
  const zeros = '0'.repeat(50_000);
  await host.create('thing', { 'a.txt': zeros, 'b.txt': zeros });
  const stage = await building(t);
  const spec = { repo: host.url('thing') };
  assert.match(await stage.failure(createGitKind({ mostBytes: 90_000 }), spec), /contains \d+ bytes/);
  assert.match(await stage.failure(createGitKind({ mostFiles: 1 }), spec), /contains more than 1 files/);
  await stage.install(createGitKind({ mostBytes: 101_000, mostFiles: 2 }), spec);
});

test('git: links that lead out of the repository are refused by name; others stay', async (t) => {
  const host = await startGitHost(t);
  await host.create('thing', { 'a.txt': 'one' });
  await symlink('a.txt', join(host.folder, 'thing/link'));
  await host.commit('thing', {});
  const { install, failure, folder } = await building(t);
  await install(gitKind, { repo: host.url('thing') });
  assert.equal(await readFile(join(folder, 'link'), 'utf8'), 'one');
  await symlink('../canary', join(host.folder, 'thing/evil'));
  await host.commit('thing', {});
  assert.match(await failure(gitKind, { repo: host.url('thing') }), /contains the link 'evil', which leads out of it/);
});

/** `deep/er/up` links to the folder itself, so each `..` after it leads further out than its spelling suggests. */
const LINKS: Record<string, 'out' | 'into .git' | undefined> = {
  '/etc/passwd': 'out',
  '../../../x': 'out',
  'deep/../../x': 'out',
  'deep/er/up/../canary': 'out',
  'deep/er/up/../not-there-yet': 'out',
  '.git/config': 'into .git',
  'module/.git/config': 'into .git',
  'deep/er/../er/a.txt': undefined,
  'deep/er/up/deep/er/a.txt': undefined,
};
test('git: links are followed to find out where they lead', async (t) => {
  for (const [to, leads] of Object.entries(LINKS)) {
    const folder = await emptyFolder(t);
    for (const inner of ['deep/er', '.git', 'module/.git']) await mkdir(join(folder, inner), { recursive: true });
    await writeFile(join(folder, 'deep/er/a.txt'), 'one');
    await symlink('../..', join(folder, 'deep/er/up'));
    await symlink(to, join(folder, 'evil'));
    assert.deepEqual(await findStrayLink(folder), leads && { path: 'evil', leads }, to);
  }
});

test('git: names that are not UTF-8 are refused before checkout', async (t) => {
  const host = await startGitHost(t);
  await host.create('odd', { 'a.txt': 'one' });
  const blob = await host.git('odd', 'rev-parse', 'HEAD:a.txt');
  const tree = await host.gitWith('odd', Buffer.from(`100644 blob ${blob}\tcaf\xe9\0`, 'latin1'), 'mktree', '-z');
  const commit = await host.git('odd', 'commit-tree', '-m', 'odd', tree);
  await host.git('odd', 'update-ref', 'refs/heads/main', commit);
  const { failure } = await building(t);
  assert.match(await failure(gitKind, { repo: host.url('odd') }), /contains a name that is not UTF-8/);
});

const gitWithin = (mostReceivedBytes: number) => createGitKind({ mostReceivedBytes });
const SENTENCE = /could not be fetched: it is larger than an install accepts/;

test('git: a repository over the size limit is refused and leaves nothing behind', async (t) => {
  const host = await startGitHost(t);
  await host.create('large', { 'a.bin': randomBytes(300_000).toString('hex') });
  const stage = await building(t);
  const spec = { repo: host.url('large') };
  assert.match(await stage.failure(gitWithin(200_000), spec), SENTENCE);
  await stage.install(gitWithin(2_000_000), spec);
});

test('git: an endless response is stopped while it arrives', async (t) => {
  const host = await startGitHost(t);
  await host.create('endless');
  let posts = 0;
  let sentBytes = 0;
  host.intercept = (request, response) => {
    if (request.method !== 'POST') return false;
    posts += 1;
    // The first request lists the branches.
    if (posts === 1) return false;
    request.resume();
    response.writeHead(200, { 'content-type': 'application/x-git-upload-pack-result' });
    sendForever(response, (bytes) => {
      sentBytes += bytes;
    });
    return true;
  };
  const stage = await building(t);
  const kind = gitWithin(1_000_000);
  assert.match(await stage.failure(kind, { repo: host.url('endless') }), SENTENCE);
  assert.ok(sentBytes > 1_000_000, `${sentBytes} bytes`);
});

/** A pack of many objects, the first of which never ends. */
function sendForever(response: ServerResponse, onSent: (bytes: number) => void): void {
  const packet = (payload: Buffer) =>
    Buffer.concat([Buffer.from((payload.length + 4).toString(16).padStart(4, '0')), payload]);
  const band = (payload: Buffer) => packet(Buffer.concat([Buffer.from([1]), payload]));
  const header = Buffer.from('PACK\0\0\0\x02\0\0\x27\x10', 'latin1');
  // A blob of 2^39 bytes, as a zlib stream of stored blocks.
  const blob = Buffer.from([0xb0, 0x80, 0x80, 0x80, 0x80, 0x01, 0x78, 0x01]);
  response.write(packet(Buffer.from('shallow-info\n')));
  response.write(Buffer.from('0001'));
  response.write(packet(Buffer.from('packfile\n')));
  response.write(band(Buffer.concat([header, blob])));
  const block = Buffer.concat([Buffer.from([0, 0, 0xf0, 0xff, 0x0f]), randomBytes(0xf000)]);
  const send = () => {
    if (response.destroyed) return;
    onSent(block.length);
    // Slowly enough that the watcher stops it, not a full disk.
    response.write(band(block), () => setTimeout(send, 2));
  };
  send();
}
