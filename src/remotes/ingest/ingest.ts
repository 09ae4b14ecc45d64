// Reads one remote into the catalog: reads the index, fetches and saves what changed, and marks what is missing.
import type { Catalog } from '../../catalog/catalog.ts';
import type { Clock } from '../../lib/world.ts';
import type { IndexFetcher, IndexPage } from '../fetching/fetch-index.ts';
import { fetchInLanes } from '../fetching/fetch-lanes.ts';
import type { FetchManifest } from '../fetching/fetch-manifest.ts';
import { firstPage } from '../fetching/first-page.ts';
import { followPages } from '../fetching/follow-pages.ts';
import type { ListedEntry } from '../fetching/index-worker.ts';
import { NO_LIST } from '../fetching/read-index.ts';
import type { IndexState, KnownMember, MemberStore } from '../store.ts';
import { createDuplicates } from './duplicates.ts';
import { isTrusted, NO_STATE, stateAfter, wasFinishedLately } from './index-state.ts';
import { createPlaces } from './places.ts';
import type { Progress } from './progress.ts';
import { type ManifestOutcome, type ManifestReader, readAll } from './read-manifest.ts';
import { createManifestSaver } from './save-manifests.ts';

export interface IngestDependencies {
  catalog: Pick<Catalog, 'publish'>;
  members: MemberStore;
  fetchIndex: IndexFetcher;
  fetchManifest: FetchManifest;
  manifestReader: ManifestReader;
  requestsPerHost: number;
  now: Clock;
}

export interface IngestTask {
  url: string;
  /** What is known of the index from the last time. */
  known: IndexState;
  progress: Progress;
  signal: AbortSignal;
  /** Whether an index that lists less than half of what it did is believed. */
  acceptShrunk: boolean;
  /** The hub's own sync, which may trust an unchanged index for a while. */
  isBackground: boolean;
}

export interface GoneThrough {
  /** What to remember of the index, so that the next time is cheap. */
  state: IndexState;
  /** Whether everything was looked at that the index lists: it was not the same as before, and no mere list of changes. */
  isWhole: boolean;
}

export interface Ingest {
  /** @throws FetchError when the index cannot be read to its end. */
  run(): Promise<GoneThrough>;
  /** Every address that the index listed so far, with its place in it. */
  readonly places: ReadonlyMap<string, number>;
}

interface EntryToFetch {
  entry: ListedEntry;
  /** What is known of it from before. */
  member: KnownMember | undefined;
}

const LOOK_UP_BATCH = 500;
/** As many as people look through. */
const MOST_CONFLICTS_KEPT = 1_000;
/** So many that a registry says are deleted are believed, however short its list is: servers are taken down one or a few at a time. */
const FEW_WITHDRAWN = 10;
const NOT_CHECKED = 'Index unchanged, manifests not checked.';

export function createIngest(
  dependencies: IngestDependencies,
  { url, known, progress, signal, acceptShrunk, isBackground }: IngestTask,
): Ingest {
  const { members, fetchIndex, fetchManifest, manifestReader, requestsPerHost, now } = dependencies;
  const task = { remote: url, signal };
  const index = createPlaces();
  const places = index.positions;
  const duplicates = createDuplicates(members, { remote: url, places });
  const saver = createManifestSaver(dependencies, { remote: url, places, progress, duplicates });
  /** What the index says is gone; it is marked at the end, when it is known how much that is. */
  const deleted = new Set<string>();
  let listedAgain = 0;
  let hasFailedForNow = false;
  let isNewFirst = false;

  async function run(): Promise<GoneThrough> {
    const startedAt = now();
    const listedBefore = await members.countPresent(url);
    const mayBeUnchanged = !acceptShrunk && isTrusted(known, startedAt, { isBackground });
    const trusted = mayBeUnchanged && !(await members.isWorkLeft(url)) ? known : NO_STATE;
    // An ingest that did not finish in its time must not begin with the same manifests each time.
    isNewFirst = listedBefore > 0 && !wasFinishedLately(known, startedAt);
    const { first, isWhole } = await firstPage(fetchIndex, { known: trusted, task });
    if (!first) return unchangedIndex(listedBefore);
    if (!first.hasList) progress.note(NO_LIST);
    for await (const page of followPages(first, fetchIndex, task)) await ingestPage(page);
    const isBelieved = await markMissing(listedBefore, { isWhole });
    await remake(first, await duplicates.toRemake(isWhole));
    await countUnused({ isWhole });
    // What could not be fetched is tried again, and what is hard to believe is said again, even if the index stays the same.
    const isSettled = isBelieved && !hasFailedForNow;
    const unsettled = { ...trusted, etag: null, lastModified: null };
    const isSelfContained = index.isSelfContained();
    const state = isSettled ? stateAfter(first, { known, startedAt, isWhole, isSelfContained }) : unsettled;
    return { state, isWhole };
  }

  async function unchangedIndex(listed: number): Promise<GoneThrough> {
    const skipped = await duplicates.count();
    progress.duplicates(skipped);
    const used = listed - skipped - progress.conflicts(await members.conflicts(url, MOST_CONFLICTS_KEPT));
    progress.add(known.isSelfContained ? { unchanged: used } : { unchecked: used });
    if (!known.isSelfContained) progress.note(NOT_CHECKED);
    return { state: known, isWhole: false };
  }

  /** What is not used counts as unchanged until now, unless it came in this run. */
  async function countUnused({ isWhole }: { isWhole: boolean }): Promise<void> {
    progress.duplicates(duplicates.skipped().length);
    progress.add({ unchanged: -duplicates.skipped().filter(({ isUnchanged }) => isUnchanged).length });
    const uncounted = progress.conflicts(await members.conflicts(url, MOST_CONFLICTS_KEPT));
    // A list of changes need not hold those of earlier runs.
    if (isWhole) progress.add({ unchanged: -uncounted });
  }

  async function ingestPage(page: IndexPage): Promise<void> {
    const start = index.next();
    // The whole page first: where the last manifest of an entity is must be known from the start.
    progress.expect(await index.register(page));
    const use = async (outcomes: readonly ManifestOutcome[]) => {
      await save(outcomes);
      progress.done(outcomes.length);
    };
    const done = new Set<string>();
    if (isNewFirst) {
      const isNew = ({ member }: EntryToFetch) => member === undefined;
      await fetchAll(entriesToFetch(page, { start, isWanted: isNew }), async (outcomes) => {
        for (const outcome of outcomes) done.add(outcome.url);
        await use(outcomes);
      });
    }
    await fetchAll(entriesToFetch(page, { start, isWanted: ({ entry }) => !done.has(entry.url) }), use);
  }

  /** What was looked at already, and counts as unchanged, is fetched whole; what is in place comes with its page. */
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
    // One batch is read while the previous one is saved, so that the database and this process work at the same time.
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
      // What a later page lists again is there.
      if (each.outcome === 'deleted') deleted.add(each.url);
      else deleted.delete(each.url);
    }
    await saver.batch(outcomes, options);
  }

  async function* entriesToFetch(
    page: IndexPage,
    { start, isWanted }: { start: number; isWanted: (each: EntryToFetch) => boolean },
  ): AsyncGenerator<EntryToFetch[]> {
    let at = start;
    let looking: Promise<EntryToFetch[]> | undefined;
    for await (const chunk of page.chunks()) {
      // Within one page an address is listed once, and what comes first need not be held against what came before.
      const chosen = start === 0 ? chunk : chunk.filter(({ url: listed }, index) => places.get(listed) === at + index);
      at += chunk.length;
      const next = lookUp(chosen);
      // The caller that waits for it gets the rejection.
      next.catch(() => {});
      // One ahead: while these are fetched, the database looks for the next.
      if (looking) yield (await looking).filter(isWanted);
      looking = next;
    }
    if (looking) yield (await looking).filter(isWanted);
  }

  async function* entriesAgain(first: IndexPage, wanted: ReadonlySet<string>): AsyncGenerator<EntryToFetch[]> {
    let [at, left] = [0, wanted.size];
    for await (const page of followPages(first, fetchIndex, task)) {
      for await (const chunk of page.chunks()) {
        const chosen = chunk.filter(
          ({ url: listed }, index) => wanted.has(listed) && places.get(listed) === at + index,
        );
        yield chosen.map((entry) => ({ entry, member: undefined }));
        at += chunk.length;
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
    // A second lookup has no effect.
    if (!isNewFirst) listedAgain += found.filter(({ isMissing }) => !isMissing).length;
    return entries.map((entry) => ({ entry, member: stored.get(entry.url) }));
  }

  function reject({ url: manifestUrl, error, isTemporary }: Extract<ManifestOutcome, { outcome: 'failed' }>): void {
    if (isTemporary) hasFailedForNow = true;
    duplicates.note(manifestUrl, isTemporary ? 'unavailable' : 'refused');
    progress.reject(manifestUrl, error);
  }

  /** Marks missing members, which are kept; false if so many are missing at once that the index itself must be broken. */
  async function markMissing(listedBefore: number, { isWhole }: { isWhole: boolean }): Promise<boolean> {
    const withdrawn = await presentOf([...deleted]);
    const left = isWhole ? index.usable() : (await members.countPresent(url)) - withdrawn.length;
    const isFew = isWhole ? false : withdrawn.length <= FEW_WITHDRAWN;
    if (!acceptShrunk && !isFew && left * 2 < listedBefore) {
      progress.shrunk();
      progress.note(
        `The index lists ${left} of the ${listedBefore} manifests that it had, so nothing was marked as missing. If that is right, ingest it and accept the smaller index (accept_shrunk, --accept-shrunk).`,
      );
      return false;
    }
    await saver.markMissing(withdrawn);
    if (isWhole) await markUnlisted(listedBefore);
    return true;
  }

  async function markUnlisted(listedBefore: number): Promise<void> {
    // All that was there is listed again; on several pages, an address may have been counted twice.
    if (index.pagesRead() === 1 && listedAgain === listedBefore) return;
    for (let after = ''; ; ) {
      const page = await members.present(url, { after, limit: LOOK_UP_BATCH });
      await saver.markMissing(page.filter((manifestUrl) => !places.has(manifestUrl)));
      const last = page.at(-1);
      if (last === undefined || page.length < LOOK_UP_BATCH) return;
      after = last;
    }
  }

  /** Those that are not marked as missing yet. */
  async function presentOf(urls: readonly string[]): Promise<string[]> {
    const present: string[] = [];
    for (let start = 0; start < urls.length; start += LOOK_UP_BATCH) {
      const found = await members.known(url, urls.slice(start, start + LOOK_UP_BATCH));
      present.push(...found.filter(({ isMissing }) => !isMissing).map((member) => member.url));
    }
    return present;
  }

  return { run, places };
}
