// Shared by the in-memory and PostgreSQL engines: catches up before a search, embeds queries, and reports problems.
import { checkModel } from '../model/check-model.ts';
import { troubleOf, wholeReason } from '../model/embedder.ts';
import { createLazyEmbedder, type OpenEmbedder } from '../model/lazy-embedder.ts';
import { plainText } from '../search-query.ts';
import type { FoundHits, IndexSizes, ListRequest, RankRequest, SearchEngine } from './engine.ts';
import { CatalogFollower, type FollowerDependencies, type FollowingIndex, type IndexShown } from './follow-catalog.ts';
import type { SearchIndex } from './search-index.ts';

export interface SearchedIndex {
  keeper: FollowingIndex;
  rank(request: RankRequest, embed: EmbedQuery): Promise<FoundHits & { meaning: Meaning }>;
  /** `revision` is the catalog revision of the index. */
  list(request: ListRequest, revision: number | undefined): Promise<FoundHits>;
  version(): string;
  close?(): Promise<void>;
}

/** Resolves without a vector if the model fails: a model failure never fails a search. */
export type EmbedQuery = () => Promise<{ vector?: { model: string; vector: Float32Array }; meaning: Meaning }>;

/** How semantic search went. */
export interface Meaning {
  /** Why it was not used, for the caller. */
  trouble?: string;
  /** The underlying cause, for the operator. */
  fault?: string;
  /** Whether a simpler model replaced the configured one. */
  isStandIn?: boolean;
}

export interface ShellDependencies extends Pick<FollowerDependencies, 'isBusy' | 'log'> {
  index: SearchIndex;
  /** If it cannot be opened, search uses keywords only. */
  openEmbedder: OpenEmbedder;
}

/** The share of vectors that may be missing without a notice, because they are being computed. */
const FEW_MISSING = 0.05;
const NO_QUERY_VECTOR = 'A query could not be embedded; search uses keywords only';
const BEHIND = 'The index is not up to date yet: recent changes may be missing.';
const STAND_IN = 'The sentence encoder cannot be used here, so semantic search uses a simpler, less precise model.';

export function createEngine(searched: SearchedIndex, dependencies: ShellDependencies): SearchEngine {
  const { keeper } = searched;
  const { index: catalog, openEmbedder, isBusy, log } = dependencies;
  const embedder = createLazyEmbedder(openEmbedder);
  const follower = new CatalogFollower({ index: keeper, catalog, embedder, isBusy, log });

  const embed = async (text: string, signal?: AbortSignal) => {
    try {
      const { isStandIn, ...vector } = await embedder.embedQuery(text, signal);
      return { vector, meaning: { isStandIn } };
    } catch (error) {
      return { meaning: { trouble: troubleOf(error), fault: wholeReason(error) } };
    }
  };

  return {
    async rank(asked, signal) {
      const request = { ...asked, text: plainText(asked.text) };
      const shown = await follower.bringUpToDate();
      const { meaning, ...found } = await searched.rank(request, () => embed(request.text, signal));
      if (request.mode === 'keyword') return { ...found, mode: 'keyword', ...troublesOf(shown, keeper.sizes()) };
      const { fault } = meaning;
      // An empty catalog has nothing to compare with, which is not a fault.
      const trouble = keeper.sizes().texts === 0 && fault === undefined ? undefined : meaning.trouble;
      if (fault !== undefined) follower.report(NO_QUERY_VECTOR, fault);
      const mode = trouble === undefined ? request.mode : 'keyword';
      // The reason why texts could not be embedded is more helpful than the absence of vectors.
      const cause = trouble !== undefined && fault === undefined ? follower.embedTrouble : undefined;
      return { ...found, mode, ...troublesOf(shown, keeper.sizes(), { ...meaning, trouble: cause ?? trouble }) };
    },
    async list(request) {
      const shown = await follower.bringUpToDate();
      return { ...(await searched.list(request, shown.revision)), ...troublesOf(shown, keeper.sizes()) };
    },
    version: () => searched.version(),
    catchUp: (signal) => follower.catchUp(signal),
    checkModel: () => checkModel(() => embedder.opened()),
    sizes: () => keeper.sizes(),
    stopWork: () => follower.stop(),
    async close() {
      await follower.stop();
      await Promise.all([embedder.close(), searched.close?.()]);
    },
  };
}

/** `isLasting`: the same search returns the same result until the engine's version changes. */
function troublesOf({ revision, isBehind }: IndexShown, sizes: IndexSizes, meaning?: Meaning) {
  const isBuilding = revision === undefined;
  const passing = [
    ...(isBuilding ? [`The index is still being built: ${sizes.entities} entities so far.`] : []),
    ...(meaning ? meaningTroubles(meaning, sizes) : []),
    ...(isBehind && !isBuilding ? [BEHIND] : []),
  ];
  const all = [...passing, ...(meaning?.isStandIn ? [STAND_IN] : [])];
  return { ...(all.length > 0 && { degraded: all.join(' ') }), isLasting: passing.length === 0 };
}

function meaningTroubles({ trouble }: Meaning, { texts, embedded }: IndexSizes): string[] {
  if (trouble !== undefined) return [`Semantic search is not available (${trouble}). Showing keyword matches only.`];
  if (texts - embedded <= FEW_MISSING * texts) return [];
  return [`Embeddings are ready for ${embedded} of ${texts} texts. The rest are matched by keyword.`];
}
