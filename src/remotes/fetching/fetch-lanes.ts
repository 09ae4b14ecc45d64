// Fetches the manifests of an index concurrently: hosts do not wait for each other, and results are yielded as they arrive.
import { createNotifier, type Notifier } from '../../lib/workers/notifier.ts';
import type { FetchedManifest } from './fetch-manifest.ts';
import { createHostLanes, type Lane } from './host-lanes.ts';
import type { ListedEntry } from './parse-index-worker.ts';
import { hostNames } from './polite-fetch.ts';

const MOST_UNDER_WAY = 128;
/** Entries that wait for a slow host take a few hundred bytes each. At this limit, reading the index pauses. */
const MOST_WAITING = 100_000;
/** Running fetches plus results that are not consumed yet. */
const MOST_AHEAD = 1_000;
/** Characters of manifests that are not consumed yet. Most have two thousand; a hostile one has a million. */
const MOST_WEIGHT = 16_000_000;
/**
 * Small enough not to block the main thread for long, and large enough to make the cost of commits negligible. After `ms`,
 * an incomplete batch is yielded.
 */
const BATCH = { size: 500, weight: 2_000_000, ms: 1_000 };

/** Yields results in batches. If `fetch` or `groups` rejects, yields the results of running fetches, and then throws. */
export async function* fetchInLanes<Input extends { entry: ListedEntry }>(
  groups: AsyncIterable<readonly Input[]>,
  { requestsPerHost }: { requestsPerHost: number },
  fetch: (input: Input) => Promise<FetchedManifest>,
): AsyncGenerator<FetchedManifest[]> {
  const lanes = createHostLanes<Input>({ requestsPerHost, mostUnderWay: MOST_UNDER_WAY });
  const results = createResults();
  const hostOf = hostNames();
  const [room, batchReady] = [createNotifier(), createNotifier()];
  /** Aborted by the first failure, or when the consumer stops. */
  const stop = new AbortController();
  const { signal } = stop;
  let underWay = 0;
  let isRead = false;

  const hasRoom = () => underWay + results.count() < MOST_AHEAD && results.weight() <= MOST_WEIGHT;
  const isFinished = () => underWay === 0 && (signal.aborted || (isRead && lanes.waitingCount() === 0));

  async function readAll(): Promise<void> {
    for await (const group of groups) {
      for (const input of group) {
        const host = needsRequest(input.entry) ? hostOf(input.entry.url) : undefined;
        while (!signal.aborted && !(host ? lanes.waitingCount() < MOST_WAITING : hasRoom())) await room.notified();
        if (signal.aborted) return;
        if (host) lanes.add(host, input);
        else void start(input);
        startWaiting();
      }
    }
  }

  function startWaiting(): void {
    while (!signal.aborted && hasRoom()) {
      const next = lanes.next();
      if (!next) break;
      void start(next.entry, next.lane);
    }
  }

  async function start(input: Input, lane?: Lane<Input>): Promise<void> {
    underWay += 1;
    try {
      const result = await fetch(input);
      results.add(result);
      if (lane) lanes.ended(lane, { isAnswered: isUsable(result) });
    } catch (error) {
      stop.abort(error);
    }
    underWay -= 1;
    startWaiting();
    room.notify();
    if (results.isBatchFull() || isFinished()) batchReady.notify();
  }

  const reading = readAll()
    .catch((error) => stop.abort(error))
    .finally(() => {
      isRead = true;
      batchReady.notify();
    });
  try {
    while (!isFinished() || results.count() > 0) {
      if (!results.isBatchFull() && !isFinished()) await notifiedWithin(batchReady, BATCH.ms);
      if (results.count() === 0) continue;
      const batch = results.takeBatch();
      startWaiting();
      room.notify();
      yield batch;
    }
    signal.throwIfAborted();
  } finally {
    stop.abort();
    room.notify();
    await reading;
  }
}

function needsRequest({ text, fault, isDeleted }: ListedEntry): boolean {
  return text === undefined && fault === undefined && !isDeleted;
}

/** Whether the host is up; a permanent refusal counts as a response. */
function isUsable(fetched: FetchedManifest): boolean {
  return fetched.outcome !== 'failed' || !fetched.isTemporary;
}

/** A queue of results that are not consumed yet. */
function createResults() {
  let results: FetchedManifest[] = [];
  let weight = 0;
  return {
    count: () => results.length,
    weight: () => weight,
    isBatchFull: () => results.length >= BATCH.size || weight >= BATCH.weight,
    add(result: FetchedManifest) {
      results.push(result);
      weight += weightOf(result);
    },
    takeBatch(): FetchedManifest[] {
      let [count, taken] = [0, 0];
      for (const result of results.slice(0, BATCH.size)) {
        if (taken >= BATCH.weight) break;
        count += 1;
        taken += weightOf(result);
      }
      const batch = results.slice(0, count);
      results = results.slice(count);
      weight -= taken;
      return batch;
    },
  };
}

function weightOf(fetched: FetchedManifest): number {
  return fetched.outcome === 'fetched' ? fetched.text.length : 0;
}

async function notifiedWithin(notifier: Notifier, ms: number): Promise<void> {
  const timer = setTimeout(() => notifier.notify(), ms);
  await notifier.notified();
  clearTimeout(timer);
}
