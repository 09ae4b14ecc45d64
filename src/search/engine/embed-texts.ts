// Gives texts their vectors: those that are stored, and new ones for the rest.
import { setTimeout as sleep } from 'node:timers/promises';
import { type Embedder, EmbeddingError } from '../model/embedder.ts';
import type { StoredVector } from './search-index.ts';

export interface MissingText {
  digest: string;
  /** The entity whose manifest it comes from. */
  uid: string;
  name: string;
}

/** What has texts without vectors. */
export interface TextsToEmbed<Text extends MissingText> {
  /** In the order in which they are to be embedded; without those of these digests. */
  missing(limit: number, except: ReadonlySet<string>): readonly Text[] | Promise<readonly Text[]>;
  /** Vectors that were made before, as far as they are stored. */
  stored(model: string, digests: readonly string[]): Promise<StoredVector[]>;
  manifests(uids: readonly string[]): Promise<{ uid: string; manifest: string }[]>;
  /** The texts in these manifests; undefined where a manifest no longer has the text of that digest. */
  read(texts: readonly TextInManifest[]): Promise<(string | undefined)[]>;
  /** Takes the vectors of these texts over, and stores those that are new. */
  save(vectors: readonly StoredVector[], of: readonly Text[], areNew: boolean): Promise<void>;
}

export interface TextInManifest {
  name: string;
  digest: string;
  manifest: string;
}

/** At most one hub embeds at a time; the others take what it stores. */
export type TryLock = (name: string) => Promise<{ release(): Promise<void> } | undefined>;

const TEXTS_AT_ONCE = 1_000;
const STORED_AT_ONCE = 200;
/** How many vectors are written at a time. */
const SAVED_AT_ONCE = 64;
const WAIT_FOR_OTHERS_MS = 1_000;
const LOCK = 'embedding';

/** Undefined when another hub embeds; there is a pause then. */
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

export interface TextEmbedder<Text> {
  /** How long its vectors are. */
  readonly dimensions: number;
  /** Texts without vectors; those whose manifests have changed meanwhile are left out. */
  missing(): Promise<readonly Text[]>;
  /** Answers those that are not stored. */
  takeStored(texts: readonly Text[]): Promise<readonly Text[]>;
  /** Stops between two batches when the signal is aborted; what is saved by then is not made again. Answers how many were made. */
  embed(texts: readonly Text[]): Promise<number>;
}

/** @throws EmbeddingError, as its methods do. */
export async function createTextEmbedder<Text extends MissingText>(
  texts: TextsToEmbed<Text>,
  embedder: Embedder,
  signal: AbortSignal,
): Promise<TextEmbedder<Text>> {
  const [sample] = await embedder.embed(['catalog'], { signal });
  if (!sample) throw new EmbeddingError('The embedder gave no vector');
  const outdated = new Set<string>();

  /** From the manifests; shortest first, so that a batch is of one length. */
  async function read(wanted: readonly Text[]): Promise<{ digest: string; text: string }[]> {
    const found: { digest: string; text: string }[] = [];
    const distinct = [...new Map(wanted.map((each) => [each.digest, each])).values()];
    for (const page of pagesOf(distinct, STORED_AT_ONCE)) {
      if (signal.aborted) break;
      const stored = await texts.manifests(page.map(({ uid }) => uid));
      const manifests = new Map(stored.map(({ uid, manifest }) => [uid, manifest]));
      const tasks = page.map(({ name, uid, digest }) => ({ name, digest, manifest: manifests.get(uid) ?? '' }));
      const contents = await texts.read(tasks);
      for (const [place, { digest }] of page.entries()) {
        const text = contents[place];
        // The manifest has changed since it was indexed: its new text is on its way.
        if (text === undefined) outdated.add(digest);
        else found.push({ digest, text });
      }
    }
    return found.sort((one, other) => one.text.length - other.text.length);
  }

  return {
    dimensions: sample.length,
    missing: async () => texts.missing(TEXTS_AT_ONCE, outdated),
    async takeStored(wanted) {
      const found = new Set<string>();
      for (const page of pagesOf(wanted, STORED_AT_ONCE)) {
        if (signal.aborted) break;
        const digests = new Set(page.map(({ digest }) => digest));
        const stored = await texts.stored(embedder.model, [...digests]);
        // Those of another size are from before the model changed under its name: they are made again, and replaced.
        const usable = stored.filter(({ vector }) => vector.length === sample.length);
        if (usable.length > 0) await texts.save(usable, page, false);
        for (const { digest } of usable) found.add(digest);
      }
      return wanted.filter(({ digest }) => !found.has(digest));
    },
    async embed(wanted) {
      let ready: StoredVector[] = [];
      let made = 0;
      const save = async () => {
        if (ready.length > 0) await texts.save(ready, wanted, true);
        made += ready.length;
        ready = [];
      };
      for (const batch of pagesOf(await read(wanted), embedder.batchSize)) {
        if (signal.aborted) break;
        const asked = batch.map(({ text }) => text);
        const vectors = await embedder.embed(asked, { signal }).catch((error) => {
          if (!signal.aborted) throw error;
        });
        // What is ready by then is saved all the same.
        if (!vectors) break;
        ready.push(...batch.map(({ digest }, place) => ({ digest, vector: vectors[place] as Float32Array })));
        if (ready.length >= SAVED_AT_ONCE) await save();
      }
      await save();
      return made;
    },
  };
}

export function* pagesOf<T>(all: readonly T[], size: number): Generator<T[]> {
  for (let start = 0; start < all.length; start += size) yield all.slice(start, start + size);
}
