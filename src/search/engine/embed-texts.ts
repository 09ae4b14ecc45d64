// Provides vectors for texts: loads stored vectors and computes the missing ones.
import { setTimeout as sleep } from 'node:timers/promises';
import { type Embedder, EmbeddingError } from '../model/embedder.ts';
import type { SearchIndex, StoredVector } from './search-index.ts';

export interface MissingText {
  digest: string;
  /** The entity whose manifest contains the text. */
  uid: string;
  name: string;
}

/** Texts that need vectors, and the means to compute them. */
export interface EmbeddingTask<Text extends MissingText> {
  index: Pick<SearchIndex, 'manifests' | 'vectors' | 'saveVectors'>;
  embedder: Embedder;
  /** Stops between two batches when aborted; vectors saved by then are not computed again. */
  signal: AbortSignal;
  /** The next texts to embed, in order, except those with these digests. */
  missing(limit: number, except: ReadonlySet<string>): readonly Text[] | Promise<readonly Text[]>;
  /** The texts in these manifests; undefined where a manifest no longer contains the text with that digest. */
  read(texts: readonly TextInManifest[]): Promise<(string | undefined)[]>;
  adopt(texts: readonly (Text & StoredVector)[]): void | Promise<void>;
  /** Runs work that only one hub may do at a time; undefined when another hub is doing it. */
  alone<Result>(work: () => Promise<Result>): Promise<Result | undefined>;
}

interface Run<Text extends MissingText> extends EmbeddingTask<Text> {
  dimensions: number;
  /** Digests of texts whose manifests changed after indexing; their new texts are about to be indexed. */
  outdated: Set<string>;
}

export type TextInManifest = MissingText & { manifest: string };

export type TryLock = (name: string) => Promise<{ release(): Promise<void> } | undefined>;

const TEXTS_AT_ONCE = 1_000;
const STORED_AT_ONCE = 200;
/** How many vectors are saved at a time. */
const SAVED_AT_ONCE = 64;
const WAIT_FOR_OTHERS_MS = 1_000;
const LOCK = 'embedding';

/** At most one hub embeds at a time; the others reuse the vectors it stores. Undefined, after a pause, when another hub embeds. */
export async function whileOnlyOneEmbeds<Result>(
  tryLock: TryLock,
  signal: AbortSignal,
  work: () => Promise<Result>,
): Promise<Result | undefined> {
  const lock = await tryLock(LOCK);
  if (lock) return work().finally(() => lock.release());
  await sleep(WAIT_FOR_OTHERS_MS, undefined, { signal }).catch(() => {});
  return undefined;
}

/** Returns how many vectors were computed, and their dimensions. @throws EmbeddingError */
export async function embedTexts<Text extends MissingText>(task: EmbeddingTask<Text>) {
  const { embedder, signal } = task;
  const [sample] = await embedder.embed(['catalog'], { signal });
  if (!sample) throw new EmbeddingError('The embedder gave no vector');
  const run = { ...task, dimensions: sample.length, outdated: new Set<string>() };
  let made = 0;
  while (!signal.aborted) {
    const missing = await task.missing(TEXTS_AT_ONCE, run.outdated);
    if (missing.length === 0) break;
    const rest = await takeStored(missing, run);
    // Another hub may have stored them before this one got the lock.
    const embedRest = async () => makeVectors(await takeStored(rest, run), run);
    if (rest.length > 0) made += (await task.alone(embedRest)) ?? 0;
  }
  return { made, dimensions: sample.length };
}

/** Returns the texts that have no stored vector. */
async function takeStored<Text extends MissingText>(wanted: readonly Text[], run: Run<Text>): Promise<readonly Text[]> {
  const found = new Set<string>();
  for (const page of pagesOf(wanted, STORED_AT_ONCE)) {
    if (run.signal.aborted) break;
    const stored = await run.index.vectors(run.embedder.model, [...new Set(page.map(({ digest }) => digest))]);
    // A vector of another size was computed before the model changed under the same name: it is recomputed and replaced.
    const usable = stored.filter(({ vector }) => vector.length === run.dimensions);
    await adopt(page, usable, run);
    for (const { digest } of usable) found.add(digest);
  }
  return wanted.filter(({ digest }) => !found.has(digest));
}

async function makeVectors<Text extends MissingText>(wanted: readonly Text[], run: Run<Text>): Promise<number> {
  const { index, embedder, signal } = run;
  let ready: StoredVector[] = [];
  let made = 0;
  const save = async () => {
    await index.saveVectors(embedder.model, ready);
    await adopt(wanted, ready, run);
    made += ready.length;
    ready = [];
  };
  for (const batch of pagesOf(await readTexts(wanted, run), embedder.batchSize)) {
    if (signal.aborted) break;
    const asked = batch.map(({ text }) => text);
    const vectors = await embedder.embed(asked, { signal }).catch((error) => {
      if (!signal.aborted) throw error;
    });
    // The vectors that are ready are still saved.
    if (!vectors) break;
    ready.push(...batch.map(({ digest }, position) => ({ digest, vector: vectors[position] as Float32Array })));
    if (ready.length >= SAVED_AT_ONCE) await save();
  }
  await save();
  return made;
}

async function adopt<Text extends MissingText>(
  texts: readonly Text[],
  vectors: readonly StoredVector[],
  run: Run<Text>,
) {
  const byDigest = new Map(vectors.map(({ digest, vector }) => [digest, vector]));
  const embedded = texts.flatMap((text) => {
    const vector = byDigest.get(text.digest);
    return vector ? [{ ...text, vector }] : [];
  });
  if (embedded.length > 0) await run.adopt(embedded);
}

/** Sorted by length, so that the texts of a batch are about equally long. */
async function readTexts<Text extends MissingText>(wanted: readonly Text[], run: Run<Text>) {
  const found: { digest: string; text: string }[] = [];
  const distinct = [...new Map(wanted.map((each) => [each.digest, each])).values()];
  for (const page of pagesOf(distinct, STORED_AT_ONCE)) {
    if (run.signal.aborted) break;
    const stored = await run.index.manifests(page.map(({ uid }) => uid));
    const manifests = new Map(stored.map(({ uid, manifest }) => [uid, manifest]));
    const tasks = page.map((text) => ({ ...text, manifest: manifests.get(text.uid) ?? '' }));
    for (const [position, text] of (await run.read(tasks)).entries()) {
      const { digest } = page[position] as Text;
      if (text === undefined) run.outdated.add(digest);
      else found.push({ digest, text });
    }
  }
  return found.sort((one, other) => one.text.length - other.text.length);
}

export function* pagesOf<T>(all: readonly T[], size: number): Generator<T[]> {
  for (let start = 0; start < all.length; start += size) yield all.slice(start, start + size);
}
