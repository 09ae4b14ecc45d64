// Ingests one remote within its time limit, and stores the outcome.
import { HubError } from '../../errors.ts';
import { FetchError } from '../../lib/net/fetch-error.ts';
import { shownAddress } from '../../lib/secrets/secret-address.ts';
import type { Logger } from '../../lib/world.ts';
import type { IngestResult } from '../contract.ts';
import type { RemoteStore, RunStore } from '../store.ts';
import { NO_STATE } from './index-freshness.ts';
import { IndexIngest, type IngestDependencies, type IngestedIndex } from './ingest.ts';
import { type IngestProgress, MOST_REJECTIONS_KEPT } from './progress.ts';
import { REMOVED_MEANWHILE } from './save-manifests.ts';

export interface RemoteIngestDependencies extends IngestDependencies {
  remotes: RemoteStore;
  runs: RunStore;
  /** Time limit for one remote. */
  timeLimitMs: number;
  log: Logger;
}

export interface RemoteIngest {
  /** Must be new; its result is returned. */
  progress: IngestProgress;
  /** Aborted when the hub closes, or when another hub may ingest this remote. */
  signal: AbortSignal;
  acceptShrunk: boolean;
  /** Whether the background sync started it, rather than a person. */
  isBackground: boolean;
}

/** Never rejects: failures of the remote or the database are part of the result. */
export async function ingestRemote(dependencies: RemoteIngestDependencies, task: RemoteIngest): Promise<IngestResult> {
  const { log } = dependencies;
  const { progress } = task;
  try {
    await ingestAndKeep(dependencies, task);
  } catch (error) {
    progress.fail(reasonOf(error, log));
  }
  return logged(progress.result(), log);
}

async function ingestAndKeep(dependencies: RemoteIngestDependencies, task: RemoteIngest): Promise<void> {
  const { remotes, runs, now, timeLimitMs, log } = dependencies;
  const { signal, progress } = task;
  const { url } = progress;
  const stored = await remotes.remembered(url);
  const known = stored?.state ?? NO_STATE;
  const limit = AbortSignal.timeout(timeLimitMs);
  const end = new AbortController();
  // Forwarded to one controller, because adding many listeners to a composite signal is slow.
  AbortSignal.any([signal, limit]).addEventListener('abort', () => end.abort(), { signal: end.signal });
  if (signal.aborted) end.abort();
  // A remote that is removed meanwhile must not be written: such entries would never be removed or marked as missing.
  const ingest = new IndexIngest(dependencies, {
    ...task,
    url,
    isStored: stored !== undefined,
    known,
    signal: end.signal,
  });
  let ingested: IngestedIndex = { state: known, isWhole: false };
  try {
    ingested = await ingest.run();
  } catch (error) {
    if (limit.aborted) progress.fail(tookTooLong(timeLimitMs));
    else progress.fail(signal.aborted ? stoppedBy(signal) : reasonOf(error, log));
  } finally {
    // Aborts fetches that are no longer needed.
    end.abort();
  }
  if (stored && !(await remotes.remembered(url))) progress.fail(REMOVED_MEANWHILE);
  const ending = progress.finish();
  await keepRejections(runs, { progress, positions: ingest.positions, isWhole: ingested.isWhole });
  // On shutdown, the remote's stored state is kept, because the remote did not fail.
  const { state } = ingested;
  if (!signal.aborted) await remotes.saveOutcome(url, { at: now(), ...ending, state, generation: stored?.generation });
  await runs.save(progress.run());
}

export function tookTooLong(limitMs: number): string {
  const minutes = limitMs / 60_000;
  return `took longer than the ${minutes === 1 ? 'minute' : `${minutes} minutes`} that one remote may take (REMOTE_TIMEOUT_MIN)`;
}

/** Keeps the rejections of entries that were not checked in this run. */
async function keepRejections(
  runs: RunStore,
  { progress, positions, isWhole }: Pick<IndexIngest, 'positions'> & { progress: IngestProgress; isWhole: boolean },
): Promise<void> {
  if (isWhole) return runs.replaceRejections(progress.url, progress.rejections);
  if (positions.size === 0) return;
  const { items } = await runs.rejections({ url: progress.url, limit: MOST_REJECTIONS_KEPT, offset: 0 });
  const kept = items.filter((rejection) => !positions.has(rejection.url));
  await runs.replaceRejections(progress.url, [...progress.rejections, ...kept].slice(0, MOST_REJECTIONS_KEPT));
}

function stoppedBy({ reason }: AbortSignal): string {
  return reason instanceof HubError ? reason.message : 'was stopped, because the hub is closing';
}

function reasonOf(error: unknown, log: Logger): string {
  if (error instanceof FetchError || error instanceof HubError) return error.message;
  log.error({ error }, 'An ingest failed inside the hub');
  return 'failed inside the hub; its log says more';
}

function logged(result: IngestResult, log: Logger): IngestResult {
  const { url, ok, error } = result;
  const { errors: _errors, changed: _changed, ...counts } = result.stats;
  const write = ok ? log.info : log.warn;
  const shown = shownAddress(url);
  write({ url: shown, ...counts, error }, ok ? `Ingested ${shown}` : `Could not ingest ${shown}`);
  return result;
}
