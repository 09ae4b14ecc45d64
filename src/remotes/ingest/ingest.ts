// Ingests one remote: reads the index, fetches and saves changed manifests, and marks missing ones.
import type { Clock } from '../../lib/world.ts';
import type { IndexFetcher, IndexPage } from '../fetching/fetch-index.ts';
import { fetchInLanes } from '../fetching/fetch-lanes.ts';
import type { FetchManifest } from '../fetching/fetch-manifest.ts';
import { firstPage } from '../fetching/first-page.ts';
import { followPages } from '../fetching/follow-pages.ts';
import type { ListedEntry } from '../fetching/parse-index-worker.ts';
import { NO_LIST } from '../fetching/read-index.ts';
import type { IndexState, KnownMember, MemberStore } from '../store.ts';
import { createDuplicates } from './duplicates.ts';
import { isTrusted, NO_STATE, stateAfter, wasFinishedLately } from './index-freshness.ts';
import { createPositions } from './positions.ts';
import type { Progress } from './progress.ts';
import { type ManifestOutcome, type ManifestReader, readAll } from './read-manifest.ts';
import { createManifestSaver } from './save-manifests.ts';

export interface IngestDependencies {
  members: MemberStore;
  fetchIndex: IndexFetcher;
  fetchManifest: FetchManifest;
  manifestReader: ManifestReader;
  requestsPerHost: number;
  now: Clock;
}

export interface IngestTask {
  url: string;
  /** Whether it is a remote of this hub, rather than an address that is ingested once. */
  isStored: boolean;
  /** The stored state of the index. */
  known: IndexState;
  progress: Progress;
  signal: AbortSignal;
  /** Accepts an index that lists less than half of its previous entries. */
  acceptShrunk: boolean;
  /** Whether this is the background sync, which may skip an unchanged index for a while. */
  isBackground: boolean;
}

export interface IngestedIndex {
  /** The state to store, which makes the next ingest cheap. */
  state: IndexState;
  /** Whether all entries were checked: the index had changed, and was not just a list of changes. */
  isWhole: boolean;
}

export interface Ingest {
  /** @throws FetchError if the index cannot be read to its end. */
  run(): Promise<IngestedIndex>;
  /** Every address listed so far, with its position in the index. */
  readonly positions: ReadonlyMap<string, number>;
}

interface EntryToFetch {
  entry: ListedEntry;
  /** The stored state of the manifest. */
  member: KnownMember | undefined;
}

const LOOK_UP_BATCH = 500;
/** More than people look through. */
const MOST_CONFLICTS_KEPT = 1_000;
/** Up to this many deletions are accepted, however short the list is, because servers are withdrawn one or a few at a time. */
const FEW_WITHDRAWN = 10;
const NOT_CHECKED = 'Index unchanged, manifests not checked.';

export function createIngest(
  dependencies: IngestDependencies,
  { url, isStored, known, progress, signal, acceptShrunk, isBackground }: IngestTask,
): Ingest {
  const { members, fetchIndex, fetchManifest, manifestReader, requestsPerHost, now } = dependencies;
  const task = { remote: url, signal };
  const index = createPositions();
  const positions = index.positions;
  const duplicates = createDuplicates(members, { remote: url, positions });
  const saver = createManifestSaver(dependencies, { remote: url, isStored, positions, progress, duplicates });
  /** Withdrawn addresses with the reason, marked as missing at the end, once their number is known. */
  const deleted = new Map<string, string | undefined>();
  /** After an unfinished ingest, stored manifests are checked last, so that each run makes progress. */
  const isNewFirst = !wasFinishedLately(known, now());
  let listedAgain = 0;
  let hasFailedForNow = false;

  async function run(): Promise<IngestedIndex> {
    const startedAt = now();
    const listedBefore = await members.countPresent(url);
    const mayBeUnchanged = !acceptShrunk && isTrusted(known, startedAt, { isBackground });
    const trusted = mayBeUnchanged && !(await members.isWorkLeft(url)) ? known : NO_STATE;
    const { first, isWhole } = await firstPage(fetchIndex, { known: trusted, task });
    if (!first) return unchangedIndex(listedBefore);
    if (!first.hasList) progress.note(NO_LIST);
    for await (const page of followPages(first, fetchIndex, task)) await ingestPage(page);
    const isBelieved = await markMissing(listedBefore, { isWhole });
    await remake(first, await duplicates.toRemake(isWhole));
    await countUnused({ isWhole });
    // Otherwise, failed fetches must be retried and doubtful results reported again, even if the index does not change.
    const isSettled = isBelieved && !hasFailedForNow && first.hasList;
    const unsettled = { ...trusted, etag: null, lastModified: null };
    const isSelfContained = index.isSelfContained();
    const state = isSettled ? stateAfter(first, { known, startedAt, isWhole, isSelfContained }) : unsettled;
    return { state, isWhole };
  }

  async function unchangedIndex(listed: number): Promise<IngestedIndex> {
    const skipped = await duplicates.count();
    progress.duplicates(skipped);
    const used = listed - skipped - progress.conflicts(await members.conflicts(url, MOST_CONFLICTS_KEPT));
    progress.add(known.isSelfContained ? { unchanged: used } : { unchecked: used });
    if (!known.isSelfContained) progress.note(NOT_CHECKED);
    return { state: known, isWhole: false };
  }

  /** Unused manifests were counted as unchanged, unless they changed in this run; corrects the count. */
  async function countUnused({ isWhole }: { isWhole: boolean }): Promise<void> {
    progress.duplicates(duplicates.skipped().length);
    progress.add({ unchanged: -duplicates.skipped().filter(({ isUnchanged }) => isUnchanged).length });
    const uncounted = progress.conflicts(await members.conflicts(url, MOST_CONFLICTS_KEPT));
    // A list of changes may omit the manifests of earlier runs.
    if (isWhole) progress.add({ unchanged: -uncounted });
  }

  async function ingestPage(page: IndexPage): Promise<void> {
    const start = index.next();
    // Registers the whole page first, because the position of each entity's last manifest must be known.
    progress.expect(await index.register(page));
    await fetchAll(entriesToFetch(page, start), async (outcomes) => {
      await save(outcomes);
      progress.done(outcomes.length);
    });
  }

  /** Fetches manifests in full that were counted as unchanged; inline manifests come with their page. */
  async function remake(first: IndexPage, wanted: ReadonlySet<string>): Promise<void> {
    if (wanted.size === 0) return;
    await fetchAll(entriesAgain(first, wanted), async (outcomes) => {
      progress.add({ unchanged: -outcomes.length });
      await save(outcomes, { areChosen: true });
    });
  }

  async function fetchAll(
    entries: AsyncIterable<EntryToFetch[]>,
    use: (outcomes: readonly ManifestOutcome[]) => Promise<void>,
  ): Promise<void> {
    const batches = fetchInLanes(entries, { requestsPerHost }, ({ entry, member }) =>
      fetchManifest(entry, member, task),
    );
    // Reads one batch while the previous one is saved, so that database and process work in parallel.
    let saving = Promise.resolve();
    try {
      for await (const batch of batches) {
        signal.throwIfAborted();
        const outcomes = await readAll(manifestReader, batch, signal);
        await saving;
        saving = use(outcomes);
        // The next await reports the rejection.
        saving.catch(() => {});
      }
    } finally {
      await saving;
    }
  }

  async function save(outcomes: readonly ManifestOutcome[], options?: { areChosen: boolean }): Promise<void> {
    for (const each of outcomes) {
      if (each.outcome === 'failed') reject(each);
      // A later page may list the address again.
      if (each.outcome === 'deleted') deleted.set(each.url, each.reason);
      else deleted.delete(each.url);
    }
    await saver.batch(outcomes, options);
  }

  async function* entriesToFetch(page: IndexPage, start: number): AsyncGenerator<EntryToFetch[]> {
    const all = lookedUp(listedOn(page, start));
    if (!isNewFirst) return yield* all;
    // Only flags are kept, because an index may list millions.
    const isLast: boolean[] = [];
    for await (const found of all) {
      const areLast = found.map(({ entry, member }) => member !== undefined && entry.text === undefined);
      for (const each of areLast) isLast.push(each);
      yield found.filter((_, position) => !areLast[position]);
    }
    let at = 0;
    yield* lookedUp(listedOn(page, start, () => isLast[at++] === true));
  }

  async function* listedOn(page: IndexPage, start: number, isWanted = () => true): AsyncGenerator<ListedEntry[]> {
    let at = start;
    for await (const chunk of page.chunks()) {
      const listed = chunk.flatMap((entry) => index.entryAt(at++, entry) ?? []);
      yield listed.filter(isWanted);
    }
  }

  async function* lookedUp(chunks: AsyncIterable<ListedEntry[]> | ListedEntry[][]): AsyncGenerator<EntryToFetch[]> {
    let looking: Promise<EntryToFetch[]> | undefined;
    for await (const chunk of chunks) {
      const next = lookUp(chunk);
      // The consumer gets the rejection when it awaits the promise.
      next.catch(() => {});
      // Looks up one chunk ahead, while the current one is fetched.
      if (looking) yield await looking;
      looking = next;
    }
    if (looking) yield await looking;
  }

  async function* entriesAgain(first: IndexPage, wanted: ReadonlySet<string>): AsyncGenerator<EntryToFetch[]> {
    let [at, left] = [0, wanted.size];
    for await (const page of followPages(first, fetchIndex, task)) {
      for await (const chunk of page.chunks()) {
        const chosen = chunk.flatMap((each) => index.entryAt(at++, each) ?? []).filter((each) => wanted.has(each.url));
        yield chosen.map((entry) => ({ entry, member: undefined }));
        left -= chosen.length;
        if (left === 0) return;
      }
    }
  }

  async function lookUp(entries: readonly ListedEntry[]): Promise<EntryToFetch[]> {
    const found = await members.known(
      url,
      entries.map((entry) => entry.url),
    );
    const stored = new Map(found.map((member) => [member.url, member]));
    // With `isNewFirst`, entries are looked up twice, so the count would be wrong.
    if (!isNewFirst) listedAgain += found.filter(({ isMissing }) => !isMissing).length;
    return entries.map((entry) => ({ entry, member: stored.get(entry.url) }));
  }

  function reject({ url: manifestUrl, error, isTemporary }: Extract<ManifestOutcome, { outcome: 'failed' }>): void {
    if (isTemporary) hasFailedForNow = true;
    duplicates.note(manifestUrl, isTemporary ? 'unavailable' : 'refused');
    progress.reject(manifestUrl, error);
  }

  /** Marks missing members, which are kept. Returns false if so many are missing that the index is probably broken. */
  async function markMissing(listedBefore: number, { isWhole }: { isWhole: boolean }): Promise<boolean> {
    const withdrawn = await presentOf([...deleted.keys()]);
    const left = isWhole ? index.usable() : (await members.countPresent(url)) - withdrawn.length;
    const isFew = isWhole ? false : withdrawn.length <= FEW_WITHDRAWN;
    if (!acceptShrunk && !isFew && left * 2 < listedBefore) {
      progress.shrunk();
      progress.note(
        `The index lists ${left} of the ${listedBefore} manifests that it had, so nothing was marked as missing. If the index is meant to be smaller, accept it: 'hub ingest <url> --accept-shrunk', or 'accept_shrunk' in 'POST /ingest'.`,
      );
      return false;
    }
    await saver.markMissing(withdrawn, deleted);
    if (isWhole) await markUnlisted(listedBefore);
    return true;
  }

  async function markUnlisted(listedBefore: number): Promise<void> {
    // All earlier members are listed again. With several pages, an address may have been counted twice.
    if (index.pagesRead() === 1 && listedAgain === listedBefore) return;
    for (let after = ''; ; ) {
      const page = await members.present(url, { after, limit: LOOK_UP_BATCH });
      await saver.markMissing(page.filter((manifestUrl) => !positions.has(manifestUrl)));
      const last = page.at(-1);
      if (last === undefined || page.length < LOOK_UP_BATCH) return;
      after = last;
    }
  }

  /** Addresses that are not marked as missing yet. */
  async function presentOf(urls: readonly string[]): Promise<string[]> {
    const present: string[] = [];
    for (let start = 0; start < urls.length; start += LOOK_UP_BATCH) {
      const found = await members.known(url, urls.slice(start, start + LOOK_UP_BATCH));
      present.push(...found.filter(({ isMissing }) => !isMissing).map((member) => member.url));
    }
    return present;
  }

  return { run, positions };
}
