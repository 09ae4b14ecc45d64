// Recognizes the work of a person in a repository: the hub's own checkouts have no branches, tags or stashes.
import { existsSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';

/** A commit without a branch shows only in the log of `HEAD`, which has one line after a checkout of the hub. */
export async function holdsWork(repository: string): Promise<boolean> {
  const linesOf = async (file: string) =>
    (await readFile(join(repository, file), 'utf8').catch(() => '')).split('\n').filter(Boolean);
  const refsIn = async (folder: string) =>
    (await readdir(join(repository, folder), { recursive: true, withFileTypes: true }).catch(() => [])).filter(
      (entry) => !entry.isDirectory(),
    );
  const refs = [...(await refsIn('refs/heads')), ...(await refsIn('refs/tags'))];
  const packed = (await linesOf('packed-refs')).filter((line) => / refs\/(?:heads|tags|stash)/.test(line));
  const moves = await linesOf('logs/HEAD');
  const isElsewhere = existsSync(join(repository, 'worktrees')) || existsSync(join(repository, 'refs/stash'));
  return isElsewhere || refs.length > 0 || packed.length > 0 || moves.length > 1;
}
