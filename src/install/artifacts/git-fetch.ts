// One commit out of a repository: nothing else, where the host can do that; the whole history, where it cannot.
import { InstallError } from './artifact-installer.ts';
import { shownRepository } from './git-address.ts';
import type { Git } from './git-command.ts';

interface Wanted {
  /** As the manifest writes it, for sentences. */
  repo: string;
  address: string;
  /** A branch, a tag, a commit or `HEAD`. */
  ref: string;
}

const COMMIT = /^[0-9a-f]{7,64}$/;

/** Answers with the whole name of the commit. @throws InstallError */
export async function fetchCommit(git: Git, wanted: Wanted): Promise<string> {
  const { address, ref } = wanted;
  const shallow = await git.try('fetch', '--quiet', '--no-tags', '--depth', '1', '--', address, ref);
  if (shallow.exitCode === 0) return git.do('rev-parse', '--verify', '--quiet', 'FETCH_HEAD^{commit}');
  const isUnknown = /couldn't find remote ref|not our ref|unadvertised object/i.test(shallow.stderr);
  const isPlainHost = /shallow capabilities/i.test(shallow.stderr);
  // Hosts do not know shortened commits, and some hand out only what has a name.
  if (isPlainHost || (isUnknown && COMMIT.test(ref))) return fetchHistory(git, wanted);
  throw isUnknown ? unknown(wanted) : failed(git, wanted, shallow.stderr);
}

async function fetchHistory(git: Git, wanted: Wanted): Promise<string> {
  const { address, ref } = wanted;
  const refs = ['+refs/heads/*:refs/remotes/origin/*', '+refs/tags/*:refs/tags/*', ...(ref === 'HEAD' ? ['HEAD'] : [])];
  const { exitCode, stderr } = await git.try('fetch', '--quiet', '--no-tags', '--', address, ...refs);
  if (exitCode !== 0) throw failed(git, wanted, stderr);
  const head = ref === 'HEAD' ? await headCommit(git, address) : undefined;
  const named = [`refs/tags/${ref}`, `refs/remotes/origin/${ref}`];
  const names = head ? [head] : COMMIT.test(ref) ? [...named, ref] : named;
  for (const name of names) {
    const found = await git.try('rev-parse', '--verify', '--quiet', `${name}^{commit}`);
    if (found.exitCode === 0) return found.stdout.trim();
  }
  throw unknown(wanted);
}

async function headCommit(git: Git, address: string): Promise<string | undefined> {
  const line = await git.do('ls-remote', '--', address, 'HEAD');
  return line.split('\t')[0];
}

function unknown({ repo, ref }: Wanted): InstallError {
  const shown = shownRepository(repo);
  return new InstallError(
    ref === 'HEAD'
      ? `There is no repository at ${shown}, or an empty one.`
      : `The repository ${shown} has no branch, tag or commit '${ref}'.`,
  );
}

function failed(git: Git, { repo }: Wanted, stderr: string): InstallError {
  return git.failure(`The repository ${shownRepository(repo)} could not be fetched`, stderr);
}
