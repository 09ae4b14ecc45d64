// Converts fetched texts to entities: a few short ones on the main thread, all others in workers.

import type { EntityText } from '../../catalog/entity.ts';
import { createTimedPool } from '../../lib/workers/timed-workers.ts';
import type { FailedManifest, FetchedManifest, FetchedText } from '../fetching/fetch-manifest.ts';
import { isLight } from '../light-text.ts';
import type { Member } from '../store.ts';
import type { ManifestText } from './entity-from-text.ts';
import readManifests, { type ManifestAnswer } from './manifest-worker.ts';

export interface ReadManifest {
  outcome: 'manifest';
  url: string;
  entity: EntityText;
  member: Member;
}

/** The outcome of an index entry after its text is parsed. */
export type ManifestOutcome = Exclude<FetchedManifest, FetchedText> | ReadManifest;

export interface ManifestReader {
  /** Returns one result per text, in order. Rejects only if `signal` is aborted. */
  read(fetched: readonly FetchedText[], signal: AbortSignal): Promise<(ReadManifest | FailedManifest)[]>;
  close(): Promise<void>;
}

/** The main thread parses this many light ones in two milliseconds, less than a transfer to a worker takes. */
const MOST_IN_PLACE = 20;
/** Several, so that a slow text does not delay other remotes. */
const THREADS = 2;
const READ_TIMEOUT_MS = 30_000;

export function createManifestReader(): ManifestReader {
  const readers = createTimedPool<ManifestText[], ManifestAnswer[]>({
    module: new URL('./manifest-worker', import.meta.url),
    importer: import.meta.url,
    threads: THREADS,
    longestQueue: 1000,
    heapMb: 512,
    timeoutMs: READ_TIMEOUT_MS,
  });

  async function onThread(texts: readonly FetchedText[], signal: AbortSignal): Promise<ManifestAnswer[]> {
    try {
      return await readers.run(
        texts.map(({ url, text, sourceUrl }) => ({ url, text, sourceUrl })),
        { signal },
      );
    } catch (error) {
      signal.throwIfAborted();
      if (texts.length === 1) return [{ ok: false, error: (error as Error).message }];
      // Parses them separately, so that the faulty one does not affect the others.
      return (await Promise.all(texts.map((each) => onThread([each], signal)))).flat();
    }
  }

  async function answers(
    fetched: readonly FetchedText[],
    signal: AbortSignal,
  ): Promise<Map<FetchedText, ManifestAnswer>> {
    const light = fetched.filter(isLight);
    const heavy = fetched.filter((each) => !isLight(each));
    const isFew = light.length <= MOST_IN_PLACE;
    const read = await Promise.all([
      isFew ? readManifests(light) : onThread(light, signal),
      ...heavy.map((each) => onThread([each], signal)),
    ]);
    const inOrder = [...light, ...heavy];
    return new Map(read.flat().map((answer, index) => [inOrder[index] as FetchedText, answer]));
  }

  return {
    async read(fetched, signal) {
      const read = await answers(fetched, signal);
      return fetched.map((each) => {
        const { url, member } = each;
        const answer = read.get(each) as ManifestAnswer;
        if (!answer.ok) return { outcome: 'failed', url, error: answer.error, isTemporary: false };
        return { outcome: 'manifest', url, entity: answer.entity, member: { ...member, uid: answer.uid } };
      });
    },
    close: () => readers.destroy(),
  };
}

/** Rejects only if `signal` is aborted. */
export async function readAll(
  reader: Pick<ManifestReader, 'read'>,
  fetched: readonly FetchedManifest[],
  signal: AbortSignal,
): Promise<ManifestOutcome[]> {
  const texts = fetched.filter((each) => each.outcome === 'fetched');
  const others = fetched.filter((each) => each.outcome !== 'fetched');
  return [...others, ...(await reader.read(texts, signal))];
}
