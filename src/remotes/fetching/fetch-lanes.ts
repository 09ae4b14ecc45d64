// Fetches the manifests of an index, many at a time: hosts do not wait for each other, and results come as they arrive.
import type { FetchedManifest } from './fetch-manifest.ts';
import { createHostLanes, type Lane } from './host-lanes.ts';
import type { ListedEntry } from './index-worker.ts';
import { hostNames } from './polite-fetch.ts';

const MOST_UNDER_WAY = 128;
/** Entries that wait for a slow host take a few hundred bytes each. Beyond this, the index is not read further. */
const MOST_WAITING = 100_000;
/** Fetches that are under way, and results that are not taken yet. */
const MOST_AHEAD = 400;
/** Characters of manifests that are not taken yet. Most have two thousand, and a hostile one has a million. */
const MOST_WEIGHT = 16_000_000;
/**
 * Small enough that the main thread is never busy with a batch for long, and large enough that commits do not matter.
 * Results that come slowly do not wait for a full batch.
 */
const BATCH = { size: 250, weight: 2_000_000, ms: 1_000 };

/**
 * Yields results in batches. A rejection, of `fetch` or of `groups`, ends it after the results of all fetches that are
 * under way.
 */
export async function* fetchInLanes<Input extends { entry: ListedEntry }>(
  groups: AsyncIterable<readonly Input[]>,
  { requestsPerHost }: { requestsPerHost: number },
  fetch: (input: Input) => Promise<FetchedManifest>,
): AsyncGenerator<FetchedManifest[]> {
  const lanes = createHostLanes<Input>({ requestsPerHost, mostUnderWay: MOST_UNDER_WAY });
  const results = createResults();
  const hostOf = hostNames();
  const [room, batchReady] = [createBell(), createBell()];
  let underWay = 0;
  let failure: { error: unknown } | undefined;
  let isRead = false;
  let isOver = false;

  const hasRoom = () => underWay + results.count() < MOST_AHEAD && results.weight() <= MOST_WEIGHT;
  const isFinished = () => underWay === 0 && (failure !== undefined || (isRead && lanes.waitingCount() === 0));

  async function readAll(): Promise<void> {
    for await (const group of groups) {
      for (const input of group) {
        const host = needsRequest(input.entry) ? hostOf(input.entry.url) : undefined;
        while (!isOver && !(host ? lanes.waitingCount() < MOST_WAITING : hasRoom())) await room.rung();
        if (isOver || failure) return;
        if (host) lanes.add(host, input);
        else start(input);
        startWaiting();
      }
    }
  }

  function startWaiting(): void {
    while (!isOver && !failure && hasRoom()) {
      const next = lanes.next();
      if (!next) break;
      start(next.entry, next.lane);
    }
  }

  function start(input: Input, lane?: Lane<Input>): void {
    underWay += 1;
    fetch(input)
      .then(
        (result) => {
          results.add(result);
          if (lane) lanes.ended(lane, { isAnswered: isUsable(result) });
        },
        (error: unknown) => fail(error),
      )
      .finally(() => {
        underWay -= 1;
        startWaiting();
        room.ring();
        if (results.isBatchFull() || isFinished()) batchReady.ring();
      });
  }

  function fail(error: unknown): void {
    failure ??= { error };
  }

  const reading = readAll()
    .catch(fail)
    .finally(() => {
      isRead = true;
      batchReady.ring();
    });
  try {
    while (!isFinished() || results.count() > 0) {
      if (!results.isBatchFull() && !isFinished()) await rungWithin(batchReady, BATCH.ms);
      if (results.count() === 0) continue;
      const batch = results.takeBatch();
      startWaiting();
      room.ring();
      yield batch;
    }
    if (failure) throw failure.error;
  } finally {
    isOver = true;
    room.ring();
    await reading;
  }
}

function needsRequest({ text, fault, isDeleted }: ListedEntry): boolean {
  return text === undefined && fault === undefined && !isDeleted;
}

/** Whether the host is up. A refusal that will not change is an answer, too. */
function isUsable(fetched: FetchedManifest): boolean {
  return fetched.outcome !== 'failed' || !fetched.isTemporary;
}

/** Results that are not taken yet. */
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

interface Bell {
  rung(): Promise<void>;
  ring(): void;
}

/** An event that can be awaited again and again. */
function createBell(): Bell {
  let bell: PromiseWithResolvers<void> | undefined;
  return {
    rung() {
      bell ??= Promise.withResolvers<void>();
      return bell.promise;
    },
    ring() {
      bell?.resolve();
      bell = undefined;
    },
  };
}

async function rungWithin(bell: Bell, ms: number): Promise<void> {
  const timer = setTimeout(() => bell.ring(), ms);
  await bell.rung();
  clearTimeout(timer);
}
