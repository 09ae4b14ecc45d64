// Recognizes the work of a person in a repository: the hub's own checkouts have no branches, tags or stashes.
import { existsSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';

const MOST_NAMES = 3;

/** Lists the work, such as `branch 'fix', 2 commits`; returns undefined if there is none. */
export async function findWork(repository: string): Promise<string | undefined> {
  const linesOf = async (file: string) =>
    (await readFile(join(repository, file), 'utf8').catch(() => '')).split('\n').filter(Boolean);
  const packed = (await linesOf('packed-refs')).flatMap((line) => /^\S+ (refs\/.+)$/.exec(line)?.[1] ?? []);
  const refsIn = async (folder: string) => {
    const found = await readdir(join(repository, folder), { recursive: true, withFileTypes: true }).catch(() => []);
    const loose = found.filter((entry) => !entry.isDirectory()).map((entry) => join(entry.parentPath, entry.name));
    const refs = [...loose.map((path) => path.slice(repository.length + 1)), ...packed];
    return [...new Set(refs)].flatMap((ref) => (ref.startsWith(`${folder}/`) ? ref.slice(folder.length + 1) : []));
  };
  const isStashed = packed.includes('refs/stash') || existsSync(join(repository, 'refs/stash'));
  // A commit without a branch shows only in the log of `HEAD`, which has one line after a checkout of the hub.
  const moves = (await linesOf('logs/HEAD')).slice(1);
  const commits = moves.filter((line) => /\tcommit\b/.test(line)).length;
  const work = [
    ...named(await refsIn('refs/heads'), ['branch', 'branches']),
    ...named(await refsIn('refs/tags'), ['tag', 'tags']),
    ...(isStashed ? ['a stash'] : []),
    ...(existsSync(join(repository, 'worktrees')) ? ['a worktree'] : []),
    ...(commits > 0 ? [`${commits} ${commits === 1 ? 'commit' : 'commits'}`] : []),
  ];
  if (work.length === 0 && moves.length > 0) return 'HEAD was moved';
  return work.length > 0 ? work.join(', ') : undefined;
}

function named(names: readonly string[], [one, many]: [string, string]): string[] {
  return names.length > MOST_NAMES ? [`${names.length} ${many}`] : names.map((name) => `${one} '${name}'`);
}
