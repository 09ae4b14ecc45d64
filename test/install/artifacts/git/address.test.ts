// Which addresses, refs and destinations of repositories are refused, and how failing hosts are reported.
import assert from 'node:assert/strict';
import { chmod, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { gitIn } from '../../../../src/install/artifacts/git/command.ts';
import { gitKind } from '../../../../src/install/artifacts/git/git.ts';
import { repositoryFault } from '../../../../src/install/artifacts/git/repository.ts';
import { NEEDS_LOGIN } from '../../../../src/install/artifacts/program.ts';
import type { InstallError } from '../../../../src/install/errors.ts';
import { type GitHost, startGitHost } from '../../git-host.ts';
import { artifactContext, emptyFolder } from '../artifact-context.ts';
import { building } from '../building.ts';

const REFUSED: [string, Record<string, unknown>, RegExp][] = [
  ['no repo', {}, /repo is missing; it must be a string/],
  ['a repo that is not text', { repo: 7 }, /repo must be a string/],
  ['an empty repo', { repo: '' }, /must be an https/],
  ['an option as repo', { repo: '--upload-pack=touch /tmp/x' }, /must not/],
  ['an option without spaces as repo', { repo: '-oProxyCommand=x' }, /must be an https/],
  ['a command as transport', { repo: 'ext::sh' }, /must be an https, http or ssh address/],
  ['a helper in front of an address', { repo: 'ext::https://example.org/a' }, /must be an https, http or ssh address/],
  ['another helper as transport', { repo: 'fd::17/foo' }, /must be an https, http or ssh address/],
  ['an ssh address', { repo: 'git@github.com:owner/thing.git' }, /ssh address/],
  ['an ssh url', { repo: 'ssh://git@github.com/owner/thing.git' }, /ssh address/],
  ['an option as ssh host', { repo: 'ssh://-oProxyCommand=evil/x' }, /ssh address/],
  ['a git: address', { repo: 'git://example.org/thing' }, /only over https, http or ssh/],
  ['an ftp address', { repo: 'ftp://example.org/thing' }, /only over https, http or ssh/],
  ['a line break in the repo', { repo: 'https://example.org/a\nb' }, /control/],
  ['an option as ref', { repo: 'https://example.org/a', ref: '--upload-pack=x' }, /is not the name/],
  ['a refspec as ref', { repo: 'https://example.org/a', ref: 'main:refs/heads/x' }, /is not the name/],
  ['a forced ref', { repo: 'https://example.org/a', ref: '+main' }, /is not the name/],
  ['a ref with a range', { repo: 'https://example.org/a', ref: 'a..b' }, /is not the name/],
  ['a ref with a reflog', { repo: 'https://example.org/a', ref: 'main@{1}' }, /is not the name/],
  ['an empty ref', { repo: 'https://example.org/a', ref: '' }, /is not the name/],
  ['a dest above the target', { repo: 'https://example.org/a', dest: '../x' }, /'\.\.'/],
  ['an absolute dest', { repo: 'https://example.org/a', dest: '/etc' }, /relative/],
  ['the target itself as dest', { repo: 'https://example.org/a', dest: '.' }, /below the target/],
  ['the lockfile as dest', { repo: 'https://example.org/a', dest: 'hub.lock.json' }, /is reserved/],
  ['the .hub folder as dest', { repo: 'https://example.org/a', dest: '.hub/x' }, /start with '\.'/],
  ['the .hub folder in capitals', { repo: 'https://example.org/a', dest: '.HUB/lock' }, /start with '\.'/],
  ['a .git folder as dest', { repo: 'https://example.org/a', dest: 'x/.git/hooks' }, /\.git/],
];

for (const [name, spec, reason] of REFUSED) {
  test(`git: refuses ${name}`, async (t) => {
    const { failure } = await building(t);
    assert.match(await failure(gitKind, spec), reason);
  });
}

test('git: an unknown host or repository is reported', async (t) => {
  const host = await startGitHost(t);
  await host.create('thing');
  const { failure } = await building(t);
  assert.match(await failure(gitKind, { repo: host.url('nothing') }), /no repository is at this address/);
  assert.match(await failure(gitKind, { repo: host.url('thing'), ref: 'nope' }), /has no branch, tag or commit 'nope'/);
  assert.match(await failure(gitKind, { repo: 'http://127.0.0.1:1/x' }), /could not be reached/);
  host.intercept = (_request, response) => {
    response.writeHead(401, { 'www-authenticate': 'Basic realm="x"' }).end();
    return true;
  };
  assert.match(await failure(gitKind, { repo: host.url('thing') }), /needs a login/);
  host.intercept = (_request, response) => {
    response.writeHead(200, { 'content-type': 'text/html' }).end('<html>no repository</html>');
    return true;
  };
  assert.match(
    await failure(gitKind, { repo: host.url('thing') }),
    /The repository .* does not exist, or has no commits/,
  );
});

test('git: an empty repository is reported', async (t) => {
  const host = await startGitHost(t);
  await mkdir(join(host.folder, 'empty'));
  await host.git('empty', 'init', '--quiet', '.');
  const { failure } = await building(t);
  assert.match(await failure(gitKind, { repo: host.url('empty') }), /or has no commits/);
});

test('git: follows allowed redirects, and does not fetch private addresses when they are off', async (t) => {
  const host = await startGitHost(t);
  const commit = await host.create('moved');
  host.intercept = (request, response) => {
    if (!request.url?.startsWith('/old')) return false;
    response.writeHead(301, { location: request.url.replace('/old', '/moved') }).end();
    return true;
  };
  const { install } = await building(t);
  assert.equal((await install(gitKind, { repo: host.url('old') })).resolved, commit);

  host.intercept = (_request, response) => {
    response.writeHead(301, { location: 'http://169.254.169.254/latest/info/refs?service=git-upload-pack' }).end();
    return true;
  };
  const { failure } = await building(t);
  assert.match(await failure(gitKind, { repo: host.url('moved') }), /could not be fetched/);
  host.intercept = undefined;

  const guarded = await building(t, { allowPrivate: false });
  const refused = { allowPrivateNetwork: false };
  assert.match(await guarded.failure(gitKind, { repo: host.url('moved') }, refused), /ALLOW_PRIVATE_NETWORK/);
  assert.match(
    await guarded.failure(gitKind, { repo: 'http://169.254.169.254/latest' }),
    /never connected to|metadata/,
  );
  assert.match(await guarded.failure(gitKind, { repo: join(host.folder, 'moved') }, refused), /folder of this machine/);
  assert.match(
    await guarded.failure(gitKind, { repo: `file://${host.folder}/moved` }, refused),
    /folder of this machine/,
  );
});

test('git: an IPv6 address works, and one that never connects is reported', async (t) => {
  assert.equal(repositoryFault('https://[2001:db8::1]/thing.git'), undefined);
  const { failure } = await building(t, { allowPrivate: false });
  const spec = { repo: 'http://[fe80::1]/y.git' };
  assert.match(
    await failure(gitKind, spec, { allowPrivateNetwork: false }),
    /cannot be used: fe80::1 .* never connected to/,
  );
});

const NOT_REACHED = 'its host could not be reached, is too slow, or ended the connection; try again later';
const CAUSES: [written: string, cause: string][] = [
  ["fatal: unable to access 'https://h/': Could not resolve host: h", NOT_REACHED],
  ['fatal: could not read Username for https://h: terminal prompts disabled', NEEDS_LOGIN],
  ['error: RPC failed; curl 18\nfatal: early EOF', NOT_REACHED],
  ['error: unable to create file FOLDER/aux: Permission denied', 'unable to create file aux: Permission denied'],
  ["fatal: cannot use STAGING/x of 'https://me:pw@h.example/a'", "cannot use x of 'https://h.example/a'"],
];

test('git: error messages are explained without paths of the install', async (t) => {
  const context = await artifactContext(t);
  const folder = join(context.stagingDir, 'built');
  for (const [written, cause] of CAUSES) {
    const stderr = written.replaceAll('FOLDER', folder).replaceAll('STAGING', context.stagingDir);
    const run = async () => ({ exitCode: 128, stdout: '', stderr });
    await assert.rejects(gitIn(folder, { ...context, run })(['fetch'], 'It failed'), (error: InstallError) => {
      assert.equal(error.message, `It failed: ${cause}.`);
      return !JSON.stringify(error.extra).includes(context.stagingDir);
    });
  }
});

const LOGIN = `Basic ${Buffer.from('me:s3cret').toString('base64')}`;

/** A host that requires a login for everything. */
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

/** A home folder with a login for a host, in git's credential store. */
async function homeWithLogin(t: TestContext, authority: string): Promise<NodeJS.ProcessEnv> {
  const home = await emptyFolder(t);
  await writeFile(join(home, '.gitconfig'), '[credential]\n\thelper = store\n');
  await writeFile(join(home, '.git-credentials'), `http://me:s3cret@${authority.replace(':', '%3a')}\n`);
  return { PATH: process.env.PATH, HOME: home };
}

test('git: credentials of the operator are sent only to hosts that the operator names', async (t) => {
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
    assert.match(await failure(gitKind, spec), /needs a login.*INSTALL_CREDENTIALS_FOR/);
  }
});

test('git: uses a login in .netrc', async (t) => {
  const host = await privateHost(t);
  const home = await emptyFolder(t);
  await writeFile(join(home, '.netrc'), 'machine 127.0.0.1 login me password s3cret\n', { mode: 0o600 });
  const env = { PATH: process.env.PATH, HOME: home };
  const { install } = await building(t, { env, trust: { credentialsFor: [host.authority] } });
  assert.equal((await install(gitKind, { repo: host.url('team/thing') })).resolved, host.commit);
});

test('git: reports a missing login for a named host', async (t) => {
  const host = await privateHost(t);
  const env = { PATH: process.env.PATH, HOME: await emptyFolder(t) };
  const { failure } = await building(t, { env, trust: { credentialsFor: [host.authority] } });
  assert.match(await failure(gitKind, { repo: host.url('team/thing') }), /needs a login, and this machine/);
});

test('git: a local install uses the user’s configuration', async (t) => {
  const host = await privateHost(t);
  const env = await homeWithLogin(t, host.authority);
  const { install } = await building(t, { env, trust: { isOwnMachine: true } });
  assert.equal((await install(gitKind, { repo: host.url('team/thing') })).resolved, host.commit);
});

test('git: ssh works only in a local install', async (t) => {
  const host = await startGitHost(t);
  const commit = await host.create('thing', { 'a.txt': 'by ssh' });
  const home = await emptyFolder(t);
  // Replaces ssh: runs the command locally.
  const ssh = join(home, 'fake-ssh');
  await writeFile(ssh, `#!/bin/sh\nfor last; do :; done\ncd ${host.folder} && exec sh -c "$last"\n`);
  await chmod(ssh, 0o755);
  await writeFile(join(home, '.gitconfig'), `[core]\n\tsshCommand = ${ssh}\n[safe]\n\tdirectory = *\n`);
  const env = { PATH: process.env.PATH, HOME: home };
  for (const repo of ['git@git.example:thing', `ssh://git@git.example${host.folder}/thing`]) {
    const stage = await building(t, { env, trust: { isOwnMachine: true } });
    assert.equal((await stage.install(gitKind, { repo })).resolved, commit);
    assert.equal(await stage.read('a.txt'), 'by ssh');
    const shared = await building(t, { env });
    assert.match(await shared.failure(gitKind, { repo }), /is an ssh address, but a hub has no ssh keys/);
  }
});
