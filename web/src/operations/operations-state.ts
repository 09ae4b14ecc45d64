// What the operations page shows, and the one long piece of work that may be under way.
import { signal } from '@preact/signals';
import type { IngestRun, IngestStatus, RemoteList, SyncProgress } from '../../../src/remotes/contract.ts';
import type { HubFailure } from '../api/failure.ts';
import { hub } from '../api/hub.ts';
import { asFailure } from '../api/problem.ts';
import { count } from '../parts/words.ts';

export const remotes = signal<RemoteList | undefined>(undefined);
export const ingests = signal<IngestStatus | undefined>(undefined);
/** Raised whenever pending servers may have changed. */
export const pendingRevision = signal(0);

export interface Work {
  /** What it is, as people would say it. */
  name: string;
  progress: SyncProgress;
}

const NO_PROGRESS: SyncProgress = { running: [], registering: null, registering_total: null };

export const work = signal<Work | undefined>(undefined);
/** Where the last thing was done, which is where somebody looks for how it went. */
export type Place = 'remotes' | 'new remote' | 'pending';
export const place = signal<Place>('remotes');
export const outcome = signal<{ tone: 'good' | 'warn'; sentence: string } | undefined>(undefined);
/** Of the last thing that somebody did here; stays until the next one. */
export const failure = signal<HubFailure | undefined>(undefined);
/** Of the last look at the hub; goes with the next good one. */
export const lookFailure = signal<HubFailure | undefined>(undefined);

let looks = 0;

/** Never throws: what is on screen stays until the hub answers again. */
export async function look(): Promise<void> {
  looks += 1;
  const own = looks;
  try {
    const [remoteList, status] = await Promise.all([hub.remotes(), hub.ingestStatus()]);
    // A slow answer must not replace a newer one.
    if (own !== looks) return;
    const isBack = lookFailure.value !== undefined;
    if (isBack || (ingests.value && hasEnded(ingests.value, status))) pendingRevision.value += 1;
    remotes.value = remoteList;
    ingests.value = status;
    lookFailure.value = undefined;
  } catch (error) {
    if (own === looks) lookFailure.value = asFailure(error);
  }
}

/** Whether a sync was over between two looks: it may have changed what is pending. */
function hasEnded(before: IngestStatus, after: IngestStatus): boolean {
  const [last, newest] = [before.last[0], after.last[0]];
  const isRegistered = before.registering !== null && after.registering === null;
  return isRegistered || newest?.url !== last?.url || newest?.started_at !== last?.started_at;
}

/** A failure is shown, and never more than the last one. */
export async function attempt(where: Place, action: () => Promise<unknown>): Promise<void> {
  failure.value = undefined;
  outcome.value = undefined;
  place.value = where;
  try {
    await action();
  } catch (error) {
    failure.value = asFailure(error);
  }
  await look();
}

/** Whether the remote is there now. */
export async function addRemote(address: string): Promise<boolean> {
  await attempt('new remote', async () => {
    const { added, url } = await hub.addRemote(address);
    outcome.value = {
      tone: 'good',
      sentence: added ? `${url} added; the next sync reads it.` : `${url} was there already.`,
    };
  });
  return failure.value === undefined;
}

export function removeRemote(address: string): Promise<void> {
  return attempt('remotes', async () => {
    const { removed, url } = await hub.removeRemote(address);
    outcome.value = { tone: 'good', sentence: removed ? `${url} removed.` : `${url} was not there any more.` };
  });
}

export const syncAll = (force: boolean) =>
  carryOut(
    force ? 'pending' : 'remotes',
    force ? 'Trying pending servers again' : 'Sync of all remotes',
    async (report) => {
      const { ingested, errors, registered, failed, note } = await hub.sync(force, report);
      const broken = Object.keys(errors).length;
      const parts = [];
      const all = ingested.length + broken;
      if (all > 0) parts.push(`${ingested.length} of ${count(all, 'remote')} read`);
      else parts.push('There is nothing to read: no remote has been added');
      if (all + registered > 0) parts.push(`${count(registered, 'server')} registered`);
      // Not 'refused', which is said of manifests.
      if (failed > 0) parts.push(`${failed} could not be registered`);
      outcome.value = { tone: broken + failed > 0 ? 'warn' : 'good', sentence: sentence(parts, note) };
    },
  );

export const ingestOne = (url: string) =>
  carryOut('remotes', `Reading ${url}`, async (report) => {
    const [result] = (await hub.ingest(url, report)).results;
    if (!result) return;
    const { created, updated, unchanged, failed, note } = result.stats;
    const parts = [`${created} new`, `${updated} changed`, `${unchanged} as before`];
    if (failed > 0) parts.push(`${failed} refused`);
    outcome.value = result.ok
      ? { tone: failed > 0 ? 'warn' : 'good', sentence: sentence(parts, note) }
      : { tone: 'warn', sentence: `${url} could not be read: ${result.error ?? 'no reason given'}` };
  });

/** `rename`: says what is being done now. */
export function carryOut(
  where: Place,
  name: string,
  action: (report: (progress: SyncProgress) => void, rename: (now: string) => void) => Promise<void>,
): Promise<void> {
  return attempt(where, async () => {
    const report = (progress: SyncProgress) => {
      work.value = { name, progress };
    };
    const rename = (now: string) => {
      work.value = { name: now, progress: NO_PROGRESS };
    };
    report(NO_PROGRESS);
    try {
      await action(report, rename);
    } finally {
      work.value = undefined;
      pendingRevision.value += 1;
    }
  });
}

function sentence(parts: readonly string[], note?: string): string {
  return `${parts.join(', ')}.${note ? ` ${note}` : ''}`;
}

/** How far along a run is, within 0..1; undefined while its index is still being read. */
export function shareDone({ total, done }: Pick<IngestRun, 'total' | 'done'>): number | undefined {
  return total > 0 ? Math.min(done / total, 1) : undefined;
}
