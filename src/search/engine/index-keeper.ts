// Keeps the index in sync with the catalog: loads it from a file or builds it, then applies changes.
import pLimit from 'p-limit';
import { patientLock } from '../../lib/patient-lock.ts';
import type { Logger } from '../../lib/world.ts';
import { describing, type Family } from '../index/segment-builder.ts';
import type { Embedder } from '../model/embedder.ts';
import { embedTexts, pagesOf, type TryLock, whileOnlyOneEmbeds } from './embed-texts.ts';
import type { IndexSizes } from './engine.ts';
import type { FollowingIndex } from './follow-catalog.ts';
import type { IndexState } from './index-state.ts';
import type { RunIndexTask } from './index-threads.ts';
import { type FamilyName, familyKey, type IndexEntry, type SearchIndex } from './search-index.ts';

export interface IndexKeeperDependencies {
  index: SearchIndex;
  state: IndexState;
  run: RunIndexTask;
  tryLock: TryLock;
  /** If undefined, the index is rebuilt at every start. */
  path: string | undefined;
  log: Logger;
}

/** Entities read and indexed at a time. */
const PAGE_SIZE = 4_000;
const MANIFESTS_AT_ONCE = 200;
/** Building a smaller index is as fast as loading it. */
const LEAST_SAVED = 50;

export class IndexKeeper implements FollowingIndex {
  /** The catalog revision of the index; undefined while it is being built. */
  revision: number | undefined;
  private readonly given: IndexKeeperDependencies;
  private isModelChecked = false;
  private hasLookedForFile: boolean;
  private isMerging = false;
  /** A change names the documents that it replaces by their segments, so these stay until it is applied. */
  private readonly alone = pLimit(1);
  /** The state key of the saved file. */
  private saved = '';

  constructor(given: IndexKeeperDependencies) {
    this.given = given;
    this.hasLookedForFile = given.path === undefined;
  }

  async shown(): Promise<number | undefined> {
    return this.revision;
  }

  sizes(): IndexSizes {
    return this.given.state.sizes();
  }

  async refresh(signal: AbortSignal): Promise<void> {
    if (!this.hasLookedForFile) await this.restore();
    while (!signal.aborted) {
      if (this.revision === undefined) await this.load(signal);
      else if (this.revision === (await this.given.index.revision())) return;
      else await this.follow(this.revision, signal);
    }
  }

  async mustEmbed(): Promise<boolean> {
    const { texts, embedded } = this.sizes();
    return texts > 0 && (embedded < texts || !this.isModelChecked);
  }

  async embed(embedder: Embedder, signal: AbortSignal): Promise<number> {
    const { index, state, run } = this.given;
    const tryLock = patientLock(this.given.tryLock);
    this.isModelChecked = true;
    state.useModel(embedder.model);
    const { made } = await embedTexts({
      index,
      embedder,
      signal,
      missing: (limit, except) => state.missing(limit, except),
      read: (texts) => run('texts', texts),
      adopt: (texts) => state.setVectors(texts),
      alone: (work) => whileOnlyOneEmbeds(tryLock, signal, work),
    });
    if (!signal.aborted) await this.save();
    return made;
  }

  async save(): Promise<void> {
    const { index, state, run, path } = this.given;
    const { revision, stateKey: key } = this;
    if (path === undefined || revision === undefined || key === this.saved || this.sizes().families < LEAST_SAVED)
      return;
    const stamp = await index.stamp(revision);
    if (stamp === undefined || this.stateKey !== key) return;
    await run('save', path, { revision, stamp, model: state.model ?? null }, state.parts);
    this.saved = key;
  }

  private get stateKey(): string {
    return [this.revision, this.given.state.version, this.sizes().embedded].join(' ');
  }

  private async restore(): Promise<void> {
    const { index, state, run, path } = this.given;
    this.hasLookedForFile = true;
    const file = await run('read', path as string);
    if (!file || (await index.stamp(file.key.revision)) !== file.key.stamp) return;
    state.restore(file.segments, file.key.model ?? undefined);
    this.revision = file.key.revision;
    this.saved = this.stateKey;
  }

  /** Indexes the whole catalog; the current index stays searchable meanwhile. */
  private async load(signal: AbortSignal): Promise<void> {
    const { index, state } = this.given;
    this.revision = undefined;
    // Read first: changes made while pages are read are applied afterward.
    const begun = await index.revision();
    const before = new Set(state.parts.map(({ id }) => id));
    for (let last: FamilyName | undefined; !signal.aborted; ) {
      const page = await index.families(last, PAGE_SIZE);
      if (page.length === 0) {
        state.drop(before);
        this.revision = begun;
        return;
      }
      await this.indexNames(distinctNames(page), page);
      void this.mergeIfNeeded(before);
      last = page.at(-1);
    }
  }

  private async follow(known: number, signal: AbortSignal): Promise<void> {
    const { index, state, run } = this.given;
    const changes = await index.changes(known);
    if (!changes) return this.load(signal);
    // An entity may have had another name before.
    const before = await run('namesOf', state.parts, changes.uids);
    const names = distinctNames([...changes.present, ...before]);
    if (names.length > 0) await this.indexNames(names, await index.versionsOf(names));
    this.revision = changes.revision;
    void this.mergeIfNeeded(new Set());
  }

  /** Replaces what the index contains for these names with what the catalog contains now. */
  private async indexNames(names: readonly FamilyName[], entries: readonly IndexEntry[]): Promise<void> {
    const { index, state, run } = this.given;
    const families = await withManifests(entries, index);
    await this.alone(async () => {
      const { model } = state;
      const change = await run('index', state.parts, families, names);
      // The vectors of another model are useless.
      state.change(model === state.model ? change : { ...change, vectors: undefined });
    });
  }

  /** Runs in the background; changes are still applied meanwhile. */
  private async mergeIfNeeded(except: ReadonlySet<number>): Promise<void> {
    const { state, run, log } = this.given;
    if (this.isMerging) return;
    this.isMerging = true;
    try {
      for (;;) {
        const ids = state.toMerge(except);
        if (ids.length === 0) break;
        const parts = state.parts.filter(({ id }) => ids.includes(id));
        const { model } = state;
        const merged = await run('merge', parts);
        await this.alone(() => state.replace(ids, model === state.model ? merged : { ...merged, vectors: undefined }));
      }
    } catch (error) {
      log.warn({ reason: String(error) }, 'Parts of the search index could not be merged');
    }
    this.isMerging = false;
  }
}

async function withManifests(entries: readonly IndexEntry[], index: Pick<SearchIndex, 'manifests'>): Promise<Family[]> {
  const families = [...Map.groupBy(entries, familyKey).values()];
  const uids = families.map((versions) => describing(versions).uid);
  const manifests = new Map<string, string>();
  for (const page of pagesOf(uids, MANIFESTS_AT_ONCE)) {
    for (const { uid, manifest } of await index.manifests(page)) manifests.set(uid, manifest);
  }
  return families.map((versions, position) => ({ versions, manifest: manifests.get(uids[position] as string) }));
}

function distinctNames(names: readonly FamilyName[]): FamilyName[] {
  return [...new Map(names.map(({ type, name }) => [familyKey({ type, name }), { type, name }])).values()];
}
