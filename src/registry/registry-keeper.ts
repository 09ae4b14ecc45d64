// Keeps the registry up to date with the catalog: in the background, and before each response as far as time allows.
import { setTimeout as sleep } from 'node:timers/promises';
import { HubError } from '../errors.ts';
import type { Clock, Logger } from '../lib/world.ts';
import type { RegistryTables } from './store.ts';

export interface KeeperDependencies {
  tables: RegistryTables;
  /** At most one hub on the same database updates the entries at a time. */
  tryLock: (name: string) => Promise<{ release(): Promise<void> } | undefined>;
  /** Whether the machine is needed for something more urgent; background work waits for its end. */
  isBusy: () => boolean;
  /** False for a hub that lives for one command: it looks at the entries only when it is asked for them. */
  isServed: boolean;
  now: Clock;
  log: Logger;
}

const LOCK = 'registry';
const LOOK_FOR_CHANGES_MS = 1_000;
/** An answer right after a change should show it; while changes keep coming, it is late by a moment instead of slow. */
const WAIT_FOR_CHANGE_MS = 2_000;
/** A hub that has just started, or whose tables are new: clients give up after some seconds, and come again after a 503. */
const WAIT_FOR_BUILD_MS = 5_000;
const WAIT_FOR_FEW_MS = 15_000;
const LOOK_AGAIN_MS = 20;
const WAIT_FOR_OTHERS_MS = 20;
/** Each is a transaction, and holds up others for some milliseconds. */
const ENTITIES_AT_ONCE = 100;

export class RegistryKeeper {
  private readonly given: KeeperDependencies;
  private readonly watching: NodeJS.Timeout | undefined;
  private readonly stopping = new AbortController();
  /** The revision that the entries show, as far as it is known: they never go back. */
  private shown: number | undefined;
  private refreshing: { over: Promise<void>; since: number } | undefined;
  private reported = '';

  constructor(given: KeeperDependencies) {
    this.given = given;
    let isLooking = false;
    const look = async () => {
      if (isLooking || given.isBusy()) return;
      isLooking = true;
      await this.bringUpToDate().catch((error) => this.report(error));
      isLooking = false;
    };
    this.watching = given.isServed ? setInterval(look, LOOK_FOR_CHANGES_MS).unref() : undefined;
  }

  /**
   * Answers which revision the entries show. Until they are built, none is answered with: who mirrors a registry takes an
   * empty list for an empty registry. @throws HubError `overloaded`
   */
  async bringUpToDate(): Promise<number> {
    const wanted = await this.given.tables.revision();
    if (this.shown === wanted) return wanted;
    this.shown = await this.given.tables.shown();
    if (this.shown === wanted) return wanted;
    const { over, since } = this.refresh();
    const end = await this.patienceEnd(since);
    while (this.refreshing && (this.shown ?? -1) < wanted && performance.now() < end)
      await Promise.race([over, sleep(LOOK_AGAIN_MS, undefined, { ref: false })]);
    if (this.shown === undefined)
      throw new HubError('overloaded', 'The registry is being built. Try again in a moment.');
    return this.shown;
  }

  /** A few changes are worth waiting for, however busy the machine is; an ingest is not. */
  private async patienceEnd(refreshingSince: number): Promise<number> {
    if (this.shown === undefined) return performance.now() + WAIT_FOR_BUILD_MS;
    const changes = await this.given.tables.changesAfter(this.shown);
    const isFew = changes !== undefined && changes.uids.length <= ENTITIES_AT_ONCE;
    return isFew ? performance.now() + WAIT_FOR_FEW_MS : refreshingSince + WAIT_FOR_CHANGE_MS;
  }

  async stop(): Promise<void> {
    clearInterval(this.watching);
    this.stopping.abort();
    await this.refreshing?.over;
  }

  /** Calls that come meanwhile share the work. */
  private refresh(): { over: Promise<void>; since: number } {
    this.refreshing ??= {
      since: performance.now(),
      over: this.follow()
        .catch((error) => this.report(error))
        .finally(() => {
          this.refreshing = undefined;
        }),
    };
    return this.refreshing;
  }

  private async follow(): Promise<void> {
    const { tables, tryLock } = this.given;
    const { signal } = this.stopping;
    while (!signal.aborted) {
      const lock = await tryLock(LOCK);
      if (lock) await this.applyChanges(signal).finally(() => lock.release());
      this.shown = await tables.shown();
      if (this.shown === (await tables.revision())) return;
      if (!lock) await sleep(WAIT_FOR_OTHERS_MS, undefined, { ref: false });
    }
  }

  private async applyChanges(signal: AbortSignal): Promise<void> {
    const { tables } = this.given;
    for (let shown = await tables.shown(); !signal.aborted; ) {
      const current = await tables.revision();
      if (shown === current) return;
      const changes = shown === undefined ? undefined : await tables.changesAfter(shown);
      if (changes) await this.update(changes.uids, signal);
      else await this.build(signal);
      if (signal.aborted) return;
      shown = changes?.revision ?? current;
      await tables.setShown(shown);
      this.shown = shown;
    }
  }

  private async build(signal: AbortSignal): Promise<void> {
    const { tables, now } = this.given;
    for (let last = ''; !signal.aborted; ) {
      const uids = await tables.serversAfter(last, ENTITIES_AT_ONCE);
      if (uids.length === 0) return;
      await tables.update(uids, now());
      last = uids.at(-1) ?? '';
    }
  }

  private async update(uids: readonly string[], signal: AbortSignal): Promise<void> {
    for (let start = 0; start < uids.length && !signal.aborted; start += ENTITIES_AT_ONCE)
      await this.given.tables.update(uids.slice(start, start + ENTITIES_AT_ONCE), this.given.now());
  }

  /** Each reason once, not with every answer. */
  private report(error: unknown): void {
    const reason = error instanceof Error ? error.message : String(error);
    if (this.reported === reason || this.stopping.signal.aborted) return;
    this.reported = reason;
    this.given.log.warn({ reason }, 'The entries of the registry could not be brought up to date');
  }
}
