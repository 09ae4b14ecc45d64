// Keeps the search thread in step with the catalog, whoever changed it.
import type { IndexEntry, SearchIndex } from './search-index.ts';
import type { SearchThread } from './search-thread.ts';

export interface IndexKeeper {
  /** Brings the index up to date; whoever asks meanwhile shares the work. An aborted one stops between two pages. */
  refresh(signal: AbortSignal): Promise<void>;
  /** The revision of the catalog that the index shows; undefined while it is being built. */
  revision(): number | undefined;
}

/** Small enough that neither thread is held up by a page, large enough that a page is not all overhead. */
const PAGE_SIZE = 400;
const MANIFESTS_AT_ONCE = 100;

export function createIndexKeeper(index: SearchIndex, thread: SearchThread): IndexKeeper {
  let shown: { revision: number; instance: string } | undefined;
  let underWay: Promise<void> | undefined;

  const revision = () => (shown?.instance === thread.instance() ? shown.revision : undefined);

  async function apply(present: readonly IndexEntry[], gone: readonly string[]): Promise<void> {
    const needed = await thread.run({ kind: 'put', present, gone });
    for (let start = 0; start < needed.length; start += MANIFESTS_AT_ONCE) {
      const manifests = await index.manifests(needed.slice(start, start + MANIFESTS_AT_ONCE));
      await thread.run({ kind: 'describe', manifests });
    }
  }

  /** Everything, while what is there can be searched; what is not in the catalog any more goes at the end. */
  async function load(signal: AbortSignal): Promise<void> {
    // Asked first: what changes while pages are read is read again.
    const begun = await index.revision();
    const seen: string[] = [];
    for (let last: IndexEntry | undefined; !signal.aborted; ) {
      const page = await index.entries(last, PAGE_SIZE);
      await apply(page, []);
      for (const { uid } of page) seen.push(uid);
      last = page.at(-1);
      if (page.length < PAGE_SIZE) {
        await thread.run({ kind: 'retain', uids: seen });
        shown = { revision: begun, instance: thread.instance() };
        return;
      }
    }
  }

  async function bringUpToDate(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      const known = revision();
      if (known === undefined) await load(signal);
      else if (known === (await index.revision())) return;
      else await follow(known, signal);
    }
  }

  async function follow(known: number, signal: AbortSignal): Promise<void> {
    const changes = await index.changes(known);
    if (!changes) return load(signal);
    await apply(changes.present, changes.gone);
    shown = { revision: changes.revision, instance: thread.instance() };
  }

  return {
    refresh(signal) {
      underWay ??= bringUpToDate(signal).finally(() => {
        underWay = undefined;
      });
      return underWay;
    },
    revision,
  };
}
