// The state of the operations page, including the one long operation that may be running.
import { signal } from '@preact/signals';
import type {
  IngestRun,
  IngestStatus,
  NewRemote,
  RemoteList,
  RemoteSettings,
  SyncProgress,
} from '../../../src/remotes/contract.ts';
import type { HubFailure } from '../api/failure.ts';
import { hub } from '../api/hub.ts';
import { asFailure } from '../api/problem.ts';
import { ingestWords, type OutcomeWords, syncWords } from './ingest-words.ts';
import { addedSentence, removedSentence } from './remotes/remote-words.ts';

export const remotes = signal<RemoteList | undefined>(undefined);
export const ingests = signal<IngestStatus | undefined>(undefined);
/** Increases whenever the catalog, and with it the pending servers, may have changed. */
export const catalogRevision = signal(0);

export interface Work {
  /** A name for people. */
  name: string;
  progress: SyncProgress;
}

const NO_PROGRESS: SyncProgress = { running: [], registering: null, registering_total: null };

export const work = signal<Work | undefined>(undefined);
/** Where the last action was started, and its result is shown. */
export type Panel = 'remotes' | 'new remote' | 'pending';
export const panel = signal<Panel>('remotes');
export const outcome = signal<OutcomeWords | undefined>(undefined);
/** The failure of the last action; kept until the next one. */
export const failure = signal<HubFailure | undefined>(undefined);
/** The failure of the last status request; cleared by the next success. */
export const refreshFailure = signal<HubFailure | undefined>(undefined);

let refreshes = 0;

/** Never throws: the shown state is kept until the hub responds again. */
export async function refresh(): Promise<void> {
  refreshes += 1;
  const own = refreshes;
  try {
    const [remoteList, status] = await Promise.all([hub.remotes(), hub.ingestStatus()]);
    // A slow response must not replace a newer one.
    if (own !== refreshes) return;
    const isBack = refreshFailure.value !== undefined;
    if (isBack || (ingests.value && hasEnded(ingests.value, status))) catalogRevision.value += 1;
    remotes.value = remoteList;
    ingests.value = status;
    refreshFailure.value = undefined;
  } catch (error) {
    if (own === refreshes) refreshFailure.value = asFailure(error);
  }
}

/** Whether a sync has ended since the last status, which may have changed the catalog. */
function hasEnded(before: IngestStatus, after: IngestStatus): boolean {
  const [last, newest] = [before.last[0], after.last[0]];
  const isRegistered = before.registering !== null && after.registering === null;
  return isRegistered || newest?.url !== last?.url || newest?.started_at !== last?.started_at;
}

/** Shows the failure of the last action. Resolves to whether the action succeeded. */
export async function attempt(where: Panel, action: () => Promise<unknown>): Promise<boolean> {
  failure.value = undefined;
  outcome.value = undefined;
  panel.value = where;
  // `failure` may have been dismissed by the end, so the result is kept here.
  let hasSucceeded = true;
  try {
    await action();
  } catch (error) {
    hasSucceeded = false;
    failure.value = asFailure(error);
  }
  await refresh();
  return hasSucceeded;
}

/** Resolves to true once the hub has the remote. */
export function addRemote(remote: NewRemote): Promise<boolean> {
  return attempt('new remote', async () => {
    outcome.value = { tone: 'good', sentence: addedSentence(await hub.addRemote(remote)) };
  });
}

/** Rejects if the hub refuses, so that the form can show the reason. */
export async function changeRemote(url: string, settings: RemoteSettings): Promise<void> {
  const changed = await hub.changeRemote(url, settings);
  await attempt('remotes', async () => {
    outcome.value = { tone: 'good', sentence: `${changed.name ?? changed.url} saved. ${changed.note ?? ''}`.trim() };
  });
}

export function removeRemote(url: string, purge: boolean): Promise<boolean> {
  return attempt('remotes', async () => {
    const removal = await hub.removeRemote(url, purge);
    outcome.value = { tone: 'good', sentence: removedSentence(removal) };
    catalogRevision.value += 1;
  });
}

export const syncAll = () =>
  carryOut('remotes', 'Syncing all remotes', async (report) => {
    outcome.value = syncWords(await hub.sync(false, report), nameOf);
  });

export const registerAgain = () =>
  carryOut('pending', 'Trying pending servers again', async (report) => {
    outcome.value = syncWords(await hub.sync(true, report), nameOf);
  });

/** With `acceptShrunk`, accepts an index that lists less than half of its previous entries. */
export const ingestOne = (url: string, { acceptShrunk = false } = {}) =>
  carryOut('remotes', `Reading ${nameOf(url)}`, async (report) => {
    const [result] = (await hub.ingest({ url, accept_shrunk: acceptShrunk }, report)).results;
    if (result) outcome.value = ingestWords(result, nameOf);
  });

/** The remote's name, or its address if it has none. */
export function nameOf(url: string): string {
  return remotes.value?.items.find((remote) => remote.url === url)?.name ?? url;
}

/** Does nothing while other work runs. `rename` updates the name of the running work. */
export function carryOut(
  where: Panel,
  name: string,
  action: (report: (progress: SyncProgress) => void, rename: (now: string) => void) => Promise<void>,
): Promise<boolean> {
  if (work.value) return Promise.resolve(false);
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
      catalogRevision.value += 1;
    }
  });
}

/** The progress of a run within 0..1; undefined while its index is being read. */
export function shareDone({ total, done }: Pick<IngestRun, 'total' | 'done'>): number | undefined {
  return total > 0 ? Math.min(done / total, 1) : undefined;
}
