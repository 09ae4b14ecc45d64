// Keeps the entries of the registry up to date with the catalog: before an answer as far as there is time, and in the background.
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
  now: Clock;
  log: Logger;
}

const LOCK = 'registry';
const LOOK_FOR_CHANGES_MS = 1_000;
/** An answer right after a change should show it; while changes keep coming, it is late by a moment instead of slow. */
const WAIT_FOR_CHANGE_MS = 2_000;
const WAIT_FOR_OTHERS_MS = 20;
/** Each is a transaction, and holds up others for some milliseconds. */
const ENTITIES_AT_ONCE = 100;

export class RegistryKeeper {
  private readonly given: KeeperDependencies;
  private readonly watching: NodeJS.Timeout;
  private readonly stopping = new AbortController();
  /** The revision that the entries show, as far as it is known: they never go back. */
  private shown: number | undefined;
  private refreshing: { over: Promise<void>; since: number } | undefined;
  private reported = '';

  constructor(given: KeeperDependencies) {
    this.given = given;
    this.watching = setInterval(() => {
      if (!given.isBusy()) void this.bringUpToDate().catch((error) => this.report(error));
    }, LOOK_FOR_CHANGES_MS).unref();
  }

  /** An answer waits for entries that were never built: who mirrors a registry takes an empty list for an empty registry. */
  async bringUpToDate(): Promise<void> {
    const wanted = await this.given.tables.revision();
    if (this.shown === wanted) return;
    this.shown = await this.given.tables.shown();
    if (this.shown === wanted) return;
    const { over, since } = this.refresh();
    if (this.shown === undefined) {
      await over;
      if (this.shown === undefined)
        throw new HubError('overloaded', 'The registry is being built. Try again in a moment.');
      return;
    }
    const patience = WAIT_FOR_CHANGE_MS - (performance.now() - since);
    if (patience > 0) await Promise.race([over, sleep(patience, undefined, { ref: false })]);
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
