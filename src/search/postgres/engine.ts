// The engine that searches in PostgreSQL: the database finds candidates, the hub merges their scores and holds no index.
import { LRUCache } from 'lru-cache';
import type { Clock, Logger } from '../../lib/world.ts';
import type { SearchFilters } from '../contract.ts';
import type { Hit, Listing, ListRequest, Ranking, RankRequest, SearchEngine } from '../engine/engine.ts';
import { followCatalog } from '../engine/follow-catalog.ts';
import { type Meaning, troublesOf } from '../engine/troubles.ts';
import { countsFrom, type FacetCounts, wantedValues } from '../facet-values.ts';
import { checkModel } from '../model/check-model.ts';
import { troubleOf } from '../model/embedder.ts';
import { createLazyEmbedder, type OpenEmbedder } from '../model/lazy-embedder.ts';
import { explanationOf, type MergeWeights, weightsFor } from '../ranking/merge.ts';
import { plainText } from '../search-query.ts';
import { type Found, findCandidates } from './find-candidates.ts';
import { bestCandidates, facetsOf, hitsFrom, termsOf } from './merge-hits.ts';
import type { EntityFilter, FoundMember, ListChoice, SearchReads, VectorQuery } from './store.ts';
import { createTableKeeper, type TableKeeperDependencies } from './table-keeper.ts';

export interface PostgresEngineDependencies extends TableKeeperDependencies {
  reads: SearchReads;
  /** When it cannot be opened, search goes on by words. */
  openEmbedder: OpenEmbedder;
  now: Clock;
  log: Logger;
}

const MOST_HITS = 500;
const NO_SCORES = { lexical: 0, semantic: 0, quality: 0, recency: 0, final: 0 };

export function createPostgresEngine(dependencies: PostgresEngineDependencies): SearchEngine {
  const { tables, vectors, reads, tryLock, openEmbedder, now, log } = dependencies;
  const embedder = createLazyEmbedder(openEmbedder);
  const keeper = createTableKeeper({ tables, vectors, reads, tryLock });
  const follower = followCatalog(keeper, { embedder, log });
  const counts = createCounts(reads);

  /** A search never fails because a model did. */
  async function understand({ text, mode }: RankRequest, signal?: AbortSignal): Promise<Understood> {
    if (mode === 'keyword') return {};
    if (!vectors.isAvailable) return { trouble: 'the database has no pgvector' };
    try {
      const { vector, model, isStandIn } = await embedder.embedQuery(text, signal);
      if (keeper.known().sizes.embedded === 0) await keeper.measure();
      const stored = keeper.known();
      if (stored.sizes.embedded === 0) return { trouble: 'embeddings are being computed' };
      if (stored.model !== model) return { trouble: 'the vectors are those of another model' };
      return { vector: { model, vector }, isStandIn };
    } catch (error) {
      follower.report('A query could not be embedded; search goes on by words', error);
      return { trouble: troubleOf(error) };
    }
  }

  async function rank(asked: RankRequest, signal?: AbortSignal): Promise<Ranking> {
    const request = { ...asked, text: plainText(asked.text) };
    const { isBehind } = await follower.bringUpToDate();
    if (keeper.known().sizes.families === 0) await keeper.measure();
    const filter = entityFilter(request.filters);
    const understanding = understand(request, signal);
    const vector = understanding.then((understood) => understood.vector);
    const { text, mode } = request;
    const found = await findCandidates(reads, { text, mode, filter, vector, sizes: keeper.known().sizes });
    const understood = await understanding;
    const isUsed = understood.vector !== undefined;
    const meaning: Meaning = { isStandIn: false, ...understood, isUsed };
    const shown = { ...keeper.known(), isBehind };
    return {
      ...(await answer(request, found, isUsed ? mode : 'keyword')),
      ...troublesOf(shown, mode === 'keyword' ? undefined : meaning),
    };
  }

  async function answer(request: RankRequest, found: Found, mode: Ranking['mode']) {
    const { limit, versions, withFacets, explain } = request;
    const weights = weightsFor(mode, found.words);
    const best = bestCandidates(found.candidates, weights, withFacets ? MOST_HITS : shownAtMost(limit));
    const preferred = [...found.named.values()].flatMap(({ uid }) => uid ?? []);
    const families = best.map(({ family }) => family);
    const members = await reads.members({ families, filter: entityFilter(request.filters), versions, preferred });
    const hits = hitsFrom(members, best, { weights, now: now() }).slice(0, limit);
    return {
      hits: explain ? await explained(hits, members, found, weights) : hits,
      total: Math.max(hits.length, Math.min(found.candidates.length, MOST_HITS)),
      mode,
      ...(withFacets && { facets: facetsOf(members) }),
    };
  }

  async function explained(
    hits: readonly Hit[],
    members: readonly FoundMember[],
    { words, terms, named }: Found,
    weights: MergeWeights,
  ): Promise<Hit[]> {
    const families = new Map(members.map(({ uid, family }) => [uid, family]));
    const scores = await reads.explain([...families.values()], terms);
    return hits.map((hit) => {
      const family = families.get(hit.uid) ?? -1;
      const termScores = termsOf(words, scores.get(family) ?? []);
      const match = named.get(family)?.match;
      return {
        ...hit,
        explanation: explanationOf(hit, { terms: termScores, best: words.best, weights, named: match }),
      };
    });
  }

  async function list({ filters, versions, limit, offset, withFacets }: ListRequest): Promise<Listing> {
    const shown = await follower.bringUpToDate();
    const choice = { filter: entityFilter(filters), versions };
    const context = { ...choice, withFacets };
    const [listed, { total, facets }] = await Promise.all([
      reads.list({ ...choice, limit, offset }),
      counts.forceFetch(JSON.stringify([shown.revision, context]), { context }),
    ]);
    const hits = listed.map((each) => ({ ...each, ...NO_SCORES }));
    return { hits, total, ...(facets && { facets }), ...troublesOf(shown) };
  }

  return {
    rank,
    list,
    version() {
      const { revision, model, sizes } = keeper.known();
      return [revision ?? 'none', model ?? 'none', sizes.embedded].join('.');
    },
    catchUp: follower.catchUp,
    checkModel: () => checkModel(embedder.opened),
    sizes: () => keeper.known().sizes,
    stopWork: follower.stop,
    async close() {
      await follower.stop();
      await embedder.close();
    },
  };
}

/** The filters of a search as the tables have them. */
function entityFilter(filters: SearchFilters): EntityFilter {
  return {
    type: filters.type,
    isActive: !filters.includeInactive,
    isRegistered: !filters.includePending,
    facets: wantedValues(filters),
    prerelease: filters.prerelease,
  };
}

interface Understood {
  vector?: VectorQuery;
  isStandIn?: boolean;
  /** Why meaning takes no part although it was requested. */
  trouble?: string;
}

interface Counted {
  total: number;
  facets?: FacetCounts;
}

/** Counts of lists take longest, and are the same for all their pages. */
function createCounts(reads: SearchReads) {
  return new LRUCache<string, Counted, ListChoice & { withFacets: boolean }>({
    max: 100,
    async fetchMethod(_key, _old, { context: { withFacets, ...choice } }) {
      if (!withFacets) return { total: await reads.count(choice) };
      const facets = countsFrom(await reads.countFacets(choice));
      return { total: facets.type.reduce((sum, { count }) => sum + count, 0), facets };
    },
  });
}

/** More than are asked for: quality and age may still exchange neighbors. */
function shownAtMost(limit: number): number {
  return Math.min(MOST_HITS, Math.ceil(limit * 1.5) + 20);
}
