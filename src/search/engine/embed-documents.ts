// Gives every text of the catalog its vector: those that are stored, and new ones for the rest.
import { setTimeout as sleep } from 'node:timers/promises';
import { type Embedder, EmbeddingError } from '../model/embedder.ts';
import type { IndexState, MissingText } from './index-state.ts';
import type { RunIndexTask } from './index-threads.ts';
import type { SearchIndex, StoredVector } from './search-index.ts';

export interface EmbeddingDependencies {
  index: SearchIndex;
  state: IndexState;
  run: RunIndexTask;
  /** At most one hub embeds at a time; the others take what it stores. */
  tryLock: (name: string) => Promise<{ release(): Promise<void> } | undefined>;
}

const TEXTS_AT_ONCE = 1_000;
const STORED_AT_ONCE = 200;
/** How many vectors are written at a time. */
const SAVED_AT_ONCE = 64;
const WAIT_FOR_OTHERS_MS = 1_000;
const LOCK = 'embedding';

/** Stops between two batches; what is stored by then is not made again. Answers how many were made. @throws EmbeddingError */
export async function embedDocuments(
  embedder: Embedder,
  { index, state, run, tryLock }: EmbeddingDependencies,
  signal: AbortSignal,
): Promise<number> {
  state.useModel(embedder.model);
  /** Digests of texts that their manifests no longer hold. */
  const outdated = new Set<string>();
  let made = 0;
  let size: number | undefined;

  while (!signal.aborted) {
    const missing = state.missing(TEXTS_AT_ONCE, (digest) => outdated.has(digest));
    if (missing.length === 0) return made;
    size ??= await sizeOf(embedder, signal);
    const rest = await takeStored(missing);
    if (rest.length === 0) continue;
    const lock = await tryLock(LOCK);
    if (!lock) {
      await sleep(WAIT_FOR_OTHERS_MS, undefined, { signal }).catch(() => {});
      continue;
    }
    try {
      // Another hub may have stored them between the look and the lock.
      made += await embedAll(await takeStored(rest));
    } finally {
      await lock.release();
    }
  }
  return made;

  /** Answers those that are not stored. */
  async function takeStored(texts: readonly MissingText[]): Promise<MissingText[]> {
    const found = new Set<string>();
    for (let start = 0; start < texts.length && !signal.aborted; start += STORED_AT_ONCE) {
      const page = texts.slice(start, start + STORED_AT_ONCE);
      const digests = page.map(({ digest }) => digest);
      const stored = await index.vectors(embedder.model, digests);
      // Those of another size are from before the model changed under its name: they are made again, and replaced.
      const usable = stored.filter(({ vector }) => vector.length === size);
      state.setVectors(page, usable);
      for (const { digest } of usable) found.add(digest);
    }
    return texts.filter(({ digest }) => !found.has(digest));
  }

  async function embedAll(texts: readonly MissingText[]): Promise<number> {
    let ready: StoredVector[] = [];
    let saved = 0;
    const save = async () => {
      await index.saveVectors(embedder.model, ready);
      state.setVectors(texts, ready);
      saved += ready.length;
      ready = [];
    };
    const readable = await contentOf(texts);
    for (let start = 0; start < readable.length && !signal.aborted; start += embedder.batchSize) {
      const batch = readable.slice(start, start + embedder.batchSize);
      const asked = batch.map(({ text }) => text);
      const vectors = await embedder.embed(asked, { signal }).catch((error) => {
        if (!signal.aborted) throw error;
      });
      // What is ready by then is saved all the same.
      if (!vectors) break;
      for (const [place, { digest }] of batch.entries()) ready.push({ digest, vector: vectors[place] as Float32Array });
      if (ready.length >= SAVED_AT_ONCE) await save();
    }
    if (ready.length > 0) await save();
    return saved;
  }

  /** The texts themselves, from the manifests that they are part of; shortest first, so that a batch is of one length. */
  async function contentOf(texts: readonly MissingText[]): Promise<{ digest: string; text: string }[]> {
    const distinct = [...new Map(texts.map((each) => [each.digest, each])).values()];
    const found: { digest: string; text: string }[] = [];
    for (let start = 0; start < distinct.length && !signal.aborted; start += STORED_AT_ONCE) {
      const page = distinct.slice(start, start + STORED_AT_ONCE);
      const stored = await index.manifests(page.map(({ uid }) => uid));
      const manifests = new Map(stored.map(({ uid, manifest }) => [uid, manifest]));
      const tasks = page.map(({ name, uid, digest }) => ({ name, digest, manifest: manifests.get(uid) ?? '' }));
      const contents = await run('texts', tasks);
      for (const [place, { digest }] of page.entries()) {
        const text = contents[place];
        // The manifest has changed since it was indexed: its new text is on its way.
        if (text === undefined) outdated.add(digest);
        else found.push({ digest, text });
      }
    }
    return found.sort((one, other) => one.text.length - other.text.length);
  }
}

async function sizeOf(embedder: Embedder, signal: AbortSignal): Promise<number> {
  const [vector] = await embedder.embed(['catalog'], { signal });
  if (!vector) throw new EmbeddingError('The embedder gave no vector');
  return vector.length;
}
