// Repositories that unfold to more than an install brings in, only when all their submodules are counted.
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { GIT_LIMITS, type GitLimits } from '../../../../src/install/artifacts/git/budget.ts';
import { createGitKind } from '../../../../src/install/artifacts/git/git.ts';
import { type GitHost, startGitHost } from '../../git-host.ts';
import { building } from '../building.ts';

/** `outer` has three submodules and one of them two more; four of the five are one repository with two files of 50,000 zeros. */
async function startHost(t: TestContext): Promise<GitHost> {
  const host = await startGitHost(t);
  const zeros = '0'.repeat(50_000);
  const inner = await host.create('inner', { 'a.txt': zeros, 'b.txt': zeros });
  await addSubmodules(host, 'middle', { x: ['inner', inner], y: ['inner', inner] });
  const middle = (await host.git('middle', 'rev-parse', 'HEAD')).trim();
  await addSubmodules(host, 'outer', { a: ['inner', inner], b: ['inner', inner], c: ['middle', middle] });
  return host;
}

async function addSubmodules(host: GitHost, name: string, submodules: Record<string, [string, string]>): Promise<void> {
  const modules = Object.entries(submodules).map(
    ([path, [repo]]) => `[submodule "${path}"]\n\tpath = ${path}\n\turl = ${host.url(repo)}\n`,
  );
  await host.create(name, { '.gitmodules': modules.join('') });
  for (const [path, [, commit]] of Object.entries(submodules))
    await host.git(name, 'update-index', '--add', '--cacheinfo', `160000,${commit},${path}`);
  await host.git(name, 'commit', '--quiet', '--message', 'with submodules');
}

test('git: files, bytes and submodules of all submodules count together', async (t) => {
  const host = await startHost(t);
  const place = await building(t);
  const spec = { repo: host.url('outer'), submodules: true };
  const within = (limits: Partial<GitLimits>) => createGitKind({ ...GIT_LIMITS, ...limits });
  await place.install(within({ mostBytes: 401_000, mostSubmodules: 5 }), spec);
  // Each of them alone would be far below.
  assert.match(await place.failure(within({ mostBytes: 390_000 }), spec), /would unfold to \d+ bytes/);
  assert.match(await place.failure(within({ mostFiles: 9 }), spec), /would unfold to more than 9 files/);
  assert.match(await place.failure(within({ mostSubmodules: 4 }), spec), /more than 4 submodules/);
});
