// Finds the commit that a ref means, and fetches one commit with as little of its history as the host allows.
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { InstallError } from '../../errors.ts';
import type { ArtifactContext } from '../artifact.ts';
import { shownRepository } from './address.ts';
import type { ByteBudget } from './bytes.ts';
import { type Git, gitIn } from './command.ts';
import type { FoundRepository } from './repository.ts';

export interface Wanted extends FoundRepository {
  /** As the manifest writes it, for sentences. */
  repo: string;
  /** A branch, a tag, a commit or `HEAD`. */
  ref: string;
}

const FULL_COMMIT = /^(?:[0-9a-f]{40}|[0-9a-f]{64})$/;
const SHORT_COMMIT = /^[0-9a-f]{7,63}$/;
const MOST_REFS_BYTES = 50_000_000;

export function isCommit(text: string): boolean {
  return FULL_COMMIT.test(text);
}

/** The full id of the commit that a ref means now. @throws InstallError */
export async function findCommit(wanted: Wanted, context: ArtifactContext, budget: ByteBudget): Promise<string> {
  const { access, ref } = wanted;
  if (isCommit(ref)) return ref;
  const git = gitIn(context.stagingDir, context, access);
  // As git itself reads short names: tags before branches. What an annotated tag points to is listed with `^{}`.
  const names = ['', 'refs/', 'refs/tags/', 'refs/heads/'].flatMap((start) => [`${start}${ref}^{}`, `${start}${ref}`]);
  const listed = await listRefs(git, wanted, names);
  const commit = names.map((name) => listed.get(name)).find(Boolean);
  if (commit) return commit;
  if (SHORT_COMMIT.test(ref)) return findShortCommit(wanted, context, budget);
  throw unknownRef(wanted);
}

async function listRefs(git: Git, { repo, address }: Wanted, names: readonly string[]): Promise<Map<string, string>> {
  const options = { mostBytes: MOST_REFS_BYTES, failed: notFetched(repo) };
  const list = await git.list(options, 'ls-remote', '--quiet', '--', address, ...names);
  if (list === undefined) throw new InstallError(`The repository ${shownRepository(repo)} has too many refs.`);
  const lines = list.split('\n').map((line) => line.split('\t') as [string, string | undefined]);
  return new Map(lines.flatMap(([id, name]) => (name && isCommit(id) ? [[name, id] as const] : [])));
}

/** Hosts do not know shortened commits: only the history does. */
async function findShortCommit(wanted: Wanted, context: ArtifactContext, budget: ByteBudget): Promise<string> {
  const folder = join(context.stagingDir, 'history');
  await mkdir(folder);
  await gitIn(folder, context).do('init', '--quiet', '--template=', '--bare');
  return budget.spend(folder, context.signal, async (signal) => {
    const git = gitIn(folder, { ...context, signal }, wanted.access);
    await fetchHistory(git, wanted);
    const { exitCode, stdout } = await git.try('rev-parse', '--verify', '--quiet', `${wanted.ref}^{commit}`);
    if (exitCode !== 0) throw unknownRef(wanted);
    return stdout.trim();
  });
}

/** Some hosts give out only what has a name, others know nothing of shallow fetches. @throws InstallError */
export async function fetchCommit(git: Git, wanted: Wanted, commit: string): Promise<void> {
  const { repo, address, ref } = wanted;
  const shallow = (name: string) => git.try('fetch', '--quiet', '--no-tags', '--depth', '1', '--', address, name);
  const isThere = async () => (await git.try('rev-parse', '--verify', '--quiet', `${commit}^{commit}`)).exitCode === 0;

  const byId = await shallow(commit);
  const isRefused = /couldn't find remote ref|not our ref|unadvertised object|shallow capabilities/i.test(byId.stderr);
  if (byId.exitCode !== 0 && !isRefused) throw fetchFailure(git, repo, byId.stderr);
  if (byId.exitCode !== 0 && !isCommit(ref)) await shallow(ref);
  if (await isThere()) return;
  await fetchHistory(git, wanted);
  if (!(await isThere())) throw unknownRef({ ...wanted, ref: commit });
}

async function fetchHistory(git: Git, { repo, address }: Wanted): Promise<void> {
  const refs = ['+refs/heads/*:refs/remotes/origin/*', '+refs/tags/*:refs/tags/*'];
  const isShallow = (await git.do('rev-parse', '--is-shallow-repository')) === 'true';
  const options = ['--quiet', '--no-tags', ...(isShallow ? ['--unshallow'] : [])];
  const { exitCode, stderr } = await git.try('fetch', ...options, '--', address, ...refs);
  if (exitCode !== 0) throw fetchFailure(git, repo, stderr);
}

function unknownRef({ repo, ref }: Wanted): InstallError {
  const shown = shownRepository(repo);
  return new InstallError(
    ref === 'HEAD'
      ? `There is no repository at ${shown}, or an empty one.`
      : `The repository ${shown} has no branch, tag or commit '${ref}'.`,
  );
}

function fetchFailure(git: Git, repo: string, stderr: string): InstallError {
  return git.failure(notFetched(repo), stderr);
}

function notFetched(repo: string): string {
  return `The repository ${shownRepository(repo)} could not be fetched`;
}
