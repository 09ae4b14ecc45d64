// Limits how many requests each host gets at a time; further ones wait in line.
import { onceAborted } from '../../lib/workers/once-aborted.ts';

export interface Host {
  name: string;
  underWay: number;
  /** Each function starts one request. */
  waiting: (() => void)[];
  /** No request is sent before this time. */
  pausedUntil: number;
}

/** Bounded, because a catalog may name a new host with every manifest. */
const MOST_HOSTS = 10_000;

export class HostSlots {
  private readonly requestsPerHost: number;
  private readonly hosts = new Map<string, Host>();

  constructor(requestsPerHost: number) {
    this.requestsPerHost = requestsPerHost;
  }

  /** Waits for a free slot. Rejects if the signal is aborted first. */
  async take(name: string, signal: AbortSignal | undefined): Promise<Host> {
    const host = this.hosts.get(name) ?? { name, underWay: 0, waiting: [], pausedUntil: 0 };
    this.hosts.set(name, host);
    if (host.underWay < this.requestsPerHost) host.underWay += 1;
    else await waitTurn(host, signal);
    return host;
  }

  release(host: Host): void {
    const next = host.waiting.shift();
    if (next) next();
    else host.underWay -= 1;
    // Hosts with a pause are kept, unless there are too many.
    const isPaused = host.pausedUntil > Date.now() && this.hosts.size < MOST_HOSTS;
    if (host.underWay === 0 && !isPaused) this.hosts.delete(host.name);
  }
}

async function waitTurn(host: Host, signal: AbortSignal | undefined): Promise<void> {
  signal?.throwIfAborted();
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  host.waiting.push(resolve);
  const giveUp = () => {
    host.waiting = host.waiting.filter((each) => each !== resolve);
    reject(signal?.reason);
  };
  const stopListening = signal && onceAborted(signal, giveUp);
  await promise;
  stopListening?.();
}
