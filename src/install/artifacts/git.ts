// Repositories: fetched beside, checked, then put in place, so that every install ends as the first one does.
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { FetchError } from '../../lib/fetch.ts';
import { pathInside, treeDigest } from '../../lib/files.ts';
import { type ArtifactInstaller, type InstallContext, InstallError } from './artifact-installer.ts';
import { Destination, MARK, putInPlace, vendorFolder } from './destination.ts';
import { assertAllowed, readRepository, refFault, repositoryFault, shownRepository } from './git-address.ts';
import { type Git, gitIn, lastWords } from './git-command.ts';
import { assertLinksStayInside } from './git-links.ts';
import { updateSubmodules } from './git-submodules.ts';

const GitSpec = z.object({
  repo: checkedText(repositoryFault),
  ref: checkedText(refFault).nullish(),
  dest: Destination.nullish(),
  submodules: z.boolean().nullish(),
});
type GitSpec = z.infer<typeof GitSpec>;

const COMMIT = /^([0-9a-f]{40}|[0-9a-f]{64})$/;
const SHORT_COMMIT = /^[0-9a-f]{7,63}$/;
const REFS_TIMEOUT_MS = 30_000;
const MOST_REFS_BYTES = 50_000_000;

export const gitInstaller: ArtifactInstaller<GitSpec> = {
  step: 'git.checkout',
  spec: GitSpec,
  command: (spec) => `git fetch --depth 1 ${shownRepository(spec.repo)} ${spec.ref ?? 'HEAD'} into ${placeOf(spec)}`,
  place: placeOf,

  async install(spec, context) {
    const place = placeOf(spec);
    // Asked before anything is fetched: a link in the way will not go away meanwhile.
    await pathInside(context.targetDir, place);
    const address = await findRepository(spec.repo, context);
    const fresh = join(context.scratchDir, 'checkout');
    await mkdir(fresh);
    const git = gitIn(fresh, context);
    const wanted = context.locked?.resolved ?? spec.ref ?? 'HEAD';
    await git.do('init', '--quiet', '--template=', '--initial-branch=main');
    const commit = await fetchCommit(git, address, wanted, spec.repo);
    if (context.locked?.resolved && context.locked.resolved !== commit)
      throw new InstallError(`The lockfile has commit ${context.locked.resolved}, and ${commit} was fetched.`);
    await git.do('checkout', '--quiet', '--force', '--detach', commit);
    if (spec.submodules) await updateSubmodules(fresh, address, context);
    await assertLinksStayInside(fresh);
    await makeReproducible(git, fresh, { commit, repo: spec.repo });
    await replaceIfAnother(place, fresh, context);
    return {
      resolved: commit,
      integrity: `${commit.length === 64 ? 'sha256' : 'sha1'}:${commit}`,
      path: place,
      extra: { commit, repo: shownRepository(spec.repo), ...(spec.ref ? { ref: spec.ref } : {}) },
    };
  },
};

function placeOf({ repo, dest }: GitSpec): string {
  return dest ?? vendorFolder(repo);
}

/** Follows redirects with requests that check every address: git itself would go wherever it is sent. */
async function findRepository(repo: string, context: InstallContext): Promise<string> {
  const url = readRepository(repo);
  if (!url) throw new InstallError(`'${repo}' is no address of a repository.`);
  assertAllowed(url, context.allowPrivateNetwork);
  if (url.protocol === 'file:') return url.href;
  const base = url.href.replace(/\/+$/, '');
  try {
    await context.vetAddress(base);
    const { status, url: found } = await context.fetch({
      url: `${base}/info/refs?service=git-upload-pack`,
      headers: { 'git-protocol': 'version=2' },
      maxBytes: MOST_REFS_BYTES,
      timeoutMs: REFS_TIMEOUT_MS,
      signal: context.signal,
    });
    if (status === 200) return credentialsOf(url, found.replace(/\/info\/refs(\?.*)?$/, ''));
    throw notFound(repo, status);
  } catch (error) {
    if (error instanceof FetchError)
      throw new InstallError(`The repository ${shownRepository(repo)} ${error.message}.`, { cause: error });
    throw error;
  }
}

/** Credentials are for the host they were written for. */
function credentialsOf(asked: URL, found: string): string {
  const url = new URL(found);
  if (url.origin !== asked.origin) return url.href;
  url.username = asked.username;
  url.password = asked.password;
  return url.href;
}

function notFound(repo: string, status: number): InstallError {
  const shown = shownRepository(repo);
  if ([401, 403, 404, 410].includes(status))
    return new InstallError(`There is no repository at ${shown}, or it is not public (status ${status}).`);
  return new InstallError(`The host of the repository ${shown} answered with status ${status}.`);
}

/** Only the commit that is wanted, where the host can do that; the whole history, where it cannot. */
async function fetchCommit(git: Git, address: string, wanted: string, repo: string): Promise<string> {
  const shallow = await git.try('fetch', '--quiet', '--no-tags', '--depth', '1', '--', address, wanted);
  if (shallow.exitCode === 0) return git.do('rev-parse', '--verify', '--quiet', 'FETCH_HEAD^{commit}');
  const isUnknown = /couldn't find remote ref|not our ref|unadvertised object/i.test(shallow.stderr);
  const isDumbHost = /shallow capabilities/i.test(shallow.stderr);
  if (!isDumbHost && !(isUnknown && SHORT_COMMIT.test(wanted)))
    throw fetchError(shallow.stderr, { repo, wanted, isUnknown });
  await git.do(
    'fetch',
    '--quiet',
    '--no-tags',
    '--',
    address,
    '+refs/heads/*:refs/remotes/origin/*',
    '+refs/tags/*:refs/tags/*',
  );
  const head = wanted === 'HEAD' ? await git.try('fetch', '--quiet', '--no-tags', '--', address, 'HEAD') : undefined;
  const names = head
    ? ['FETCH_HEAD']
    : COMMIT.test(wanted) || SHORT_COMMIT.test(wanted)
      ? [wanted, `refs/tags/${wanted}`, `refs/remotes/origin/${wanted}`]
      : [`refs/tags/${wanted}`, `refs/remotes/origin/${wanted}`, wanted];
  for (const name of names) {
    const { exitCode, stdout } = await git.try('rev-parse', '--verify', '--quiet', `${name}^{commit}`);
    if (exitCode === 0) return stdout.trim();
  }
  throw fetchError('', { repo, wanted, isUnknown: true });
}

function fetchError(
  stderr: string,
  { repo, wanted, isUnknown }: { repo: string; wanted: string; isUnknown: boolean },
): InstallError {
  const shown = shownRepository(repo);
  if (isUnknown)
    return new InstallError(
      wanted === 'HEAD'
        ? `The repository ${shown} is empty.`
        : `The repository ${shown} has no branch, tag or commit '${wanted}'.`,
    );
  return new InstallError(`The repository ${shown} could not be fetched: ${lastWords(stderr)}.`);
}

/** Without what differs from one fetch to the next although the same was fetched: times in the index, and how it came. */
async function makeReproducible(
  git: Git,
  folder: string,
  { commit, repo }: { commit: string; repo: string },
): Promise<void> {
  await git.do('config', '--local', 'remote.origin.url', shownRepository(repo));
  await mkdir(join(folder, '.git', 'info'), { recursive: true });
  // The mark of an install is no change of the repository.
  await writeFile(join(folder, '.git', 'info', 'exclude'), `${MARK}\n`);
  const inside = (name: string) => rm(join(folder, '.git', name), { recursive: true, force: true });
  await Promise.all(['index', 'FETCH_HEAD', 'ORIG_HEAD', 'logs', 'branches'].map(inside));
  await git.do('read-tree', commit);
  const head = await readFile(join(folder, '.git', 'HEAD'), 'utf8');
  if (head.trim() !== commit)
    throw new InstallError('git did not leave the repository at the commit that was fetched.');
}

/** What is there already and the same stays untouched, so that a second install changes not a single byte. */
async function replaceIfAnother(place: string, fresh: string, context: InstallContext): Promise<void> {
  const existing = await pathInside(context.targetDir, place);
  const skip = [MARK];
  const [old, made] = await Promise.all([
    treeDigest(existing, { skip }).catch(() => undefined),
    treeDigest(fresh, { skip }),
  ]);
  if (old !== made) await putInPlace(fresh, place, context);
}

function checkedText(faultOf: (text: string) => string | undefined) {
  return z.string().superRefine((text, context) => {
    const fault = faultOf(text);
    if (fault) context.addIssue({ code: 'custom', message: fault });
  });
}
