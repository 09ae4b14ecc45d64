// Keeps the search tables in sync with the catalog, and embeds their texts.
import { setTimeout as sleep } from 'node:timers/promises';
import { patientLock } from '../../lib/patient-lock.ts';
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

/** Polling interval while another hub updates the tables, or until a read replica has caught up. */
const WAIT_FOR_OTHERS_MS = 20;
const LOCK = 'search index';

export class TableKeeper implements FollowingIndex {
  /** The last known revision of the tables. */
  revision: number | undefined;
  model: string | null = null;
  private counted: IndexSizes = { entities: 0, families: 0, texts: 0, embedded: 0 };
  /** The revision at which the sizes were counted. */
  private measured: number | undefined;
  private readonly given: TableKeeperDependencies;
  /** Whether this hub has embedded all texts with its model once. */
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
    // The revision of the tables never decreases, so a known value need not be read again.
    if ((this.revision ?? -1) < wanted) this.revision = await this.given.reads.indexedRevision();
    return this.revision;
  }

  sizes(): IndexSizes {
    return this.counted;
  }

  async refresh(signal: AbortSignal): Promise<void> {
    const { index, tables } = this.given;
    const tryLock = patientLock(this.given.tryLock);
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
    // Searches update the tables too.
    if (this.measured !== this.revision || isMissing() || this.counted.texts === 0) await this.measure();
    return this.given.vectors.isAvailable && (isMissing() || !this.hasEmbedded);
  }

  async embed(embedder: Embedder, signal: AbortSignal): Promise<number> {
    const { vectors } = this.given;
    const tryLock = patientLock(this.given.tryLock);
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
      // Only once per start, so that two hubs do not keep switching models. A hub that cannot run the encoder never replaces
      // another model's vectors with those of its fallback.
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
