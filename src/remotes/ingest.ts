// One remote → the catalog: read the index, fetch what changed, save it in document order, mark what is gone.
import type { Catalog } from '../catalog/catalog.ts';
import { HubError } from '../errors.ts';
import { FetchError } from '../lib/fetch.ts';
import { inBatches, inOrder } from '../lib/in-order.ts';
import { storableText } from '../lib/json.ts';
import type { Clock } from '../lib/world.ts';
import type { IngestResult } from './contract.ts';
import type { FetchedPage, IndexFetcher } from './fetch-index.ts';
import type { FetchedManifest, FetchManifest } from './fetch-manifest.ts';
import type { IndexEntry } from './index-formats/index-reader.ts';
import { createProgress, type Progress } from './progress.ts';
import { saveManifests } from './save-manifests.ts';
import type { IndexState, Member, MemberStore, Rejection, RemoteStore, RunStore } from './store.ts';

export interface IngestDependencies {
  catalog: Pick<Catalog, 'saveEntities'>;
  remotes: RemoteStore;
  members: MemberStore;
  runs: RunStore;
  fetchIndex: IndexFetcher;
  fetchManifest: FetchManifest;
  now: Clock;
  /** How long one remote may take. */
  timeLimitMs: number;
}

export interface IngestOptions {
  url: string;
  signal: AbortSignal;
  onStart: (progress: Progress) => void;
}

/** Bytes of manifests rather than their number: most have two thousand, and a hostile one has a million. */
const weigh = (fetched: FetchedManifest) => (fetched.outcome === 'manifest' ? fetched.entity.manifestText.length : 0);
/** Manifests that are fetched, or wait to be saved, at one time. */
const LOOK_AHEAD = { atOnce: 400, weigh, mostWeight: 16_000_000 };
/** Small enough that the main thread is never busy with one for long, large enough that commits do not count. */
const BATCH = { size: 250, weigh, mostWeight: 2_000_000 };
const LOOK_UP_BATCH = 500;
const MOST_REJECTIONS_KEPT = 10_000;
const NO_STATE: IndexState = { etag: null, lastModified: null, changesSince: null };

/** Never rejects for what a remote does: a bad remote is a result. */
export async function ingestRemote(
  dependencies: IngestDependencies,
  { url, signal, onStart }: IngestOptions,
): Promise<IngestResult> {
  const { remotes, runs, now, timeLimitMs } = dependencies;
  const progress = createProgress(url, now);
  onStart(progress);
  const known = (await remotes.indexState(url)) ?? NO_STATE;
  const limit = AbortSignal.timeout(timeLimitMs);
  const ingest = createIngest(dependencies, { url, known, progress, signal: AbortSignal.any([signal, limit]) });
  let state = known;
  try {
    state = await ingest.run();
  } catch (error) {
    if (!isExpected(error)) throw error;
    progress.fail(
      limit.aborted ? `took longer than the ${timeLimitMs / 60_000} minutes that one remote may take` : error.message,
    );
  }
  const { error } = progress.finish();
  await remotes.saveOutcome(url, { at: now(), error, state });
  await runs.replaceRejections(url, ingest.rejections, now());
  await runs.save(progress.run());
  return progress.result();
}

function isExpected(error: unknown): error is Error {
  return (
    error instanceof FetchError || error instanceof HubError || (error instanceof Error && error.name === 'AbortError')
  );
}

interface IngestContext {
  url: string;
  known: IndexState;
  progress: Progress;
  signal: AbortSignal;
}

function createIngest(dependencies: IngestDependencies, { url, known, progress, signal }: IngestContext) {
  const { members, fetchIndex, fetchManifest, now } = dependencies;
  const rejections: Rejection[] = [];
  /** Every address that the index lists, with its place in it. */
  const places = new Map<string, number>();
  const save = saveManifests(dependencies, { remote: url, places, progress });
  let isComplete = true;

  /** What to remember of the index, so that the next time is cheap. */
  async function run(): Promise<IndexState> {
    const startedAt = now();
    const first = await fetchIndex.page(withChangesSince(url, known.changesSince), { ...known, signal });
    if (first.isUnchanged) {
      progress.add({ unchanged: await members.countPresent(url) });
      return known;
    }
    for (let page: FetchedPage = first; !page.isUnchanged; ) {
      await ingestPage(page);
      if (page.next === undefined) break;
      if (places.has(page.next)) throw new FetchError('lists its own page as the next one', { isTemporary: false });
      page = await fetchIndex.page(page.next, { signal });
    }
    await save.finish();
    // A list of changes says nothing of what it does not list.
    if (known.changesSince === null) await markMissing();
    // Something that could not be fetched must be tried again, even if the index stays the same.
    if (!isComplete) return { ...NO_STATE, changesSince: known.changesSince };
    return { ...first.state, changesSince: first.tellsChanges ? startedAt.toISOString() : null };
  }

  async function ingestPage(page: Extract<FetchedPage, { isUnchanged: false }>): Promise<void> {
    const listed = [...page.entries()].filter((entry) => !places.has(entry.url));
    for (const entry of listed) places.set(entry.url, places.size);
    progress.expect(listed.length);
    const fetched = inOrder(withKnown(listed), LOOK_AHEAD, ({ entry, member }) => fetchManifest(entry, member, signal));
    for await (const batch of inBatches(fetched, BATCH)) {
      signal.throwIfAborted();
      for (const each of batch) if (each.outcome === 'failed') reject(each.url, each.error, each.isTemporary);
      await save.batch(batch);
      progress.done(batch.length);
    }
  }

  async function* withKnown(
    entries: readonly IndexEntry[],
  ): AsyncGenerator<{ entry: IndexEntry; member: (Member & { isMissing: boolean }) | undefined }> {
    for (let start = 0; start < entries.length; start += LOOK_UP_BATCH) {
      const some = entries.slice(start, start + LOOK_UP_BATCH);
      const stored = await members.known(
        url,
        some.map((entry) => entry.url),
      );
      const byUrl = new Map(stored.map((member) => [member.url, member]));
      for (const entry of some) yield { entry, member: byUrl.get(entry.url) };
    }
  }

  function reject(manifestUrl: string, error: string, isTemporary: boolean): void {
    if (isTemporary) isComplete = false;
    progress.reject(manifestUrl, error);
    if (rejections.length < MOST_REJECTIONS_KEPT)
      rejections.push({ url: storableText(manifestUrl).slice(0, 1000), error: storableText(error) });
  }

  /** Kept, but marked; unless so much is gone at once that the index itself must be at fault. */
  async function markMissing(): Promise<void> {
    const present = await members.countPresent(url);
    if (places.size * 2 < present) {
      progress.note(`The index lists ${places.size} manifests where it had ${present}: nothing was marked as missing.`);
      return;
    }
    for (let after = ''; ; ) {
      const page = await members.present(url, { after, limit: LOOK_UP_BATCH });
      const gone = page.filter((manifestUrl) => !places.has(manifestUrl));
      if (gone.length > 0) await members.markMissing(url, gone, now());
      progress.add({ missing: gone.length });
      const last = page.at(-1);
      if (last === undefined || page.length < LOOK_UP_BATCH) return;
      after = last;
    }
  }

  return { run, rejections };
}

function withChangesSince(url: string, since: string | null): string {
  if (since === null) return url;
  const changes = new URL(url);
  changes.searchParams.set('updated_since', since);
  return changes.href;
}
