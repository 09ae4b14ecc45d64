// Keeps the search tables in step with the catalog, and gives their families vectors.
import { setTimeout as sleep } from 'node:timers/promises';
import { textToEmbed } from '../document.ts';
import { embedTexts, type TryLock, whileOnlyOneEmbeds } from '../engine/embed-texts.ts';
import type { IndexSizes } from '../engine/engine.ts';
import type { FollowingIndex } from '../engine/follow-catalog.ts';
import type { SearchIndex } from '../engine/search-index.ts';
import type { Embedder } from '../model/embedder.ts';
import { indexChanges } from './indexer.ts';
import type { SearchReads, SearchTables, SearchVectors } from './store.ts';

export interface TableKeeperDependencies {
  index: SearchIndex;
  tables: SearchTables;
  vectors: SearchVectors;
  reads: Pick<SearchReads, 'indexedRevision'>;
  /** At most one hub updates the tables at a time, and at most one embeds. */
  tryLock: TryLock;
}

/** While another hub updates the tables, or until a read replica has what it wrote. */
const WAIT_FOR_OTHERS_MS = 20;
const LOCK = 'search index';

export class TableKeeper implements FollowingIndex {
  /** What the tables have, as far as it is known. */
  revision: number | undefined;
  model: string | null = null;
  private counted: IndexSizes = { entities: 0, families: 0, texts: 0, embedded: 0 };
  /** The revision at which they were counted. */
  private measured: number | undefined;
  private readonly given: TableKeeperDependencies;
  /** Whether this hub has seen to it once that there are vectors of its model. */
  private hasEmbedded = false;

  constructor(given: TableKeeperDependencies) {
    this.given = given;
  }

  async measure(): Promise<void> {
    const { tables, vectors } = this.given;
    this.measured = this.revision;
    [this.counted, this.model] = await Promise.all([tables.sizes(), vectors.model()]);
  }

  async shown(wanted: number): Promise<number | undefined> {
    // The tables never go back, so that what was read once need not be read again.
    if ((this.revision ?? -1) < wanted) this.revision = await this.given.reads.indexedRevision();
    return this.revision;
  }

  sizes(): IndexSizes {
    return this.counted;
  }

  async refresh(signal: AbortSignal): Promise<void> {
    const { index, tables, tryLock } = this.given;
    while (!signal.aborted) {
      const lock = await tryLock(LOCK);
      if (lock) await indexChanges({ index, tables }, signal).finally(() => lock.release());
      const wanted = await index.revision();
      if (((await this.shown(wanted)) ?? -1) >= wanted) return;
      await sleep(WAIT_FOR_OTHERS_MS, undefined, { ref: false });
    }
  }

  async mustEmbed(): Promise<boolean> {
    const isMissing = () => this.counted.embedded < this.counted.texts;
    // Searches bring the tables up to date as well.
    if (this.measured !== this.revision || isMissing() || this.counted.texts === 0) await this.measure();
    return this.given.vectors.isAvailable && (isMissing() || !this.hasEmbedded);
  }

  async embed(embedder: Embedder, signal: AbortSignal): Promise<number> {
    const { vectors, tryLock } = this.given;
    let made: number | undefined;
    const isMissing = async () => !this.hasEmbedded || (await vectors.missing(1, [])).length > 0;
    while (made === undefined && !signal.aborted && (await isMissing())) {
      made = await whileOnlyOneEmbeds(tryLock, signal, () => this.fill(embedder, signal));
    }
    this.hasEmbedded ||= !signal.aborted;
    await this.measure();
    return made ?? 0;
  }

  private async fill(embedder: Embedder, signal: AbortSignal): Promise<number> {
    const { index, vectors } = this.given;
    const { model } = embedder;
    const chosen = await vectors.model();
    if (chosen !== model) {
      // Once per start, so that two hubs never take turns. Not every hub may be able to run the encoder: vectors of a
      // stand-in never replace those of another model.
      if (chosen !== null && (this.hasEmbedded || embedder.fallback !== undefined)) return 0;
      await vectors.choose(model);
    }
    const { made, dimensions } = await embedTexts({
      index,
      embedder,
      signal,
      missing: (limit, except) => vectors.missing(limit, [...except]),
      read: async (texts) => texts.map(textToEmbed),
      adopt: (texts) => vectors.adopt(model, texts),
      alone: (work) => work(),
    });
    if (!signal.aborted) await vectors.buildIndex(model, dimensions);
    return made;
  }
}
