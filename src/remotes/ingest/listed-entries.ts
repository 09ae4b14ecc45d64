// Reads the entries of an index in the order in which their manifests are fetched, each with its stored state.
import type { IndexPage } from '../fetching/fetch-index.ts';
import type { ListedEntry } from '../fetching/parse-index-worker.ts';
import type { KnownMember, MemberStore } from '../store.ts';
import type { Positions } from './positions.ts';

export interface EntryToFetch {
  entry: ListedEntry;
  /** The stored state of the manifest. */
  member: KnownMember | undefined;
}

interface ListedEntriesContext {
  remote: string;
  members: Pick<MemberStore, 'known'>;
  index: Positions;
  /** Whether entries with a stored manifest come last. */
  isNewFirst: boolean;
}

export class ListedEntries {
  /** How many entries have a stored manifest that is not missing; not counted if new ones come first. */
  listedAgain = 0;
  private readonly given: ListedEntriesContext;

  constructor(given: ListedEntriesContext) {
    this.given = given;
  }

  /** The entries of a registered page, which starts at this position. */
  async *ofPage(page: IndexPage, start: number): AsyncGenerator<EntryToFetch[]> {
    const all = this.lookedUp(this.listedOn(page, start));
    if (!this.given.isNewFirst) return yield* all;
    // Only flags are kept, because an index may list millions.
    const isLast: boolean[] = [];
    for await (const found of all) {
      const areLast = found.map(({ entry, member }) => member !== undefined && entry.text === undefined);
      for (const each of areLast) isLast.push(each);
      yield found.filter((_, position) => !areLast[position]);
    }
    let at = 0;
    yield* this.lookedUp(this.listedOn(page, start, () => isLast[at++] === true));
  }

  /** Entries with these addresses, as if they were new. */
  async *chosen(pages: AsyncIterable<IndexPage>, wanted: ReadonlySet<string>): AsyncGenerator<EntryToFetch[]> {
    const { positions } = this.given.index;
    let [at, left] = [0, wanted.size];
    for await (const page of pages) {
      for await (const chunk of page.chunks()) {
        const chosen = chunk.filter(({ url }, index) => wanted.has(url) && positions.get(url) === at + index);
        yield chosen.map((entry) => ({ entry, member: undefined }));
        at += chunk.length;
        left -= chosen.length;
        if (left === 0) return;
      }
    }
  }

  private async *listedOn(page: IndexPage, start: number, isWanted = () => true): AsyncGenerator<ListedEntry[]> {
    const { positions } = this.given.index;
    let at = start;
    for await (const chunk of page.chunks()) {
      // A page lists each address once, so the first page needs no check against earlier ones.
      const listed = start === 0 ? chunk : chunk.filter(({ url }, index) => positions.get(url) === at + index);
      yield listed.filter(isWanted);
      at += chunk.length;
    }
  }

  private async *lookedUp(chunks: AsyncIterable<ListedEntry[]>): AsyncGenerator<EntryToFetch[]> {
    let looking: Promise<EntryToFetch[]> | undefined;
    for await (const chunk of chunks) {
      const next = this.lookUp(chunk);
      // The consumer gets the rejection when it awaits the promise.
      next.catch(() => {});
      // Looks up one chunk ahead, while the current one is fetched.
      if (looking) yield await looking;
      looking = next;
    }
    if (looking) yield await looking;
  }

  private async lookUp(entries: readonly ListedEntry[]): Promise<EntryToFetch[]> {
    const { members, remote, isNewFirst } = this.given;
    const found = await members.known(
      remote,
      entries.map((entry) => entry.url),
    );
    const stored = new Map(found.map((member) => [member.url, member]));
    // With `isNewFirst`, entries are looked up twice, so the count would be wrong.
    if (!isNewFirst) this.listedAgain += found.filter(({ isMissing }) => !isMissing).length;
    return entries.map((entry) => ({ entry, member: stored.get(entry.url) }));
  }
}
