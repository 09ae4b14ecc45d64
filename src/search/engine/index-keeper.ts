// Keeps the index in step with the catalog: from a file, from all of the catalog, then by what changes.
import type { Logger } from '../../lib/world.ts';
import { describing, type Family } from '../index/segment-builder.ts';
import { createTextEmbedder, pagesOf, type TextsToEmbed, type TryLock, whileOnlyOneEmbeds } from './embed-texts.ts';
import type { FollowingIndex } from './follow-catalog.ts';
import type { IndexState, TextWithoutVector } from './index-state.ts';
import type { RunIndexTask } from './index-threads.ts';
import { segmentsToMerge } from './merge-policy.ts';
import type { FamilyName, IndexEntry, SearchIndex } from './search-index.ts';

export interface IndexKeeper extends FollowingIndex {
  /** The revision of the catalog that the index shows; undefined while it is being built. */
  revision(): number | undefined;
  /** Writes the index into its file, if it has changed since it was written last. */
  save(): Promise<void>;
}

export interface IndexKeeperDependencies {
  index: SearchIndex;
  state: IndexState;
  run: RunIndexTask;
  tryLock: TryLock;
  /** Undefined: the index is built at every start. */
  path: string | undefined;
  log: Logger;
}

/** Entities that are read and indexed at a time. */
const PAGE_SIZE = 4_000;
const MANIFESTS_AT_ONCE = 200;
/** A smaller index is built as fast as it is read. */
const LEAST_SAVED = 50;
const SAVE_EVERY_MS = 60_000;
/** Saving takes at most one part in so many of the time: a large index is saved less often. */
const SAVE_SHARE = 50;

export function createIndexKeeper(dependencies: IndexKeeperDependencies): IndexKeeper {
  const { index, state, run, tryLock, path, log } = dependencies;
  const texts = textsOf(dependencies);
  let shown: number | undefined;
  let isModelChecked = false;
  let saveAgainAt = performance.now() + SAVE_EVERY_MS;
  let merging: Promise<void> | undefined;
  let hasLookedForFile = path === undefined;
  let saved = '';

  /** Indexes what the catalog now holds of these names, in place of what the index has of them. */
  async function indexNames(names: readonly FamilyName[], entries: readonly IndexEntry[]): Promise<void> {
    const families = await withManifests(entries);
    const change = await run('index', state.parts(), families, names);
    state.change(change);
  }

  async function withManifests(entries: readonly IndexEntry[]): Promise<Family[]> {
    const families = [...Map.groupBy(entries, nameOf).values()];
    const uids = families.flatMap((versions) => describing(versions)?.uid ?? []);
    const manifests = new Map<string, string>();
    for (const page of pagesOf(uids, MANIFESTS_AT_ONCE)) {
      for (const { uid, manifest } of await index.manifests(page)) manifests.set(uid, manifest);
    }
    return families.map((versions) => ({ versions, manifest: manifests.get(describing(versions)?.uid ?? '') }));
  }

  async function restore(): Promise<void> {
    hasLookedForFile = true;
    const file = await run('read', path as string);
    if (!file || (await index.stamp(file.key.revision)) !== file.key.stamp) return;
    state.restore(file.segments, file.key.model ?? undefined);
    shown = file.key.revision;
    saved = stateKey();
  }

  /** All of the catalog, while what is there can be searched. */
  async function load(signal: AbortSignal): Promise<void> {
    shown = undefined;
    // Asked first: what changes while pages are read is read again.
    const begun = await index.revision();
    const before = new Set(state.parts().map(({ id }) => id));
    for (let last: FamilyName | undefined; !signal.aborted; ) {
      const page = await index.families(last, PAGE_SIZE);
      if (page.length === 0) {
        state.drop(before);
        shown = begun;
        return;
      }
      await indexNames(distinctNames(page), page);
      mergeIfNeeded(before);
      last = page.at(-1);
    }
  }

  async function follow(known: number, signal: AbortSignal): Promise<void> {
    const changes = await index.changes(known);
    if (!changes) return load(signal);
    // An entity may have had another name before.
    const before = await run('namesOf', state.parts(), changes.uids);
    const names = distinctNames([...changes.present, ...before]);
    if (names.length > 0) await indexNames(names, await index.versionsOf(names));
    shown = changes.revision;
    mergeIfNeeded(new Set());
  }

  async function refresh(signal: AbortSignal): Promise<void> {
    if (!hasLookedForFile) await restore();
    while (!signal.aborted) {
      if (shown === undefined) await load(signal);
      else if (shown === (await index.revision())) return;
      else await follow(shown, signal);
    }
  }

  /** In the background; changes go on meanwhile. */
  function mergeIfNeeded(except: ReadonlySet<number>): void {
    if (merging) return;
    const ids = segmentsToMerge(state.segments().filter(({ id }) => !except.has(id)));
    if (ids.length === 0) return;
    const parts = state.parts().filter(({ id }) => ids.includes(id));
    merging = run('merge', parts)
      .then((merged) => {
        merging = undefined;
        state.replace(ids, merged);
        mergeIfNeeded(except);
      })
      .catch((error) => {
        merging = undefined;
        log.warn({ reason: String(error) }, 'Parts of the search index could not be merged');
      });
  }

  const stateKey = () => [shown, state.version(), state.sizes().embedded].join(' ');

  async function save(): Promise<void> {
    const key = stateKey();
    const revision = shown;
    if (path === undefined || revision === undefined || key === saved || state.sizes().families < LEAST_SAVED) return;
    const stamp = await index.stamp(revision);
    if (stamp === undefined || stateKey() !== key) return;
    await run('save', path, { revision, stamp, model: state.model ?? null }, state.parts());
    saved = key;
  }

  return {
    wanted: () => index.revision(),
    shown: async () => shown,
    revision: () => shown,
    sizes: state.sizes,
    refresh,
    async mustEmbed() {
      const { texts: all, embedded } = state.sizes();
      return all > 0 && (embedded < all || !isModelChecked);
    },
    async embed(embedder, signal) {
      isModelChecked = true;
      state.useModel(embedder.model);
      const vectors = await createTextEmbedder(texts, embedder, signal);
      let made = 0;
      while (!signal.aborted) {
        const missing = await vectors.missing();
        if (missing.length === 0) break;
        const rest = await vectors.takeStored(missing);
        // Another hub may have stored them between the look and the lock.
        const embedRest = async () => vectors.embed(await vectors.takeStored(rest));
        if (rest.length > 0) made += (await whileOnlyOneEmbeds(tryLock, signal, embedRest)) ?? 0;
      }
      if (!signal.aborted) await save();
      return made;
    },
    async tidyUp() {
      const began = performance.now();
      if (began < saveAgainAt) return;
      saveAgainAt = Number.POSITIVE_INFINITY;
      await save().finally(() => {
        const now = performance.now();
        saveAgainAt = now + Math.max(SAVE_EVERY_MS, SAVE_SHARE * (now - began));
      });
    },
    save,
  };
}

function textsOf({ index, state, run }: IndexKeeperDependencies): TextsToEmbed<TextWithoutVector> {
  return {
    missing: state.missing,
    stored: (model, digests) => index.vectors(model, digests),
    manifests: (uids) => index.manifests(uids),
    read: (texts) => run('texts', texts),
    async save(vectors, of, areNew) {
      if (areNew) await index.saveVectors(state.model ?? '', vectors);
      state.setVectors(of, vectors);
    },
  };
}

function nameOf({ type, name }: FamilyName): string {
  return `${type} ${name}`;
}

function distinctNames(names: readonly FamilyName[]): FamilyName[] {
  return [...new Map(names.map(({ type, name }) => [nameOf({ type, name }), { type, name }])).values()];
}
