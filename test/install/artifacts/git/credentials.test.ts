// Private repositories: whose credentials are used, and for which hosts.
import assert from 'node:assert/strict';
import { chmod, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { gitKind } from '../../../../src/install/artifacts/git/git.ts';
import { type GitHost, startGitHost } from '../../git-host.ts';
import { emptyFolder } from '../artifact-context.ts';
import { building } from '../building.ts';

const LOGIN = `Basic ${Buffer.from('me:s3cret').toString('base64')}`;

/** A host that gives out nothing without a login. */
async function privateHost(t: TestContext): Promise<GitHost & { authority: string; commit: string }> {
  const host = await startGitHost(t);
  const commit = await host.create('team/thing', { 'a.txt': 'private' });
  host.intercept = (request, response) => {
    if (request.headers.authorization === LOGIN) return false;
    response.writeHead(401, { 'www-authenticate': 'Basic realm="git"' }).end();
    return true;
  };
  return Object.assign(host, { commit, authority: new URL(host.url('')).host });
}

/** Somebody's home folder with the login for a host, in git's own store. */
async function homeWithLogin(t: TestContext, authority: string): Promise<NodeJS.ProcessEnv> {
  const home = await emptyFolder(t);
  await writeFile(join(home, '.gitconfig'), '[credential]\n\thelper = store\n');
  await writeFile(join(home, '.git-credentials'), `http://me:s3cret@${authority.replace(':', '%3a')}\n`);
  return { PATH: process.env.PATH, HOME: home };
}

test('git: the credentials of the operator are for the hosts that the operator names', async (t) => {
  const host = await privateHost(t);
  const env = await homeWithLogin(t, host.authority);
  const spec = { repo: host.url('team/thing') };
  for (const credentialsFor of [[host.authority], [`${host.authority}/team`]]) {
    const { install, read } = await building(t, { env, trust: { credentialsFor } });
    assert.equal((await install(gitKind, spec)).resolved, host.commit);
    assert.equal(await read('a.txt'), 'private');
    assert.ok(!(await read('.git/config')).includes('s3cret'));
  }
  for (const credentialsFor of [[], ['other.example'], [`${host.authority}/teams`]]) {
    const { failure } = await building(t, { env, trust: { credentialsFor } });
    assert.match(await failure(gitKind, spec), /not public \(status 401\).*INSTALL_CREDENTIALS_FOR/);
  }
});

test('git: a login in .netrc counts as well', async (t) => {
  const host = await privateHost(t);
  const home = await emptyFolder(t);
  await writeFile(join(home, '.netrc'), 'machine 127.0.0.1 login me password s3cret\n', { mode: 0o600 });
  const env = { PATH: process.env.PATH, HOME: home };
  const { install } = await building(t, { env, trust: { credentialsFor: [host.authority] } });
  assert.equal((await install(gitKind, { repo: host.url('team/thing') })).resolved, host.commit);
});

test('git: without a login for a named host, the sentence says so', async (t) => {
  const host = await privateHost(t);
  const env = { PATH: process.env.PATH, HOME: await emptyFolder(t) };
  const { failure } = await building(t, { env, trust: { credentialsFor: [host.authority] } });
  assert.match(await failure(gitKind, { repo: host.url('team/thing') }), /needs a login, and there is none/);
});

test('git: on their own machine, people use their own configuration', async (t) => {
  const host = await privateHost(t);
  const env = await homeWithLogin(t, host.authority);
  const { install } = await building(t, { env, trust: { isOwnMachine: true } });
  assert.equal((await install(gitKind, { repo: host.url('team/thing') })).resolved, host.commit);
});

test('git: ssh works on one’s own machine, and nowhere else', async (t) => {
  const host = await startGitHost(t);
  const commit = await host.create('thing', { 'a.txt': 'by ssh' });
  const home = await emptyFolder(t);
  // In place of ssh: runs the command here.
  const ssh = join(home, 'fake-ssh');
  await writeFile(ssh, `#!/bin/sh\nfor last; do :; done\ncd ${host.folder} && exec sh -c "$last"\n`);
  await chmod(ssh, 0o755);
  await writeFile(join(home, '.gitconfig'), `[core]\n\tsshCommand = ${ssh}\n[safe]\n\tdirectory = *\n`);
  const env = { PATH: process.env.PATH, HOME: home };
  for (const repo of ['git@git.example:thing', `ssh://git@git.example${host.folder}/thing`]) {
    const place = await building(t, { env, trust: { isOwnMachine: true } });
    assert.equal((await place.install(gitKind, { repo })).resolved, commit);
    assert.equal(await place.read('a.txt'), 'by ssh');
    const shared = await building(t, { env });
    assert.match(await shared.failure(gitKind, { repo }), /is an ssh address, for which a hub has no keys/);
  }
});
