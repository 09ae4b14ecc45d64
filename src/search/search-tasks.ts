// What the search thread does for the main one: keeps the collection and its vectors, and ranks.

import { randomUUID } from 'node:crypto';
import type { EntityUid } from '../catalog/uid.ts';
import { collectGarbage } from '../lib/garbage.ts';
import { candidateTexts, type Meaning } from './candidates.ts';
import { createCollection } from './collection.ts';
import type { IndexSizes, RankRequest } from './engine.ts';
import { columnsOf, type HitColumns } from './hit-columns.ts';
import { rank } from './ranker.ts';
import type { IndexEntry, StoredVector } from './search-index.ts';
import { createVectorIndex, type VectorIndex } from './vector-index.ts';

export type SearchTask =
  | { kind: 'put'; present: readonly IndexEntry[]; gone: readonly EntityUid[] }
  | { kind: 'retain'; uids: readonly EntityUid[] }
  | { kind: 'describe'; manifests: readonly { uid: EntityUid; manifest: string }[] }
  | { kind: 'missing'; limit: number }
  | { kind: 'vectors'; vectors: readonly StoredVector[] }
  | { kind: 'stored'; digests: readonly string[] }
  | { kind: 'candidates'; request: RankRequest }
  | { kind: 'rank'; request: RankRequest; now: Date; meaning: Meaning | undefined };

export interface TaskResults {
  /** Whose manifests are needed now. */
  put: EntityUid[];
  retain: undefined;
  describe: undefined;
  missing: { digest: string; text: string }[];
  vectors: undefined;
  stored: undefined;
  candidates: { among: string[] | undefined; alsoOf: string[] };
  rank: RankedColumns;
}

export interface SearchReply<K extends SearchTask['kind']> {
  /** Another one when the thread is a new one, which has forgotten everything. */
  instance: string;
  sizes: IndexSizes;
  result: TaskResults[K];
}

export interface RankedColumns extends HitColumns {
  explanations: (Record<string, unknown> | undefined)[] | undefined;
  /** Whether meaning took part. */
  usedMeaning: boolean;
}

type Handlers = {
  [K in SearchTask['kind']]: (task: Extract<SearchTask, { kind: K }>) => TaskResults[K];
};

const COLLECT_AFTER_VECTORS = 8_000;

export function createSearchTasks(): (task: SearchTask) => SearchReply<SearchTask['kind']> {
  const instance = randomUUID();
  let vectors: VectorIndex | undefined;
  /** Texts whose vectors a database holds and compares. */
  const stored = new Set<number>();
  /** Vectors since garbage was last collected: each came as a copy that nobody needs once it is in the index. */
  let arrivals = 0;
  const collection = createCollection((text) => {
    vectors?.remove(text);
    stored.delete(text);
  });
  const { texts } = collection;
  const isEmbedded = (text: number) => stored.has(text) || vectors?.has(text) === true;

  const handlers: Handlers = {
    put: ({ present, gone }) => [...new Set([...collection.remove(gone), ...collection.put(present)])],
    retain({ uids }) {
      collection.retain(uids);
      // The whole catalog has just gone through this thread.
      collectGarbage();
      return undefined;
    },
    describe({ manifests }) {
      for (const { uid, manifest } of manifests) collection.describe(uid, manifest);
      return undefined;
    },
    missing: ({ limit }) => texts.list((text) => !isEmbedded(text), limit),
    vectors({ vectors: arrived }) {
      for (const { digest, vector } of arrived) {
        const text = texts.slot(digest);
        if (text === undefined) continue;
        vectors ??= createVectorIndex(vector.length);
        // The model has changed under its name: what it gave before cannot be compared with this.
        if (vector.length !== vectors.dimensions) vectors = createVectorIndex(vector.length);
        vectors.set(text, vector);
      }
      arrivals += arrived.length;
      if (arrivals >= COLLECT_AFTER_VECTORS) {
        arrivals = 0;
        collectGarbage();
      }
      return undefined;
    },
    stored({ digests }) {
      for (const digest of digests) {
        const text = texts.slot(digest);
        if (text !== undefined) stored.add(text);
      }
      return undefined;
    },
    candidates: ({ request }) => candidateTexts(collection, request),
    rank({ request, now, meaning }) {
      // Vectors of another size cannot be compared: then words are all there is.
      const usable =
        meaning && ('cosines' in meaning || meaning.vector.length === vectors?.dimensions) ? meaning : undefined;
      const hits = rank(collection, vectors, {
        ...request,
        mode: usable ? request.mode : 'keyword',
        now,
        meaning: usable,
      });
      return {
        ...columnsOf(hits),
        explanations: request.explain ? hits.map(({ explanation }) => explanation) : undefined,
        usedMeaning: usable !== undefined,
      };
    },
  };

  return (task) => ({
    instance,
    result: (handlers[task.kind] as (task: SearchTask) => TaskResults[SearchTask['kind']])(task),
    sizes: { ...collection.size, texts: texts.size, embedded: stored.size + (vectors?.size ?? 0) },
  });
}
