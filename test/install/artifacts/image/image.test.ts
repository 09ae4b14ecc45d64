// Images: how digests are resolved, what engines run, and what happens without an engine.
import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { chmod, mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { pullCause } from '../../../../src/install/artifacts/image/engines.ts';
import { imageKind } from '../../../../src/install/artifacts/image/image.ts';
import { createRun } from '../../../../src/lib/run.ts';
import { emptyFolder } from '../artifact-context.ts';
import { type Building, building } from '../building.ts';
import { type OciHost, startOciHost } from './oci-host.ts';

/** A PATH without any image program. */
const bare = (t: TestContext): Promise<Building> => building(t, { env: { PATH: '/nowhere' } });

test('image: without an engine records the digest, and the step says that nothing was pulled', async (t) => {
  const registry = await startOciHost(t);
  const digest = registry.manifest('some/thing', '1.0');
  const stage = await bare(t);
  const spec = { image: `${registry.authority}/some/thing:1.0` };
  const installed = await stage.install(imageKind, spec);
  assert.deepEqual([installed.resolved, installed.integrity], [`${registry.authority}/some/thing@${digest}`, digest]);
  assert.match(installed.skipped ?? '', /^Neither docker nor podman is installed\. The image is not pulled/);
  const scopes = registry.host.seen('/token').map(({ path }) => new URL(path, 'http://x').searchParams.get('scope'));
  assert.deepEqual(scopes, ['repository:some/thing:pull'], 'requests only read access');
  const reference = imageKind.spec.parse(spec);
  assert.match((await imageKind.unavailable?.(reference, stage.context)) ?? '', /Neither docker/);
});

test('image: a locked image must match the repository and digest of the manifest', async (t) => {
  const registry = await startOciHost(t, { needsToken: false });
  const first = registry.manifest('thing', '1.0', { schemaVersion: 2, manifests: [], n: 1 });
  const second = registry.manifest('thing', '1.0', { schemaVersion: 2, manifests: [], n: 2 });
  const stage = await bare(t);
  const image = `${registry.authority}/thing`;
  assert.equal((await stage.install(imageKind, { image, tag: '1.0' })).integrity, second);
  assert.equal((await stage.install(imageKind, { image: `${image}:1.0`, digest: first })).integrity, first);
  const locked = { resolved: `${image}@${first}`, integrity: first };
  assert.equal((await stage.install(imageKind, { image, tag: '1.0' }, { locked })).integrity, first);
  assert.match(await stage.failure(imageKind, { image, digest: DIGEST }), /has no such image, tag or digest/);
  const other = { image: `${registry.authority}/other` };
  assert.match(await stage.failure(imageKind, other, { locked }), /The lockfile has/);
  assert.match(await stage.failure(imageKind, { image, digest: second }, { locked }), /The lockfile has/);
});

type Trouble = [name: string, prepare: (registry: OciHost) => void, expected: RegExp];
const answered =
  (status: number, headers: Record<string, string>): Trouble[1] =>
  ({ host }) =>
    host.answer('/v2/thing/manifests/latest', (_request, response) => void response.writeHead(status, headers).end());
const TROUBLES: Trouble[] = [
  ['an unknown image', () => {}, /has no such image/],
  ['a manifest that is not JSON', (r) => void r.manifest('thing', 'latest', Buffer.from('<html>')), /image manifest/],
  ['a manifest that is a list', (r) => void r.manifest('thing', 'latest', []), /image manifest/],
  ['an outdated manifest', (r) => void r.manifest('thing', 'latest', { schemaVersion: 1 }), /image manifest/],
  ['a manifest of megabytes', (r) => void r.manifest('thing', 'latest', Buffer.alloc(5_000_000, ' ')), /larger than/],
  ['a 401', answered(401, { 'www-authenticate': 'Basic realm="x"' }), /needs a login.*INSTALL_CREDENTIALS_FOR/],
  ['a realm that is a file', answered(401, { 'www-authenticate': 'Bearer realm="file:///x"' }), /only http and https/],
  [
    'a realm of the metadata service',
    answered(401, { 'www-authenticate': 'Bearer realm="http://169.254.169.254/"' }),
    /never connected/,
  ],
  [
    'a token with a line break',
    (r) => {
      r.manifest('thing', 'latest');
      r.host.put('/token', { token: 'a\r\nx-evil: 1' });
    },
    /needs a login/,
  ],
  ['too many requests', answered(429, {}), /later/],
];
for (const [name, prepare, expected] of TROUBLES)
  test(`image: reports ${name}`, async (t) => {
    const registry = await startOciHost(t, { needsToken: name.includes('token') });
    prepare(registry);
    const stage = await bare(t);
    assert.match(await stage.failure(imageKind, { image: `${registry.authority}/thing` }), expected);
  });

test('image: does not contact a registry in a private network when that is off', async (t) => {
  const registry = await startOciHost(t);
  const stage = await building(t, { allowPrivate: false, env: { PATH: '/nowhere' } });
  assert.match(await stage.failure(imageKind, { image: `${registry.authority}/thing` }), /private or loopback/);
  assert.equal(registry.host.requests.length, 0);
});

/** Stand-ins for the real programs; `calls` records their arguments. */
async function withPrograms(t: TestContext, scripts: Record<string, string>, trust = {}) {
  const home = await emptyFolder(t);
  const bin = join(home, 'bin');
  await mkdir(bin);
  for (const [name, script] of Object.entries(scripts)) {
    const calls = `echo "${name} $*" >> ${home}/calls`;
    const logins = `[ -n "$DOCKER_CONFIG" ] && cat "$DOCKER_CONFIG/config.json" > ${home}/config && echo "$DOCKER_CONFIG" > ${home}/place`;
    await writeFile(join(bin, name), `#!/bin/sh\n${calls}\n${logins}\n${script}\n`);
    await chmod(join(bin, name), 0o755);
  }
  const stage = await building(t, { trust });
  const run = createRun({ PATH: `${bin}:/bin` }, { url: async () => 'http://127.0.0.1:9' });
  return { stage, run, home, calls: async () => (await readFile(join(home, 'calls'), 'utf8')).trim().split('\n') };
}

const DIGEST = `sha256:${'a'.repeat(64)}`;
const OTHER = `sha256:${'b'.repeat(64)}`;
const engine = (name: string, { repository = 'thing' } = {}) =>
  `case "$1$4" in pull*) exit 0;; *RepoDigests*) echo "other@${OTHER}"; echo "${repository}@${DIGEST}";; *) echo ${name} 1.0;; esac`;
const NO_ENGINE = 'echo "Client: 27"; echo "Cannot connect to the Docker daemon" >&2; exit 1';
/** Docker Hub names resolve to nothing in tests. */
const offline = {
  vetAddress: async () => [],
  fetch: async () => ({ url: '', status: 503, headers: {}, body: Buffer.alloc(0) }),
};

test('image: prefers docker over podman, and skips a client without an engine', async (t) => {
  const toolOf = async (scripts: Record<string, string>) => {
    const { stage, run } = await withPrograms(t, scripts);
    return stage.install(imageKind, { image: 'thing:1.0' }, { ...offline, run });
  };
  const both = await toolOf({ docker: engine('docker'), podman: engine('podman') });
  assert.deepEqual([both.extra?.tool, both.resolved], ['docker', `docker.io/library/thing@${DIGEST}`]);
  assert.equal((await toolOf({ docker: NO_ENGINE, podman: engine('podman') })).extra?.tool, 'podman');
  const { stage, run } = await withPrograms(t, { docker: 'test "$1" = --version && echo Docker 27' });
  const stopped = await imageKind.unavailable?.(imageKind.spec.parse({ image: 'thing' }), { ...stage.context, run });
  assert.equal(
    stopped,
    'docker is installed, but no engine responds. The image is not pulled; its digest is recorded.',
  );
});

test('image: is pulled by digest', async (t) => {
  const { stage, run, calls } = await withPrograms(t, { docker: engine('docker') });
  const image = `ghcr.io/o/t@${DIGEST}`;
  await stage.install(imageKind, { image }, { ...offline, run });
  assert.ok((await calls()).includes(`docker pull --quiet -- ${image}`));
});

test('image: never uses the digest of another repository', async (t) => {
  const { stage, run } = await withPrograms(t, { docker: engine('docker', { repository: 'mirror.example/thing' }) });
  assert.match(
    await stage.failure(imageKind, { image: 'thing:1.0' }, { ...offline, run }),
    /docker does not report the digest/,
  );
});

const LOGINS = {
  auths: { 'ghcr.io': { auth: 'bWU6cHc=' }, 'other.example': { auth: 'eA==' } },
  currentContext: 'colima',
};

test('image: engines on a hub get the Docker context, and logins only for named hosts', async (t) => {
  const cases = [
    { credentialsFor: [], auths: undefined },
    { credentialsFor: ['ghcr.io/teams'], auths: undefined },
    { credentialsFor: ['ghcr.io/team'], auths: { 'ghcr.io': LOGINS.auths['ghcr.io'] } },
  ];
  for (const { credentialsFor, auths } of cases) {
    const { stage, run, home } = await withPrograms(t, { docker: engine('docker') }, { credentialsFor });
    await mkdir(join(home, '.docker'));
    await writeFile(join(home, '.docker/config.json'), JSON.stringify(LOGINS));
    await stage.install(imageKind, { image: `ghcr.io/team/tool@${DIGEST}` }, { ...offline, run, home });
    const config = JSON.parse(await readFile(join(home, 'config'), 'utf8'));
    assert.deepEqual([config.currentContext, config.auths], ['colima', auths]);
    const where = (await readFile(join(home, 'place'), 'utf8')).trim();
    assert.ok(!where.startsWith(stage.context.stagingDir) && !existsSync(where), 'logins stay out of the target');
  }
});

test('image: without an engine, a private image is refused with advice', async (t) => {
  const registry = await startOciHost(t, { login: 'me:pw' });
  registry.manifest('team/tool', 'latest');
  const sentence = await (await bare(t)).failure(imageKind, { image: `${registry.authority}/team/tool` });
  assert.match(sentence, /needs a login\. Private images need docker, podman or skopeo/);
});

const CAUSES: [written: string, cause: RegExp][] = [
  [
    'pinging container registry h.example: Get \\"https://h.example/v2/\\": dial tcp: lookup h.example: no such host',
    /could not be reached/,
  ],
  ['reading manifest 1.0 in h.example/a: manifest unknown', /has no such image/],
  ['no matching manifest for linux/arm64 in the list', /there is no image for the platform of this machine/],
  ['reading manifest 1.0 in h.example/a: unauthorized: authentication required', /needs a login/],
  ['reading manifest 1.0: toomanyrequests: You have reached your pull rate limit', /limits requests/],
  ['open /etc/containers/policy.json: no such file or directory', /install the package containers-common/],
  ['tls: failed to verify certificate: x509: certificate signed by unknown authority', /certificate of the registry/],
  ['something \\"else\\" in parts went wrong', /^something "else" in parts went wrong$/],
];

for (const [written, cause] of CAUSES)
  test(`image: a failed pull is explained with '${cause.source}'`, () => {
    assert.match(pullCause(`time="2026-01-01T00:00:00Z" level=fatal msg="${written}"\n`), cause);
  });

const REFUSED = [
  ...['', 5, '-v', '--help', 'UPPER', 'a b', '../x', '/etc/passwd', 'a/../b', 'https://a.example/x', 'a:b:c', 'a:-x'],
  ...['a@sha256:123', 'a@md5:1', 'a;id', 'a$(id)', 'a\nb', `a:${'t'.repeat(129)}`, 'n'.repeat(300), 'dir:/tmp/x'],
  ...['docker-archive:/etc/x', 'user:pw@host/a', undefined],
].map((image): object => ({ image }));
REFUSED.push({ image: 'a', tag: '-x' }, { image: 'a', tag: 'a/b' }, { image: 'a:1', tag: '2' });
REFUSED.push({ image: 'a', digest: 'sha256:12' }, { image: `a@${DIGEST}`, digest: OTHER });
for (const spec of REFUSED) {
  test(`image ${JSON.stringify(spec).slice(0, 70)} is refused`, () => {
    assert.equal(imageKind.spec.safeParse(spec).success, false);
  });
}
