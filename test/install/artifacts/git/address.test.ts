// Addresses, refs and places of repositories: which are refused, and what is said of hosts that do not answer as they should.
import assert from 'node:assert/strict';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { gitKind } from '../../../../src/install/artifacts/git/git.ts';
import { repositoryFault } from '../../../../src/install/artifacts/git/repository.ts';
import { startGitHost } from '../../git-host.ts';
import { building } from '../building.ts';

const REFUSED: [string, Record<string, unknown>, RegExp][] = [
  ['no repo', {}, /repo .*received undefined/],
  ['a repo that is no text', { repo: 7 }, /repo .*received number/],
  ['an empty repo', { repo: '' }, /must be an https/],
  ['a repo that is an option', { repo: '--upload-pack=touch /tmp/x' }, /must not/],
  ['a repo that is an option without blanks', { repo: '-oProxyCommand=x' }, /must be an https/],
  ['a command as transport', { repo: 'ext::sh' }, /must be an https, http or ssh address/],
  ['a helper before an address', { repo: 'ext::https://example.org/a' }, /must be an https, http or ssh address/],
  ['another helper as transport', { repo: 'fd::17/foo' }, /must be an https, http or ssh address/],
  ['an ssh address', { repo: 'git@github.com:owner/thing.git' }, /ssh address/],
  ['an ssh url', { repo: 'ssh://git@github.com/owner/thing.git' }, /ssh address/],
  ['an ssh host that is an option', { repo: 'ssh://-oProxyCommand=evil/x' }, /ssh address/],
  ['a git: address', { repo: 'git://example.org/thing' }, /by https, http or ssh only/],
  ['an ftp address', { repo: 'ftp://example.org/thing' }, /by https, http or ssh only/],
  ['a line end in the repo', { repo: 'https://example.org/a\nb' }, /control/],
  ['a ref that is an option', { repo: 'https://example.org/a', ref: '--upload-pack=x' }, /is not a name/],
  ['a ref that is a refspec', { repo: 'https://example.org/a', ref: 'main:refs/heads/x' }, /is not a name/],
  ['a ref that forces', { repo: 'https://example.org/a', ref: '+main' }, /is not a name/],
  ['a ref with a range', { repo: 'https://example.org/a', ref: 'a..b' }, /is not a name/],
  ['a ref with a reflog', { repo: 'https://example.org/a', ref: 'main@{1}' }, /is not a name/],
  ['an empty ref', { repo: 'https://example.org/a', ref: '' }, /is not a name/],
  ['a dest above', { repo: 'https://example.org/a', dest: '../x' }, /'\.\.'/],
  ['an absolute dest', { repo: 'https://example.org/a', dest: '/etc' }, /relative/],
  ['the target itself as dest', { repo: 'https://example.org/a', dest: '.' }, /below the target/],
  ['the lockfile as dest', { repo: 'https://example.org/a', dest: 'hub.lock.json' }, /is reserved/],
  ['the folder of the hub as dest', { repo: 'https://example.org/a', dest: '.hub/x' }, /is reserved/],
  ['the same in capitals', { repo: 'https://example.org/a', dest: '.HUB/lock' }, /is reserved/],
  ['a repository of the project as dest', { repo: 'https://example.org/a', dest: 'x/.git/hooks' }, /\.git/],
];

for (const [name, spec, reason] of REFUSED) {
  test(`git: refuses ${name}`, async (t) => {
    const { failure } = await building(t);
    assert.match(await failure(gitKind, spec), reason);
  });
}

test('git: a host or repository that is not there is told in a sentence', async (t) => {
  const host = await startGitHost(t);
  await host.create('thing');
  const { failure } = await building(t);
  assert.match(
    await failure(gitKind, { repo: host.url('nothing') }),
    /There is no repository at .*\/nothing, or it is not public \(status 404\)/,
  );
  assert.match(await failure(gitKind, { repo: host.url('thing'), ref: 'nope' }), /has no branch, tag or commit 'nope'/);
  assert.match(await failure(gitKind, { repo: 'http://127.0.0.1:1/x' }), /could not be reached/);
  host.intercept = (_request, response) => {
    response.writeHead(401, { 'www-authenticate': 'Basic realm="x"' }).end();
    return true;
  };
  assert.match(await failure(gitKind, { repo: host.url('thing') }), /not public \(status 401\)/);
  host.intercept = (_request, response) => {
    response.writeHead(200, { 'content-type': 'text/html' }).end('<html>no repository</html>');
    return true;
  };
  assert.match(await failure(gitKind, { repo: host.url('thing') }), /no repository at .*, or an empty one/);
});

test('git: an empty repository is told in a sentence', async (t) => {
  const host = await startGitHost(t);
  await mkdir(join(host.folder, 'empty'));
  await host.git('empty', 'init', '--quiet', '.');
  const { failure } = await building(t);
  assert.match(await failure(gitKind, { repo: host.url('empty') }), /or an empty one/);
});

test('git: redirects are followed where they may lead, and private addresses are not fetched when they may not', async (t) => {
  const host = await startGitHost(t);
  const commit = await host.create('moved');
  host.intercept = (request, response) => {
    if (!request.url?.startsWith('/old')) return false;
    response.writeHead(301, { location: request.url.replace('/old', '/moved') }).end();
    return true;
  };
  const { install } = await building(t);
  assert.equal((await install(gitKind, { repo: host.url('old') })).resolved, commit);

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

test('git: an address of IPv6 is an address, and one that is never connected to is told as such', async (t) => {
  assert.equal(repositoryFault('https://[2001:db8::1]/thing.git'), undefined);
  const { failure } = await building(t, { allowPrivate: false });
  const spec = { repo: 'http://[fe80::1]/y.git' };
  assert.match(await failure(gitKind, spec, { allowPrivateNetwork: false }), /leads to fe80::1, .* never connected to/);
});
