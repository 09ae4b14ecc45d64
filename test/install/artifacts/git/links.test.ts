// Links in repositories, those that lead out by way of other links above all, and names that are no text.
import assert from 'node:assert/strict';
import { mkdir, readFile, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { gitKind } from '../../../../src/install/artifacts/git/git.ts';
import { findStrayLink } from '../../../../src/lib/stray-link.ts';
import { type GitHost, startGitHost } from '../../git-host.ts';
import { emptyFolder } from '../artifact-context.ts';
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
    const { failure } = await building(t);
    assert.match(await failure(gitKind, { repo: host.url('thing') }), /holds the link 'evil'/);
  }
});

test('git: links may go through others as long as they stay inside', async (t) => {
  const host = await repositoryWithLinks(t, { roundabout: 'deep/er/../er/a.txt', through: 'deep/er/up/deep/er/a.txt' });
  const { install, folder } = await building(t);
  await install(gitKind, { repo: host.url('thing') });
  for (const link of ['roundabout', 'through']) assert.equal(await readFile(join(folder, link), 'utf8'), 'one');
});

test('git: links into the settings of a submodule are refused as those of the repository are', async (t) => {
  const folder = await emptyFolder(t);
  await mkdir(join(folder, 'module/.git'), { recursive: true });
  await symlink('module/.git/config', join(folder, 'evil'));
  assert.deepEqual(await findStrayLink(folder), { path: 'evil', leads: 'into .git' });
});

test('git: names that are no text are refused before anything is checked out', async (t) => {
  const host = await startGitHost(t);
  await host.create('odd', { 'a.txt': 'one' });
  const blob = await host.git('odd', 'rev-parse', 'HEAD:a.txt');
  const tree = await host.gitWith('odd', Buffer.from(`100644 blob ${blob}\tcaf\xe9\0`, 'latin1'), 'mktree', '-z');
  const commit = await host.git('odd', 'commit-tree', '-m', 'odd', tree);
  await host.git('odd', 'update-ref', 'refs/heads/main', commit);
  const { failure } = await building(t);
  assert.match(await failure(gitKind, { repo: host.url('odd') }), /holds a name that is not UTF-8/);
});

test('git: links that lead out of the repository are refused by name; others stay', async (t) => {
  const host = await startGitHost(t);
  await host.create('good', { 'a.txt': 'one' });
  await symlink('a.txt', join(host.folder, 'good/link'));
  await host.commit('good', {});
  const { install, folder } = await building(t);
  await install(gitKind, { repo: host.url('good') });
  assert.equal(await readFile(join(folder, 'link'), 'utf8'), 'one');
  for (const [name, to] of Object.entries({
    absolute: '/etc/passwd',
    above: '../../../x',
    hidden: 'sub/../../../x',
    git: '.git/config',
  })) {
    await host.create(name, { 'sub/a.txt': 'one' });
    await symlink(to, join(host.folder, name, 'evil'));
    await host.commit(name, {});
    const { failure } = await building(t);
    assert.match(await failure(gitKind, { repo: host.url(name) }), /holds the link 'evil'/);
  }
});
