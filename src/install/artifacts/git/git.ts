// Git repositories, checked out at an exact commit, within limits.
import { z } from 'zod';
import { cannotFollow, InstallError } from '../../errors.ts';
import { findStrayLink } from '../../target/tree.ts';
import type { ArtifactContext, ArtifactKind } from '../artifact.ts';
import { Destination, vendorNames } from '../destination.ts';
import { tryProgram } from '../program.ts';
import { type Git, gitIn, NO_GIT, publicAccess } from './command.ts';
import { findRepository, readRepository, refFault, repositoryFault, shownRepository } from './repository.ts';

const GitSpec = z.object({
  repo: checkedText(repositoryFault),
  ref: checkedText(refFault).nullish(),
  dest: Destination.nullish(),
  submodules: z
    .literal(false, { error: 'must not be true: submodules are not fetched; publish an archive that includes them' })
    .nullish(),
});
type GitSpec = z.infer<typeof GitSpec>;

/** A small repository can contain the same folder a million times. */
const LIMITS = { mostReceivedBytes: 2_000_000_000, mostFiles: 200_000, mostBytes: 4_000_000_000 };
export type GitLimits = typeof LIMITS;

export const gitKind = createGitKind();

export function createGitKind(changed: Partial<GitLimits> = {}): ArtifactKind<GitSpec> {
  const limits = { ...LIMITS, ...changed };
  return {
    step: 'git.checkout',
    spec: GitSpec,
    describe: ({ repo, ref }) => `check out ${ref ?? 'HEAD'} of ${shownRepository(repo)}`,
    location: ({ repo, dest }) => ({
      kind: 'vendor',
      dest: dest ?? undefined,
      names: vendorNames(readRepository(repo)?.href ?? repo),
    }),

    unavailable: async (_spec, context) =>
      (await tryProgram('git', ['--version'], context)) === undefined ? NO_GIT : undefined,

    async resolve(spec, context) {
      const commit = await findCommit(spec.repo, spec.ref ?? 'HEAD', context);
      return { resolved: commit, integrity: integrityOf(commit) };
    },

    async build(spec, { resolved, integrity }, folder, context) {
      const commit = resolved ?? '';
      if (!isCommit(commit) || integrity !== integrityOf(commit))
        throw cannotFollow(`The lockfile has no commit for ${shownRepository(spec.repo)}.`);
      const { repo, ref } = spec;
      await checkOut({ repo, commit, limits }, folder, context);
      const stray = await findStrayLink(folder);
      const where = stray?.leads === 'out' ? ', which leads out of it' : " into '.git'";
      if (stray) throw new InstallError(`The repository contains the link '${stray.path}'${where}. Not installed.`);
      return { extra: { commit, repo: shownRepository(repo), ...(ref ? { ref } : {}) } };
    },
  };
}

function integrityOf(commit: string): string {
  return `${commit.length === 64 ? 'sha256' : 'sha1'}:${commit}`;
}

function checkedText(faultOf: (text: string) => string | undefined) {
  return z.string().superRefine((text, context) => {
    const fault = faultOf(text);
    if (fault) context.addIssue(fault);
  });
}

function isCommit(text: string): boolean {
  return /^(?:[0-9a-f]{40}|[0-9a-f]{64})$/.test(text);
}

/** Resolves a branch, a tag or `HEAD` to a commit id. @throws InstallError */
async function findCommit(repo: string, ref: string, context: ArtifactContext): Promise<string> {
  if (isCommit(ref)) return ref;
  const { address, access } = await findRepository(repo, context);
  const git = gitIn(context.stagingDir, context, access);
  // Resolves short names like git: tags before branches. `^{}` lists the commit of an annotated tag.
  const names = ['', 'refs/', 'refs/tags/', 'refs/heads/'].flatMap((start) => [`${start}${ref}^{}`, `${start}${ref}`]);
  const output = await git(['ls-remote', '--quiet', '--', address, ...names], notFetched(repo));
  const listed = new Map(output.split('\n').map((line) => line.split('\t').reverse() as [string, string]));
  const commit = names.map((name) => listed.get(name)).find((id) => id && isCommit(id));
  if (commit) return commit;
  throw unknownRef(repo, ref);
}

type Checkout = { repo: string; commit: string; limits: GitLimits };

/** Checks out a commit without its history. @throws InstallError */
async function checkOut({ repo, commit, limits }: Checkout, folder: string, context: ArtifactContext): Promise<void> {
  const { address, access } = await findRepository(repo, context);
  // Filters in the operator's configuration must not run on other people's repositories.
  const git = gitIn(folder, context, context.trust.isOwnMachine ? access : publicAccess);
  const objectFormat = commit.length === 64 ? ['--object-format=sha256'] : [];
  await git(['init', '--quiet', '--template=', '--initial-branch=main', ...objectFormat]);
  await git(['config', '--local', 'remote.origin.url', shownRepository(repo)]);
  const fetching = gitIn(folder, context, { ...access, mostFileBytes: limits.mostReceivedBytes });
  const args = ['fetch', '--quiet', '--no-tags', '--depth', '1', '--', address, commit];
  await fetching(args, notFetched(repo)).catch((error: unknown) => {
    const output = error instanceof InstallError ? String(error.extra.output) : '';
    throw /couldn't find remote ref|not our ref/i.test(output) ? unknownRef(repo, commit) : error;
  });
  await assertSize(git, commit, limits);
  await git(['checkout', '--quiet', '--force', '--detach', commit]);
}

/** Checks the size before the checkout. @throws InstallError */
async function assertSize(git: Git, commit: string, { mostFiles, mostBytes }: GitLimits): Promise<void> {
  let [files, bytes] = [0, 0];
  for (const line of (await git(['ls-tree', '-r', '-z', '-l', commit])).split('\0')) {
    const [, type, size, path = ''] = /^\d+ (\w+) \w+ +(\S+)\t(.*)$/s.exec(line) ?? [];
    // Most programs cannot open such files, and they have no tree digest.
    if (path.includes('\ufffd')) throw new InstallError(`The repository contains a name that is not UTF-8: '${path}'.`);
    if (type !== 'blob') continue;
    files += 1;
    bytes += Number(size);
  }
  if (files <= mostFiles && bytes <= mostBytes) return;
  const what = files > mostFiles ? `more than ${mostFiles} files` : `${bytes} bytes`;
  throw new InstallError(`The repository contains ${what}, which is more than an install accepts.`);
}

function unknownRef(repo: string, ref: string): InstallError {
  const shown = shownRepository(repo);
  if (ref === 'HEAD') return new InstallError(`The repository ${shown} does not exist, or has no commits.`);
  const advice = /^[0-9a-f]{7,39}$/.test(ref) ? ' If it is a shortened commit, use the full one.' : '';
  const gone = isCommit(ref) ? ' If hub.lock.json names it, uninstall the entity and install it again.' : advice;
  return new InstallError(`The repository ${shown} has no branch, tag or commit '${ref}'.${gone}`);
}

function notFetched(repo: string): string {
  return `The repository ${shownRepository(repo)} could not be fetched`;
}
