// Keeps the registry up to date with the catalog: in the background, and before each response within a time limit.
import { setTimeout as sleep } from 'node:timers/promises';
import { HubError, messageOf } from '../errors.ts';
import { patientLock } from '../lib/patient-lock.ts';
import type { Clock, Logger } from '../lib/world.ts';
import type { RegistryTables } from './store.ts';

export interface KeeperDependencies {
  tables: RegistryTables;
  /** Only one hub on the same database updates the entries at a time. */
  tryLock: (name: string) => Promise<{ release(): Promise<void> } | undefined>;
  /** Whether more urgent work is running, for which background work waits. */
  isBusy: () => boolean;
  /** False for a hub that runs a single command: it updates the entries only on request. */
  isServed: boolean;
  now: Clock;
  log: Logger;
}

const LOCK = 'registry';
const LOOK_FOR_CHANGES_MS = 1_000;
/** A response right after a change should reflect it; during a stream of changes, it may be slightly stale instead of slow. */
const WAIT_FOR_CHANGE_MS = 2_000;
/** Applies to a hub that has just started, or has empty tables: clients give up after some seconds, and retry after a 503. */
const WAIT_FOR_BUILD_MS = 5_000;
const WAIT_FOR_FEW_MS = 15_000;
const LOOK_AGAIN_MS = 20;
const WAIT_FOR_OTHERS_MS = 20;
/** Each batch is a transaction, and blocks others for some milliseconds. */
const ENTITIES_AT_ONCE = 100;
/** After each batch of a build, for requests: a large catalog takes many seconds of the main thread. */
const PAUSE_MS = 10;

export class RegistryKeeper {
  private readonly given: KeeperDependencies;
  private readonly watching: NodeJS.Timeout | undefined;
  private readonly stopping = new AbortController();
  /** The latest known revision of the entries, which never decreases. */
  private shown: number | undefined;
  private refreshing: { over: Promise<void>; since: number } | undefined;
  private reported = '';

  constructor(given: KeeperDependencies) {
    this.given = given;
    const look = async () => {
      if (!this.refreshing && !given.isBusy() && !(await this.isUpToDate(await given.tables.revision())))
        this.refresh();
    };
    const lookOrReport = () => void look().catch((error) => this.report(error));
    this.watching = given.isServed ? setInterval(lookOrReport, LOOK_FOR_CHANGES_MS).unref() : undefined;
  }

  /**
   * Resolves to the revision that the entries reflect. Throws until they are built, because a mirror would mistake an empty
   * list for an empty registry. @throws HubError `overloaded`
   */
  async bringUpToDate(): Promise<number> {
    const wanted = await this.given.tables.revision();
    if (await this.isUpToDate(wanted)) return wanted;
    const { over, since } = this.refresh();
    const end = await this.patienceEnd(since);
    while (this.refreshing && (this.shown ?? -1) < wanted && performance.now() < end)
      await Promise.race([over, sleep(LOOK_AGAIN_MS, undefined, { ref: false })]);
    if (this.shown === undefined)
      throw new HubError('overloaded', 'The registry is being built. Try again in a moment.');
    return this.shown;
  }

  /** Another hub may have updated the entries. */
  private async isUpToDate(wanted: number): Promise<boolean> {
    if (this.shown !== wanted) this.shown = await this.given.tables.shown();
    return this.shown === wanted;
  }

  /** Waits for a few changes even if the machine is busy, but not for an ingest. */
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

  /** Concurrent calls share the work. */
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
    const { tables } = this.given;
    const tryLock = patientLock(this.given.tryLock);
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
      await sleep(PAUSE_MS, undefined, { ref: false });
    }
  }

  private async update(uids: readonly string[], signal: AbortSignal): Promise<void> {
    for (let start = 0; start < uids.length && !signal.aborted; start += ENTITIES_AT_ONCE)
      await this.given.tables.update(uids.slice(start, start + ENTITIES_AT_ONCE), this.given.now());
  }

  /** Logs each reason once, instead of with every response. */
  private report(error: unknown): void {
    const reason = messageOf(error);
    if (this.reported === reason || this.stopping.signal.aborted) return;
    this.reported = reason;
    this.given.log.warn({ reason }, 'The entries of the registry could not be brought up to date');
  }
}
