// Limits of a repository and its submodules together: what hosts may send, and what their commits unfold to.
import { lstat, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { InstallError } from '../../errors.ts';

export interface GitLimits {
  /** What hosts may send. */
  mostReceivedBytes: number;
  /** A small repository can hold the same folder a million times over. */
  mostFiles: number;
  mostBytes: number;
  mostSubmodules: number;
}

export const GIT_LIMITS: GitLimits = {
  mostReceivedBytes: 2_000_000_000,
  mostFiles: 200_000,
  mostBytes: 4_000_000_000,
  mostSubmodules: 100,
};

export interface GitBudget {
  /** Stops `fetch` by its signal when more arrives in the git directory than is left. @throws InstallError */
  receive(gitDir: string, signal: AbortSignal, fetch: (signal: AbortSignal) => Promise<void>): Promise<void>;
  /** Counts what a commit unfolds to. @throws InstallError before anything of it is checked out. */
  unfold(added: { files: number; bytes: number; submodules: number }): void;
}

const LOOK_EVERY_MS = 200;

export function createGitBudget(limits: GitLimits): GitBudget {
  const { mostReceivedBytes, mostFiles, mostBytes, mostSubmodules } = limits;
  let [received, files, bytes, submodules] = [0, 0, 0, 0];

  return {
    // git has no such limit, so what it writes is watched.
    async receive(gitDir, signal, fetch) {
      const stopping = new AbortController();
      const look = async () => {
        const total = received + (await bytesIn(join(gitDir, 'objects')));
        if (total > mostReceivedBytes) stopping.abort();
        return total;
      };
      const timer = setInterval(() => void look(), LOOK_EVERY_MS);
      try {
        await fetch(AbortSignal.any([signal, stopping.signal]));
        // A fast host may have sent everything between two looks.
        received = await look();
        stopping.signal.throwIfAborted();
      } catch (error) {
        throw stopping.signal.aborted && !signal.aborted ? receivedTooMuch(mostReceivedBytes) : error;
      } finally {
        clearInterval(timer);
      }
    },
    unfold(added) {
      files += added.files;
      bytes += added.bytes;
      submodules += added.submodules;
      if (files > mostFiles) throw tooLarge(`more than ${mostFiles} files`);
      if (bytes > mostBytes) throw tooLarge(`${bytes} bytes`);
      if (submodules > mostSubmodules) throw tooLarge(`more than ${mostSubmodules} submodules`);
    },
  };
}

/** Files come and go while git writes. */
async function bytesIn(folder: string): Promise<number> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true }).catch(() => []);
  const files = entries.filter((entry) => entry.isFile()).map(({ parentPath, name }) => join(parentPath, name));
  const sizes = await Promise.all(
    files.map((file) =>
      lstat(file).then(
        ({ size }) => size,
        () => 0,
      ),
    ),
  );
  return sizes.reduce((sum, size) => sum + size, 0);
}

function receivedTooMuch(mostBytes: number): InstallError {
  return new InstallError(
    `The repository was not fetched completely: its host sent more than ${mostBytes} bytes, the most that an install accepts. Name a smaller repository, or publish what is needed as an archive.`,
  );
}

function tooLarge(what: string): InstallError {
  return new InstallError(
    `The repository and its submodules would unfold to ${what}, which is more than an install accepts.`,
  );
}
