// Limits what hosts may send for a repository: git has no such limit, so what it writes is watched.
import { lstat, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { InstallError } from '../../errors.ts';

const LOOK_EVERY_MS = 200;

export interface ByteBudget {
  /** Stops `fetch` by its signal when more arrives in the git directory than is left. @throws InstallError */
  spend<T>(gitDir: string, signal: AbortSignal, fetch: (signal: AbortSignal) => Promise<T>): Promise<T>;
}

/** For a repository and its submodules together. */
export function createByteBudget(mostBytes: number): ByteBudget {
  let left = mostBytes;

  return {
    async spend(gitDir, signal, fetch) {
      const stopping = new AbortController();
      const look = async () => {
        const bytes = await bytesIn(join(gitDir, 'objects'));
        if (bytes > left) stopping.abort();
        return bytes;
      };
      const timer = setInterval(() => void look(), LOOK_EVERY_MS);
      try {
        const fetched = await fetch(AbortSignal.any([signal, stopping.signal]));
        // A fast host may have sent everything between two looks.
        left -= await look();
        if (left < 0) throw tooMuch(mostBytes);
        return fetched;
      } catch (error) {
        throw stopping.signal.aborted && !signal.aborted ? tooMuch(mostBytes) : error;
      } finally {
        clearInterval(timer);
      }
    },
  };
}

/** Files come and go while git writes. */
async function bytesIn(folder: string): Promise<number> {
  const entries = await readdir(folder, { withFileTypes: true }).catch(() => []);
  const sizes = await Promise.all(
    entries.map(async (entry) => {
      const path = join(folder, entry.name);
      if (entry.isDirectory()) return bytesIn(path);
      const found = await lstat(path).catch(() => undefined);
      return found?.size ?? 0;
    }),
  );
  return sizes.reduce((sum, size) => sum + size, 0);
}

function tooMuch(mostBytes: number): InstallError {
  return new InstallError(
    `The repository was not fetched completely: its host sent more than ${mostBytes} bytes, the most that an install accepts. Name a smaller repository, or publish what is needed as an archive.`,
  );
}
