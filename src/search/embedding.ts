// Gives every text of the catalog its vector: those that are stored, and new ones for the rest.
import { setTimeout as sleep } from 'node:timers/promises';
import { type Embedder, EmbeddingError } from './embedder.ts';
import type { SearchIndex, StoredVector } from './search-index.ts';
import type { SearchThread } from './search-thread.ts';

export interface EmbeddingDependencies {
  index: SearchIndex;
  thread: SearchThread;
  /** At most one hub embeds at a time; the others take what it stores. */
  tryLock: (name: string) => Promise<{ release(): Promise<void> } | undefined>;
}

const TEXTS_AT_ONCE = 1_000;
const STORED_AT_ONCE = 200;
/** How many vectors are written in one go. */
const SAVED_AT_ONCE = 64;
const WAIT_FOR_OTHERS_MS = 1_000;
const LOCK = 'embedding';

/** Stops between two batches; what is stored by then is not made again. Answers how many were made. @throws EmbeddingError */
export async function embedMissing(
  embedder: Embedder,
  { index, thread, tryLock }: EmbeddingDependencies,
  signal: AbortSignal,
): Promise<number> {
  const takeIn = async (vectors: readonly StoredVector[]) => {
    // Where the database compares vectors, they need not be here.
    if (index.nearest) await thread.run({ kind: 'stored', digests: vectors.map(({ digest }) => digest) });
    else await thread.run({ kind: 'vectors', vectors });
  };
  const tried = new Set<string>();
  let size: number | undefined;
  let made = 0;

  while (!signal.aborted) {
    const missing = (await thread.run({ kind: 'missing', limit: TEXTS_AT_ONCE })).filter(
      ({ digest }) => !tried.has(digest),
    );
    if (missing.length === 0) return made;
    size ??= await sizeOf(embedder, signal);
    const known = await takeStored(missing, size);
    const rest = missing.filter(({ digest }) => !known.has(digest));
    if (rest.length === 0) continue;
    const lock = await tryLock(LOCK);
    if (!lock) {
      await sleep(WAIT_FOR_OTHERS_MS, undefined, { signal }).catch(() => {});
      continue;
    }
    try {
      // Another hub may have stored them between the look and the lock.
      const others = await takeStored(rest, size);
      made += await embedAll(rest.filter(({ digest }) => !others.has(digest)));
    } finally {
      await lock.release();
    }
  }
  return made;

  async function takeStored(texts: readonly { digest: string }[], expected: number): Promise<Set<string>> {
    const known = new Set<string>();
    for (let start = 0; start < texts.length && !signal.aborted; start += STORED_AT_ONCE) {
      const digests = texts.slice(start, start + STORED_AT_ONCE).map(({ digest }) => digest);
      const stored = await index.vectors(embedder.model, digests);
      // Those of another size are from before the model changed under its name: made again, and replaced.
      const usable = stored.filter(({ vector }) => vector.length === expected);
      await takeIn(usable);
      for (const { digest } of usable) {
        known.add(digest);
        tried.add(digest);
      }
    }
    return known;
  }

  async function embedAll(texts: readonly { digest: string; text: string }[]): Promise<number> {
    let ready: StoredVector[] = [];
    let saved = 0;
    const save = async () => {
      await index.saveVectors(embedder.model, ready);
      await takeIn(ready);
      saved += ready.length;
      ready = [];
    };
    for (let start = 0; start < texts.length && !signal.aborted; start += embedder.batchSize) {
      const batch = texts.slice(start, start + embedder.batchSize);
      const asked = batch.map(({ text }) => text);
      const vectors = await embedder.embed(asked, { signal }).catch((error) => {
        if (!signal.aborted) throw error;
      });
      // What is ready by then is saved all the same.
      if (!vectors) break;
      for (const [place, { digest }] of batch.entries()) {
        tried.add(digest);
        ready.push({ digest, vector: vectors[place] as Float32Array });
      }
      if (ready.length >= SAVED_AT_ONCE) await save();
    }
    if (ready.length > 0) await save();
    return saved;
  }
}

async function sizeOf(embedder: Embedder, signal: AbortSignal): Promise<number> {
  const [vector] = await embedder.embed(['catalog'], { signal });
  if (!vector) throw new EmbeddingError('The embedder gave no vector');
  return vector.length;
}
