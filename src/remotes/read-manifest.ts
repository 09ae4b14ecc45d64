// Fetched texts → entities: short JSON in place, everything else on a thread of its own.
import { setImmediate as othersFirst } from 'node:timers/promises';
import type { Entity } from '../catalog/entity.ts';
import { HubError } from '../errors.ts';
import { createTimedPool } from '../lib/timed-workers.ts';
import { entityFromText, type ManifestText } from './entity-from-text.ts';
import type { FailedManifest, FetchedManifest, FetchedText } from './fetch-manifest.ts';
import type { ManifestAnswer } from './manifest-worker.ts';
import type { Member } from './store.ts';

export interface ReadManifest {
  outcome: 'manifest';
  url: string;
  entity: Entity;
  member: Member;
}

/** What became of an entry of an index, once its text was read. */
export type ManifestOutcome = Exclude<FetchedManifest, FetchedText> | ReadManifest;

export interface ManifestReader {
  /** Rejects only when `signal` is aborted. */
  read(fetched: FetchedText, signal: AbortSignal): Promise<ReadManifest | FailedManifest>;
  close(): Promise<void>;
}

/** Up to this many characters the main thread needs a millisecond or two. Nearly all manifests are shorter. */
const LONGEST_IN_PLACE = 16_000;
/** As many as remotes are ingested at once: one that takes long to read holds up no other. */
const THREADS = 2;
const READ_TIMEOUT_MS = 30_000;

export function createManifestReader(): ManifestReader {
  const readers = createTimedPool<ManifestText, ManifestAnswer>({
    module: new URL('./manifest-worker', import.meta.url),
    importer: import.meta.url,
    threads: THREADS,
    longestQueue: 1000,
    heapMb: 512,
    timeoutMs: READ_TIMEOUT_MS,
  });

  async function onThread({ url, text, sourceUrl }: FetchedText, signal: AbortSignal): Promise<ManifestAnswer> {
    try {
      return await readers.run({ url, text, sourceUrl }, { signal });
    } catch (error) {
      signal.throwIfAborted();
      return { ok: false, error: (error as Error).message };
    }
  }

  return {
    async read(fetched, signal) {
      const { url } = fetched;
      const answer = isLight(fetched) ? inPlace(fetched) : await onThread(fetched, signal);
      if (!answer.ok) return { outcome: 'failed', url, error: answer.error, isTemporary: false };
      const { entity } = answer;
      return { outcome: 'manifest', url, entity, member: { ...fetched.member, uid: entity.uid } };
    },
    close: () => readers.destroy(),
  };
}

/** One after the other, with others between them: to read a short one takes a tenth of a millisecond. */
const READ_IN_ONE_GO = 20;

/** Rejects only when `signal` is aborted. */
export async function readAll(
  reader: Pick<ManifestReader, 'read'>,
  fetched: readonly FetchedManifest[],
  signal: AbortSignal,
): Promise<ManifestOutcome[]> {
  const outcomes: ManifestOutcome[] = [];
  let read = 0;
  for (const each of fetched) {
    outcomes.push(each.outcome === 'fetched' ? await reader.read(each, signal) : each);
    if (each.outcome === 'fetched') read += 1;
    // What is not read takes no time, and nobody need wait for its turn.
    if (each.outcome === 'fetched' && read % READ_IN_ONE_GO === 0) await othersFirst();
  }
  return outcomes;
}

/** YAML never is: eight kilobytes of it can take a tenth of a second. */
function isLight({ url, text }: ManifestText): boolean {
  return text.length <= LONGEST_IN_PLACE && /^\s*[[{]/.test(text) && !/\.ya?ml(?:[?#]|$)/i.test(url);
}

function inPlace(fetched: ManifestText): ManifestAnswer {
  try {
    return { ok: true, entity: entityFromText(fetched) };
  } catch (error) {
    // Whatever else a text may bring about is its own affair: those beside it are read all the same.
    return { ok: false, error: error instanceof HubError ? error.message : 'is too much to read' };
  }
}
