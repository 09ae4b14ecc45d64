// Gives every family the vector of its text: one that is stored, or a new one.
import { setTimeout as sleep } from 'node:timers/promises';
import { readDocument, textDigest } from '../document.ts';
import type { Embedder } from '../model/embedder.ts';
import type { SearchTables, SearchVectors } from './store.ts';

type Missing = Awaited<ReturnType<SearchVectors['missing']>>[number];
type StoredVector = Awaited<ReturnType<SearchVectors['stored']>>[number];

export interface FillDependencies {
  tables: Pick<SearchTables, 'manifests'>;
  vectors: SearchVectors;
  tryLock: (name: string) => Promise<{ release(): Promise<void> } | undefined>;
  /** Whether vectors of this model may replace those of another one: once per start, so that two hubs never take turns. */
  mayChoose: boolean;
}

const FAMILIES_AT_ONCE = 500;
const SAVED_AT_ONCE = 64;
const WAIT_FOR_OTHERS_MS = 1_000;
const LOCK = 'embedding';

/** Stops between two batches; what is saved by then is not computed again. Returns how many were computed. @throws EmbeddingError */
export async function fillVectors(
  embedder: Embedder,
  { tables, vectors, tryLock, mayChoose }: FillDependencies,
  signal: AbortSignal,
): Promise<number> {
  let computed = 0;
  while (!signal.aborted) {
    const lock = await tryLock(LOCK);
    if (lock) {
      try {
        await fill();
      } finally {
        await lock.release();
      }
      return computed;
    }
    if ((await vectors.missing(1)).length === 0) return computed;
    await sleep(WAIT_FOR_OTHERS_MS, undefined, { signal }).catch(() => {});
  }
  return computed;

  async function fill(): Promise<void> {
    const chosen = await vectors.model();
    if (chosen !== embedder.model) {
      // Not every hub may be able to run the encoder: vectors of a stand-in never replace those of another model.
      if (chosen !== null && (!mayChoose || embedder.fallback !== undefined)) return;
      await vectors.choose(embedder.model);
    }
    const [sample] = await embedder.embed(['catalog'], { signal });
    const dimensions = sample?.length ?? 0;
    const passedOver = new Set<number>();
    while (!signal.aborted) {
      const missing = (await vectors.missing(FAMILIES_AT_ONCE + passedOver.size)).filter(
        ({ family }) => !passedOver.has(family),
      );
      if (missing.length === 0) return vectors.buildIndex(embedder.model, dimensions);
      const byDigest = Map.groupBy(missing, ({ digest }) => digest);
      const stored = await vectors.stored(embedder.model, [...byDigest.keys()]);
      // Vectors of another length are from before the model changed under its name.
      const usable = stored.filter(({ vector }) => vector.length === dimensions);
      for (const batch of batches(usable, SAVED_AT_ONCE)) await save(batch, byDigest, { areStored: true });
      for (const { digest } of usable) byDigest.delete(digest);
      for (const family of await embedAll(byDigest)) passedOver.add(family);
    }
  }

  async function save(
    made: readonly StoredVector[],
    byDigest: ReadonlyMap<string, Missing[]>,
    options = { areStored: false },
  ): Promise<void> {
    const families = made.flatMap(({ digest, vector }) =>
      (byDigest.get(digest) ?? []).map(({ family }) => ({ family, digest, vector })),
    );
    if (families.length > 0) await vectors.save(embedder.model, families, options);
  }

  /** Returns the families whose text is no longer the one that was indexed: the index will follow. */
  async function embedAll(byDigest: ReadonlyMap<string, Missing[]>): Promise<number[]> {
    const firsts = [...byDigest.values()].flatMap(([first]) => first ?? []);
    const manifests = new Map(
      (await tables.manifests(firsts.map(({ uid }) => uid))).map(({ uid, manifest }) => [uid, manifest]),
    );
    const texts = firsts
      .map(({ uid, name, digest }) => ({ digest, text: readDocument(name, manifests.get(uid) ?? '').meaning }))
      .filter(({ digest, text }) => textDigest(text) === digest);
    let ready: StoredVector[] = [];
    for (const batch of batches(texts, embedder.batchSize)) {
      const made = await embedder
        .embed(
          batch.map(({ text }) => text),
          { signal },
        )
        .catch((error) => {
          if (!signal.aborted) throw error;
        });
      if (!made || signal.aborted) break;
      ready.push(...batch.map(({ digest }, place) => ({ digest, vector: made[place] as Float32Array })));
      computed += batch.length;
      if (ready.length < SAVED_AT_ONCE) continue;
      await save(ready, byDigest);
      ready = [];
    }
    await save(ready, byDigest);
    const current = new Set(texts.map(({ digest }) => digest));
    return [...byDigest].flatMap(([digest, families]) =>
      current.has(digest) ? [] : families.map(({ family }) => family),
    );
  }
}

function* batches<T>(all: readonly T[], size: number): Generator<T[]> {
  for (let start = 0; start < all.length; start += size) yield all.slice(start, start + size);
}
