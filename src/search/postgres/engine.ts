// The engine that searches in PostgreSQL: the database finds candidates; the hub merges their scores and keeps no index.
import { LRUCache } from 'lru-cache';
import type { Clock } from '../../lib/world.ts';
import type { SearchFilters } from '../contract.ts';
import { type FoundHits, type ListRequest, MOST_HITS, type RankRequest, type SearchEngine } from '../engine/engine.ts';
import { createEngine, type EmbedQuery, type ShellDependencies } from '../engine/engine-shell.ts';
import { countsFrom, wantedValues } from '../facet-values.ts';
import { NO_SCORES } from '../ranking/lister.ts';
import { weightsFor } from '../ranking/merge.ts';
import { type Found, findCandidates } from './find-candidates.ts';
import { explained, facetsOf, hitsFrom } from './merge-hits.ts';
import type { EntityFilter, ListChoice, SearchReads } from './store.ts';
import { TableKeeper, type TableKeeperDependencies } from './table-keeper.ts';

export interface PostgresEngineDependencies extends TableKeeperDependencies, ShellDependencies {
  reads: SearchReads;
  now: Clock;
}

export function createPostgresEngine(dependencies: PostgresEngineDependencies): SearchEngine {
  const { vectors, reads, now } = dependencies;
  const keeper = new TableKeeper(dependencies);
  const counts = createCounts(reads);

  async function understand({ mode }: RankRequest, embed: EmbedQuery): ReturnType<EmbedQuery> {
    if (mode === 'keyword') return { meaning: {} };
    if (!vectors.isAvailable) return { meaning: { trouble: 'the database has no pgvector' } };
    const { vector, meaning } = await embed();
    if (!vector) return { meaning };
    if (keeper.sizes().embedded === 0) await keeper.measure();
    if (keeper.sizes().embedded === 0) return { meaning: { trouble: 'embeddings are being computed' } };
    if (keeper.model !== vector.model) return { meaning: { trouble: 'the vectors are those of another model' } };
    return { vector, meaning };
  }

  async function rank(request: RankRequest, embed: EmbedQuery) {
    if (keeper.sizes().families === 0) await keeper.measure();
    const { text, mode, versions, sort, withFacets } = request;
    const choice = { filter: entityFilter(request.filters), versions, sort, withFacets };
    const understanding = understand(request, embed);
    const vector = understanding.then((understood) => understood.vector);
    const found = await findCandidates(reads, { text, mode, choice, vector, sizes: keeper.sizes() });
    const { meaning } = await understanding;
    return { ...(await ranked(request, found, (await vector) ? mode : 'keyword', { reads, now: now() })), meaning };
  }

  async function list(request: ListRequest, revision: number | undefined): Promise<FoundHits> {
    const { filters, withFacets, facetText, ...page } = request;
    const choice = { filter: entityFilter(filters), versions: page.versions };
    const context = { ...choice, withFacets, facetText };
    const [listed, counted] = await Promise.all([
      reads.list({ ...choice, ...page }),
      counts.forceFetch(JSON.stringify([revision, context]), { context }),
    ]);
    return { hits: listed.map((each) => ({ ...each, ...NO_SCORES })), ...counted };
  }

  const version = () => [keeper.revision ?? 'none', keeper.model ?? 'none', keeper.sizes().embedded].join('.');
  return createEngine({ keeper, rank, list, version }, dependencies);
}

async function ranked(
  request: RankRequest,
  { words, terms, named, candidates }: Found,
  mode: RankRequest['mode'],
  { reads, now }: { reads: SearchReads; now: Date },
): Promise<FoundHits> {
  const { limit, sort, withFacets, facetText, explain } = request;
  const weights = weightsFor(mode, words);
  // Not cut at the page size, so that pages never overlap.
  const best = hitsFrom(candidates, weights, now).slice(0, MOST_HITS);
  const byUid = new Map(best.map((hit) => [hit.uid, hit]));
  const shown = candidates.filter(({ uid }) => byUid.has(uid));
  const sorted = sort === 'relevance' ? best : shown.flatMap(({ uid }) => byUid.get(uid) ?? []);
  const hits = sorted.slice(0, limit);
  const families = shown.map(({ family }) => family);
  const scores = explain ? await reads.explain(families, terms) : undefined;
  return {
    hits: scores ? explained(hits, shown, { words, named, weights, scores }) : hits,
    total: best.length,
    ...(withFacets && facetsOf(shown, facetText)),
  };
}

/** The filters of a search as facet values; also the cache key of counts. */
function entityFilter(filters: SearchFilters): EntityFilter {
  const { type, includeInactive, includePending, prerelease } = filters;
  return { type, includeInactive, includePending, prerelease, facets: wantedValues(filters) };
}

/** Counting takes the longest, and all pages of a list have the same counts. */
function createCounts(reads: SearchReads) {
  return new LRUCache<string, Omit<FoundHits, 'hits'>, ListChoice & Pick<ListRequest, 'withFacets' | 'facetText'>>({
    max: 100,
    async fetchMethod(_key, _old, { context: { withFacets, facetText, ...choice } }) {
      if (!withFacets) return { total: await reads.count(choice) };
      const counts = countsFrom(await reads.countFacets(choice), facetText);
      return { total: counts.facets.type.reduce((sum, { count }) => sum + count, 0), ...counts };
    },
  });
}
