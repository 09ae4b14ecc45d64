// Limits what a commit unfolds to: a small repository can hold the same folder a million times over.
import { InstallError } from '../../errors.ts';
import type { Git } from './command.ts';

const MOST_LISTED_BYTES = 40_000_000;

interface UnfoldLimits {
  mostFiles: number;
  mostBytes: number;
  mostSubmodules: number;
}

export const UNFOLD_LIMITS: UnfoldLimits = { mostFiles: 200_000, mostBytes: 4_000_000_000, mostSubmodules: 100 };

export interface UnfoldBudget {
  /** Counts what a commit unfolds to. @throws InstallError before anything is checked out. */
  spend(git: Git, commit: string): Promise<void>;
  /** @throws InstallError before any of them is fetched. */
  spendSubmodules(count: number): void;
}

/** For a repository and its submodules together: a hundred of them may be the same one, and each looks harmless. */
export function createUnfoldBudget({ mostFiles, mostBytes, mostSubmodules }: UnfoldLimits): UnfoldBudget {
  let [files, bytes, submodules] = [0, 0, 0];

  return {
    async spend(git, commit) {
      const sizes = await listSizes(git, commit);
      files += sizes?.length ?? mostFiles + 1;
      if (!sizes || files > mostFiles) throw tooLarge(`more than ${mostFiles} files`);
      bytes += sizes.reduce((sum, size) => sum + size, 0);
      if (bytes > mostBytes) throw tooLarge(`${bytes} bytes`);
    },
    spendSubmodules(count) {
      submodules += count;
      if (submodules > mostSubmodules) throw new InstallError(`There are more than ${mostSubmodules} submodules.`);
    },
  };
}

/** Undefined when the list itself is too long. */
async function listSizes(git: Git, commit: string): Promise<number[] | undefined> {
  const list = await git.list({ mostBytes: MOST_LISTED_BYTES }, 'ls-tree', '-r', '-z', '-l', commit);
  const lines = list?.split('\0').filter(Boolean);
  // Most programs cannot open files with such names, and no digest of them can be made.
  const odd = lines?.find((line) => line.includes('\ufffd'));
  if (odd) throw new InstallError(`The repository holds a name that is not UTF-8: '${odd.split('\t')[1]}'.`);
  return lines?.map((line) => Number(/^\S+ \S+ \S+ +(\d+)\t/.exec(line)?.[1] ?? 0));
}

function tooLarge(what: string): InstallError {
  return new InstallError(
    `The repository and its submodules would unfold to ${what}, which is more than an install accepts.`,
  );
}
