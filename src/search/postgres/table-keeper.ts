// Keeps the search tables in step with the catalog, and gives their families vectors.
import { setTimeout as sleep } from 'node:timers/promises';
import { textToEmbed } from '../document.ts';
import { createTextEmbedder, type TextsToEmbed, type TryLock, whileOnlyOneEmbeds } from '../engine/embed-texts.ts';
import type { IndexSizes } from '../engine/engine.ts';
import type { FollowingIndex } from '../engine/follow-catalog.ts';
import type { Embedder } from '../model/embedder.ts';
import { indexChanges } from './indexer.ts';
import type { FamilyText, SearchReads, SearchTables, SearchVectors } from './store.ts';

export interface TableKeeper extends FollowingIndex {
  /** What the tables have, as far as it is known. */
  known(): { revision: number | undefined; sizes: IndexSizes; model: string | null };
  /** Counts again what the tables have. */
  measure(): Promise<void>;
}

export interface TableKeeperDependencies {
  tables: SearchTables;
  vectors: SearchVectors;
  reads: Pick<SearchReads, 'indexedRevision'>;
  /** At most one hub updates the tables at a time, and at most one embeds. */
  tryLock: TryLock;
}

/** While another hub updates the tables, or until a read replica has what it wrote. */
const WAIT_FOR_OTHERS_MS = 20;
const LOCK = 'search index';

export function createTableKeeper({ tables, vectors, reads, tryLock }: TableKeeperDependencies): TableKeeper {
  let sizes: IndexSizes = { entities: 0, families: 0, texts: 0, embedded: 0 };
  let model: string | null = null;
  let revision: number | undefined;
  /** When `sizes` were counted. */
  let measured: number | undefined;
  /** Whether this hub has seen to it once that there are vectors of its model. */
  let hasEmbedded = false;

  async function measure(): Promise<void> {
    measured = revision;
    [sizes, model] = await Promise.all([tables.sizes(), vectors.model()]);
  }

  async function shown(wanted: number): Promise<number | undefined> {
    // The tables never go back, so that what was read once need not be read again.
    if (revision === undefined || revision < wanted) revision = await reads.indexedRevision();
    return revision;
  }

  async function follow(signal: AbortSignal): Promise<void> {
    const lock = await tryLock(LOCK);
    if (lock) await indexChanges(tables, signal).finally(() => lock.release());
  }

  async function fill(embedder: Embedder, signal: AbortSignal): Promise<number> {
    const chosen = await vectors.model();
    if (chosen !== embedder.model) {
      // Once per start, so that two hubs never take turns. Not every hub may be able to run the encoder: vectors of a
      // stand-in never replace those of another model.
      if (chosen !== null && (hasEmbedded || embedder.fallback !== undefined)) return 0;
      await vectors.choose(embedder.model);
    }
    const filler = await createTextEmbedder(textsOf(tables, vectors, embedder.model), embedder, signal);
    let made = 0;
    while (!signal.aborted) {
      const missing = await filler.missing();
      if (missing.length === 0) {
        await vectors.buildIndex(embedder.model, filler.dimensions);
        break;
      }
      made += await filler.embed(await filler.takeStored(missing));
    }
    return made;
  }

  return {
    wanted: () => tables.catalogRevision(),
    shown,
    sizes: () => sizes,
    known: () => ({ revision, sizes, model }),
    measure,
    async refresh(signal) {
      while (!signal.aborted) {
        await follow(signal);
        const wanted = await tables.catalogRevision();
        if (((await shown(wanted)) ?? -1) >= wanted) return;
        await sleep(WAIT_FOR_OTHERS_MS, undefined, { ref: false });
      }
    },
    async mustEmbed() {
      // Searches bring the tables up to date as well.
      if (measured !== revision || sizes.embedded < sizes.texts || sizes.texts === 0) await measure();
      return vectors.isAvailable && (sizes.embedded < sizes.texts || !hasEmbedded);
    },
    async embed(embedder, signal) {
      let made: number | undefined;
      while (made === undefined && !signal.aborted && (!hasEmbedded || (await vectors.missing(1, [])).length > 0)) {
        made = await whileOnlyOneEmbeds(tryLock, signal, () => fill(embedder, signal));
      }
      hasEmbedded ||= !signal.aborted;
      await measure();
      return made ?? 0;
    },
  };
}

function textsOf(
  tables: Pick<SearchTables, 'manifests'>,
  vectors: SearchVectors,
  model: string,
): TextsToEmbed<FamilyText> {
  return {
    missing: (limit, except) => vectors.missing(limit, [...except]),
    stored: (of, digests) => vectors.stored(of, digests),
    manifests: (uids) => tables.manifests(uids),
    read: async (texts) => texts.map(textToEmbed),
    async save(made, of, areNew) {
      const byDigest = new Map(made.map(({ digest, vector }) => [digest, vector]));
      const families = of.flatMap(({ family, digest }) => {
        const vector = byDigest.get(digest);
        return vector ? [{ family, digest, vector }] : [];
      });
      await vectors.save(model, families, { areStored: !areNew });
    },
  };
}
