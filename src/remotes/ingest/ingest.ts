// Ingests one remote: reads the index, fetches and saves changed manifests, and marks missing ones.
import type { Clock } from '../../lib/world.ts';
import type { IndexFetcher, IndexPage } from '../fetching/fetch-index.ts';
import { fetchInLanes } from '../fetching/fetch-lanes.ts';
import type { FetchManifest } from '../fetching/fetch-manifest.ts';
import { firstPage } from '../fetching/first-page.ts';
import { followPages } from '../fetching/follow-pages.ts';
import { NO_LIST } from '../fetching/read-index.ts';
import type { IndexState, MemberStore } from '../store.ts';
import { createDuplicates, type Duplicates } from './duplicates.ts';
import { isTrusted, NO_STATE, stateAfter, wasFinishedLately } from './index-freshness.ts';
import { type EntryToFetch, ListedEntries } from './listed-entries.ts';
import { MissingManifests } from './missing-manifests.ts';
import { createPositions, type Positions } from './positions.ts';
import type { IngestProgress } from './progress.ts';
import { type ManifestOutcome, type ManifestReader, readAll } from './read-manifest.ts';
import { createManifestSaver, type ManifestSaver } from './save-manifests.ts';

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
  progress: IngestProgress;
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

/** More than people look through. */
const MOST_CONFLICTS_KEPT = 1_000;
const NOT_CHECKED = 'Index unchanged, manifests not checked.';

export class IndexIngest {
  private readonly dependencies: IngestDependencies;
  private readonly task: IngestTask;
  private readonly index: Positions = createPositions();
  private readonly duplicates: Duplicates;
  private readonly saver: ManifestSaver;
  private readonly entries: ListedEntries;
  private readonly missing: MissingManifests;
  private hasFailedForNow = false;

  constructor(dependencies: IngestDependencies, task: IngestTask) {
    const { members, now } = dependencies;
    const { url: remote, isStored, known, progress, acceptShrunk } = task;
    const { index } = this;
    const { positions } = index;
    this.dependencies = dependencies;
    this.task = task;
    const duplicates = createDuplicates(members, { remote, positions });
    this.duplicates = duplicates;
    this.saver = createManifestSaver(dependencies, { remote, isStored, positions, progress, duplicates });
    // After an unfinished ingest, stored manifests are checked last, so that each run makes progress.
    this.entries = new ListedEntries({ remote, members, index, isNewFirst: !wasFinishedLately(known, now()) });
    this.missing = new MissingManifests({ remote, members, index, saver: this.saver, progress, acceptShrunk });
  }

  /** Every address listed so far, with its position in the index. */
  get positions(): ReadonlyMap<string, number> {
    return this.index.positions;
  }

  /** @throws FetchError if the index cannot be read to its end. */
  async run(): Promise<IngestedIndex> {
    const { members, fetchIndex, now } = this.dependencies;
    const { url, known, progress, acceptShrunk, isBackground } = this.task;
    const startedAt = now();
    const before = await members.countPresent(url);
    const mayBeUnchanged = !acceptShrunk && isTrusted(known, startedAt, { isBackground });
    const trusted = mayBeUnchanged && !(await members.isWorkLeft(url)) ? known : NO_STATE;
    const { first, isWhole } = await firstPage(fetchIndex, { known: trusted, task: this.fetchTask });
    if (!first) return this.unchangedIndex(before);
    if (!first.hasList) progress.note(NO_LIST);
    for await (const page of this.pagesFrom(first)) await this.ingestPage(page);
    const isBelieved = await this.missing.mark({ before, again: this.entries.listedAgain }, { isWhole });
    await this.remake(first, await this.duplicates.toRemake(isWhole));
    await this.countUnused({ isWhole });
    // Otherwise, failed fetches must be retried and doubtful results reported again, even if the index does not change.
    const isSettled = isBelieved && !this.hasFailedForNow && first.hasList;
    const unsettled = { ...trusted, etag: null, lastModified: null };
    const isSelfContained = this.index.isSelfContained();
    const state = isSettled ? stateAfter(first, { known, startedAt, isWhole, isSelfContained }) : unsettled;
    return { state, isWhole };
  }

  private get fetchTask() {
    return { remote: this.task.url, signal: this.task.signal };
  }

  private pagesFrom(first: IndexPage) {
    return followPages(first, this.dependencies.fetchIndex, this.fetchTask);
  }

  private async unchangedIndex(listed: number): Promise<IngestedIndex> {
    const { known, progress } = this.task;
    const skipped = await this.duplicates.count();
    progress.duplicates(skipped);
    const used = listed - skipped - progress.conflicts(await this.conflicts());
    progress.add(known.isSelfContained ? { unchanged: used } : { unchecked: used });
    if (!known.isSelfContained) progress.note(NOT_CHECKED);
    return { state: known, isWhole: false };
  }

  private async ingestPage(page: IndexPage): Promise<void> {
    const { progress } = this.task;
    const start = this.index.next();
    // Registers the whole page first, because the position of each entity's last manifest must be known.
    progress.expect(await this.index.register(page));
    await this.fetchAll(this.entries.ofPage(page, start), async (outcomes) => {
      await this.save(outcomes);
      progress.done(outcomes.length);
    });
  }

  /** Fetches manifests in full that were counted as unchanged; inline manifests come with their page. */
  private async remake(first: IndexPage, wanted: ReadonlySet<string>): Promise<void> {
    if (wanted.size === 0) return;
    await this.fetchAll(this.entries.chosen(this.pagesFrom(first), wanted), async (outcomes) => {
      this.task.progress.add({ unchanged: -outcomes.length });
      await this.save(outcomes, { areChosen: true });
    });
  }

  private async fetchAll(
    entries: AsyncIterable<EntryToFetch[]>,
    use: (outcomes: readonly ManifestOutcome[]) => Promise<void>,
  ): Promise<void> {
    const { fetchManifest, manifestReader, requestsPerHost } = this.dependencies;
    const { fetchTask } = this;
    const batches = fetchInLanes(entries, { requestsPerHost }, ({ entry, member }) =>
      fetchManifest(entry, member, fetchTask),
    );
    // Reads one batch while the previous one is saved, so that database and process work in parallel.
    let saving = Promise.resolve();
    try {
      for await (const batch of batches) {
        fetchTask.signal.throwIfAborted();
        const outcomes = await readAll(manifestReader, batch, fetchTask.signal);
        await saving;
        saving = use(outcomes);
        // The next await reports the rejection.
        saving.catch(() => {});
      }
    } finally {
      await saving;
    }
  }

  private async save(outcomes: readonly ManifestOutcome[], options?: { areChosen: boolean }): Promise<void> {
    for (const each of outcomes) {
      if (each.outcome === 'failed') this.reject(each);
      if (each.outcome === 'deleted') this.missing.withdraw(each.url, each.reason);
      else this.missing.listAgain(each.url);
    }
    await this.saver.batch(outcomes, options);
  }

  private reject({ url, error, isTemporary }: Extract<ManifestOutcome, { outcome: 'failed' }>): void {
    if (isTemporary) this.hasFailedForNow = true;
    this.duplicates.note(url, isTemporary ? 'unavailable' : 'refused');
    this.task.progress.reject(url, error);
  }

  /** Unused manifests were counted as unchanged, unless they changed in this run; corrects the count. */
  private async countUnused({ isWhole }: { isWhole: boolean }): Promise<void> {
    const { progress } = this.task;
    const skipped = this.duplicates.skipped();
    progress.duplicates(skipped.length);
    progress.add({ unchanged: -skipped.filter(({ isUnchanged }) => isUnchanged).length });
    const uncounted = progress.conflicts(await this.conflicts());
    // A list of changes may omit the manifests of earlier runs.
    if (isWhole) progress.add({ unchanged: -uncounted });
  }

  private conflicts() {
    return this.dependencies.members.conflicts(this.task.url, MOST_CONFLICTS_KEPT);
  }
}
