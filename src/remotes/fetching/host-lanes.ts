// Decides which waiting entry is fetched next: each host has its own lane, so that no host delays the others.

export interface LaneLimits {
  requestsPerHost: number;
  /** Limit for concurrent requests over all lanes. */
  mostUnderWay: number;
}

export interface Lane<Entry> {
  host: string;
  waiting: Queue<Entry>;
  underWay: number;
  /** Whether the host has sent a usable response. */
  isProven: boolean;
}

export interface HostLanes<Entry> {
  add(host: string, entry: Entry): void;
  /** The next entry to fetch, with its lane; undefined if none may start. */
  next(): { entry: Entry; lane: Lane<Entry> } | undefined;
  /** Must be called when a fetch from `next` ends. */
  ended(lane: Lane<Entry>, how: { isAnswered: boolean }): void;
  waitingCount(): number;
}

/** Limit for a host that has not responded yet, so that an unresponsive one takes little capacity from others. */
const UNPROVEN_PER_HOST = 4;
/** Bounded, because a catalog may name a new host with every manifest. */
const MOST_LANES = 10_000;

export function createHostLanes<Entry>({ requestsPerHost, mostUnderWay }: LaneLimits): HostLanes<Entry> {
  const lanes = new Map<string, Lane<Entry>>();
  /** Lanes that may start a fetch, in round-robin order. */
  const ready = { proven: new Set<Lane<Entry>>(), unproven: new Set<Lane<Entry>>() };
  let [waiting, underWay, unprovenUnderWay] = [0, 0, 0];

  function laneOf(host: string): Lane<Entry> {
    const lane = lanes.get(host) ?? { host, waiting: createQueue<Entry>(), underWay: 0, isProven: false };
    lanes.set(host, lane);
    return lane;
  }

  function offer(lane: Lane<Entry>): void {
    const most = lane.isProven ? requestsPerHost : Math.min(requestsPerHost, UNPROVEN_PER_HOST);
    if (lane.waiting.size() > 0 && lane.underWay < most) (lane.isProven ? ready.proven : ready.unproven).add(lane);
  }

  /** Unproven lanes together may use half of the slots. A proven lane leaves as many slots free as it uses. */
  function firstReady(): Lane<Entry> | undefined {
    const free = mostUnderWay - underWay;
    const [unproven] = ready.unproven;
    if (unproven && free > 0 && unprovenUnderWay < mostUnderWay / 2) return unproven;
    for (const lane of ready.proven) if (lane.underWay < free) return lane;
    return undefined;
  }

  return {
    add(host, entry) {
      const lane = laneOf(host);
      lane.waiting.add(entry);
      waiting += 1;
      offer(lane);
    },

    next() {
      const lane = firstReady();
      if (!lane) return undefined;
      ready.unproven.delete(lane);
      ready.proven.delete(lane);
      waiting -= 1;
      underWay += 1;
      lane.underWay += 1;
      if (!lane.isProven) unprovenUnderWay += 1;
      const entry = lane.waiting.take() as Entry;
      offer(lane);
      return { entry, lane };
    },

    ended(lane, { isAnswered }) {
      if (!lane.isProven) unprovenUnderWay -= isAnswered ? lane.underWay : 1;
      underWay -= 1;
      lane.underWay -= 1;
      lane.isProven ||= isAnswered;
      if (lane.isProven) ready.unproven.delete(lane);
      if (lane.underWay + lane.waiting.size() === 0 && lanes.size > MOST_LANES) lanes.delete(lane.host);
      offer(lane);
    },

    waitingCount: () => waiting,
  };
}

interface Queue<T> {
  add(value: T): void;
  take(): T | undefined;
  size(): number;
}

/** Unlike `Array.shift`, removing the first of a hundred thousand values does not move the others. */
function createQueue<T>(): Queue<T> {
  let values: (T | undefined)[] = [];
  let first = 0;
  return {
    add: (value) => void values.push(value),
    take() {
      if (first === values.length) return undefined;
      const value = values[first];
      values[first] = undefined;
      first += 1;
      if (first * 2 >= values.length) {
        values = values.slice(first);
        first = 0;
      }
      return value;
    },
    size: () => values.length - first,
  };
}
