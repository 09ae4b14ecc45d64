// Keeps the directory in step with the catalog: all of it once, then only what changes.
import { createDirectory, type Directory } from './directory.ts';
import type { Arrival, SearchStore } from './store.ts';

export interface LiveDirectory {
  /** As the catalog is now; changes made by this process are in it. */
  current(): Promise<Directory>;
}

/** Entries read at a time while the whole catalog is read: each batch takes the main thread for some milliseconds. */
const BATCH = 1_000;

export function createLiveDirectory(store: Pick<SearchStore, 'revision' | 'entries' | 'changes'>): LiveDirectory {
  let known: { directory: Directory; revision: number } | undefined;
  let step: Promise<void> | undefined;

  async function readAll(): Promise<void> {
    // Asked first: what changes while the entries are read is read again afterwards.
    const revision = await store.revision();
    const directory = createDirectory();
    for (let after: Arrival | undefined; ; ) {
      const entries = await store.entries(after, BATCH);
      directory.put(entries);
      after = entries.at(-1);
      if (entries.length < BATCH) break;
    }
    known = { directory, revision };
  }

  async function follow(): Promise<void> {
    const changes = known && (await store.changes(known.revision));
    if (!known || !changes) return readAll();
    known.directory.put(changes.present);
    known.directory.remove(changes.gone);
    known.revision = changes.revision;
  }

  return {
    async current() {
      const wanted = await store.revision();
      while (known === undefined || known.revision < wanted) {
        // Many who ask at once wait for the same step.
        step ??= follow().finally(() => {
          step = undefined;
        });
        await step;
      }
      return known.directory;
    },
  };
}
