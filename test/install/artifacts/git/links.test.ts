// Links in repositories, those that lead out by way of other links above all, and names that are no text.
import assert from 'node:assert/strict';
import { mkdir, readFile, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { gitKind } from '../../../../src/install/artifacts/git/git.ts';
import { assertLinksStayInside } from '../../../../src/install/artifacts/git-links.ts';
import { type GitHost, startGitHost } from '../../git-host.ts';
import { aFolder } from '../installing.ts';
import { building } from '../building.ts';

/** In it, `deep/er/up` is the repository itself: each `..` behind it leads further out than its spelling says. */
async function repositoryWithLinks(t: TestContext, links: Record<string, string>): Promise<GitHost> {
  const host = await startGitHost(t);
  await host.create('thing', { 'deep/er/a.txt': 'one' });
  await symlink('../..', join(host.folder, 'thing/deep/er/up'));
  for (const [path, to] of Object.entries(links)) await symlink(to, join(host.folder, 'thing', path));
  await host.commit('thing', {});
  return host;
}

test('git: a link that leads out by way of another link is refused by name', async (t) => {
  for (const to of ['deep/er/up/../canary', 'deep/er/up/../not-there-yet']) {
    const host = await repositoryWithLinks(t, { evil: to });
    const { failure, files, assertContained } = await building(t);
    assert.match(await failure(gitKind, { repo: host.url('thing') }), /holds the link 'evil'/);
    assert.deepEqual(await files(), []);
    await assertContained();
  }
});

test('git: the mark of an install is not written through a link of the same name', async (t) => {
  const host = await repositoryWithLinks(t, { '.hub-artifact': 'deep/er/a.txt' });
  const { install, read, assertContained } = await building(t);
  await install(gitKind, { repo: host.url('thing'), dest: 'lib/thing' });
  assert.equal(await read('lib/thing/deep/er/a.txt'), 'one');
  assert.match(await read('lib/thing/.hub-artifact'), /^Put here by an install/);

  const evil = await repositoryWithLinks(t, { '.hub-artifact': 'deep/er/up/../../../canary' });
  const place = await building(t);
  assert.match(await place.failure(gitKind, { repo: evil.url('thing'), dest: 'lib/thing' }), /holds the link/);
  await place.assertContained();
  await assertContained();
});

test('git: a file that the repository itself has by the name of the mark stays as it is, and is a mark', async (t) => {
  const host = await startGitHost(t);
  await host.create('thing', { '.hub-artifact': 'of the repository', 'a.txt': 'one' });
  const { install, read } = await building(t);
  const spec = { repo: host.url('thing'), dest: 'lib/thing' };
  await install(gitKind, spec);
  assert.equal(await read('lib/thing/.hub-artifact'), 'of the repository');
  await host.commit('thing', { 'a.txt': 'two' });
  await install(gitKind, spec);
  assert.deepEqual(
    [await read('lib/thing/.hub-artifact'), await read('lib/thing/a.txt')],
    ['of the repository', 'two'],
  );
});

test('git: links may go through others as long as they stay inside', async (t) => {
  const host = await repositoryWithLinks(t, { roundabout: 'deep/er/../er/a.txt', through: 'deep/er/up/deep/er/a.txt' });
  const { install, targetDir } = await building(t);
  await install(gitKind, { repo: host.url('thing') });
  for (const link of ['roundabout', 'through'])
    assert.equal(await readFile(join(targetDir, 'vendor/thing', link), 'utf8'), 'one');
});

test('git: links into the settings of a submodule are refused as those of the repository are', async (t) => {
  const folder = await aFolder(t);
  await mkdir(join(folder, 'module/.git'), { recursive: true });
  await symlink('module/.git/config', join(folder, 'evil'));
  await assert.rejects(assertLinksStayInside(folder), /holds the link 'evil' into '\.git'/);
});

test('git: names that are no text are refused before anything is checked out, and the target stays usable', async (t) => {
  const host = await startGitHost(t);
  await host.create('odd', { 'a.txt': 'one' });
  const blob = await host.git('odd', 'rev-parse', 'HEAD:a.txt');
  const tree = await host.gitWith('odd', Buffer.from(`100644 blob ${blob}\tcaf\xe9\0`, 'latin1'), 'mktree', '-z');
  const commit = await host.git('odd', 'commit-tree', '-m', 'odd', tree);
  await host.git('odd', 'update-ref', 'refs/heads/main', commit);
  const { failure, install, files, assertContained } = await building(t);
  assert.match(await failure(gitKind, { repo: host.url('odd') }), /holds a name that is not UTF-8/);
  assert.deepEqual(await files(), []);
  await assertContained();
  await host.create('good');
  await install(gitKind, { repo: host.url('good') });
});

test('git: links that lead out of the repository are refused by name; others stay', async (t) => {
  const host = await startGitHost(t);
  await host.create('good', { 'a.txt': 'one' });
  await symlink('a.txt', join(host.folder, 'good/link'));
  await host.commit('good', {});
  const { install, targetDir } = await building(t);
  await install(gitKind, { repo: host.url('good') });
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
    const { failure, files, assertContained } = await building(t);
    assert.match(await failure(gitKind, { repo: host.url(name) }), /holds the link 'evil'/);
    assert.deepEqual(await files(), []);
    await assertContained();
  }
});

test('git: a link that an earlier install or a person left in the way is not followed', async (t) => {
  const host = await startGitHost(t);
  await host.create('thing');
  const outside = await building(t);
  for (const path of ['vendor', 'vendor/thing']) {
    const { install, targetDir } = await building(t);
    await mkdir(join(targetDir, path, '..'), { recursive: true });
    await symlink(outside.targetDir, join(targetDir, path));
    await assert.rejects(install(gitKind, { repo: host.url('thing') }), { name: 'PathError', message: /link/ });
    assert.deepEqual(await outside.files(), []);
  }
});
