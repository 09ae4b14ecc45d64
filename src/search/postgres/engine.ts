// The engine that searches in PostgreSQL: the database finds candidates, the hub merges their scores and holds no index.
import { setTimeout as sleep } from 'node:timers/promises';
import { LRUCache } from 'lru-cache';
import { parseReference } from '../../catalog/uid.ts';
import { orAborted } from '../../lib/or-aborted.ts';
import type { Clock, Logger } from '../../lib/world.ts';
import type { Hit, IndexSizes, Listing, ListRequest, Ranking, RankRequest, SearchEngine } from '../engine/engine.ts';
import { countsFrom, type FacetCounts } from '../facet-values.ts';
import { checkModel } from '../model/check-model.ts';
import { type Embedder, EmbeddingError, wholeReason } from '../model/embedder.ts';
import { type MergeWeights, weightsFor } from '../ranking/merge.ts';
import { nameKey } from '../words.ts';
import { fillVectors } from './embedding.ts';
import { entityFilter } from './filter.ts';
import { indexChanges } from './indexer.ts';
import {
  bestCandidates,
  candidatesFrom,
  explanationOf,
  facetsOf,
  hitsFrom,
  type Named,
  namedFamilies,
} from './merge-hits.ts';
import { candidateQuery, readQuery, scoredTerms } from './query.ts';
import type {
  EntityFilter,
  FoundMember,
  ListChoice,
  SearchReads,
  SearchTables,
  SearchVectors,
  VectorQuery,
} from './store.ts';

export interface PostgresEngineDependencies {
  tables: SearchTables;
  vectors: SearchVectors;
  reads: SearchReads;
  /** At most one hub updates the tables at a time, and at most one embeds. */
  tryLock: (name: string) => Promise<{ release(): Promise<void> } | undefined>;
  /** Opened while the hub serves; when it cannot be opened, search goes on by words. */
  openEmbedder: (signal: AbortSignal) => Promise<Embedder>;
  now: Clock;
  log: Logger;
}

const LONGEST_TEXT = 2_000;
const WAIT_FOR_CHANGE_MS = 1_000;
const WAIT_FOR_INDEX_MS = 3_000;
const WAIT_FOR_MODEL_MS = 3_000;
const LOOK_FOR_CHANGES_MS = 1_000;
const REST_AFTER_FAILURE_MS = 30_000;
const INDEX_LOCK = 'search index';
const MOST_BY_WORDS = 300;
const MOST_BY_MEANING = 200;
const MOST_HITS = 500;
/** So many vectors may be missing without a remark: they are being computed. */
const FEW_MISSING = 0.05;
const NO_SCORES = { lexical: 0, semantic: 0, quality: 0, recency: 0, final: 0 };
const BEHIND = 'The index is not up to date yet: recent changes may be missing.';
const STAND_IN = 'The sentence encoder cannot be used here: a simpler model judges meaning, more coarsely.';

interface Understanding {
  meaning?: VectorQuery;
  isStandIn?: boolean;
  /** Why meaning takes no part although it was requested. */
  trouble?: string;
}

export function createPostgresEngine(dependencies: PostgresEngineDependencies): SearchEngine {
  const { tables, vectors, reads, tryLock, openEmbedder, now, log } = dependencies;
  const stopping = new AbortController();
  const closing = new AbortController();
  let embedder: Promise<Embedder> | undefined;
  let known: IndexSizes = { entities: 0, families: 0, texts: 0, embedded: 0 };
  let indexed: number | undefined;
  let model: string | null = null;
  let catchingUp: Promise<void> | undefined;
  let following: Promise<void> | undefined;
  /** Whether this hub has seen to it once that there are vectors of its model. */
  let hasEmbedded = false;
  let embedAgainAt = 0;
  /** Counts of lists take longest, and are the same for all their pages. */
  const counts = new LRUCache<string, ReturnType<typeof count>>({ max: 100 });
  let reported = '';

  function opened(): Promise<Embedder> {
    if (!embedder) {
      embedder = openEmbedder(closing.signal);
      embedder.catch(() => setTimeout(forgetEmbedder, REST_AFTER_FAILURE_MS).unref());
    }
    return embedder;
  }

  function forgetEmbedder(): void {
    embedder = undefined;
  }

  /** Logs each reason once, not with every search. */
  function report(what: string, error: unknown): void {
    const reason = wholeReason(error);
    if (reported === reason || stopping.signal.aborted) return;
    reported = reason;
    log.warn({ reason }, what);
  }

  /** Brings the tables up to date, unless another hub is doing so. */
  async function follow(signal: AbortSignal): Promise<void> {
    const lock = await tryLock(INDEX_LOCK);
    if (!lock) return;
    try {
      await indexChanges(tables, signal);
    } finally {
      await lock.release();
    }
  }

  function followOnce(): Promise<void> {
    following ??= follow(stopping.signal)
      .catch((error) => report('The search tables could not be brought up to date', error))
      .finally(() => {
        following = undefined;
      });
    return following;
  }

  async function look(): Promise<{ isBehind: boolean }> {
    const wanted = await tables.catalogRevision();
    // The tables never go back, so that what was read once need not be read again.
    if (indexed === undefined || indexed < wanted) indexed = await reads.indexedRevision();
    return { isBehind: indexed === undefined || indexed < wanted };
  }

  /** A search should see the change before it; while changes keep coming, it is late by a moment instead of slow. */
  async function bringUpToDate(): Promise<{ isBehind: boolean }> {
    const endsAt = performance.now() + (indexed === undefined ? WAIT_FOR_INDEX_MS : WAIT_FOR_CHANGE_MS);
    for (let state = await look(); ; state = await look()) {
      const left = endsAt - performance.now();
      if (!state.isBehind || left <= 0) return state;
      await Promise.race([followOnce(), sleep(left, undefined, { ref: false })]);
      // Another hub may be at it.
      await sleep(20, undefined, { ref: false });
    }
  }

  /** A search never fails because a model did. */
  async function understand({ text, mode }: RankRequest, signal?: AbortSignal): Promise<Understanding> {
    if (mode === 'keyword') return {};
    if (!vectors.isAvailable) return { trouble: 'the database has no pgvector' };
    try {
      const late = sleep(WAIT_FOR_MODEL_MS, undefined, { ref: false }).then(() => {
        throw new EmbeddingError('the model is still being loaded');
      });
      late.catch(() => {});
      const ready = await Promise.race([opened(), late]);
      const [vector] = await ready.embed([text], { signal, isUrgent: true });
      if (!vector) throw new EmbeddingError('the embedder returned no vector');
      if (known.embedded === 0) await measure();
      if (known.embedded === 0) return { trouble: 'embeddings are being computed' };
      if (model !== ready.model) return { trouble: 'the vectors are those of another model' };
      return { meaning: { model: ready.model, vector }, isStandIn: ready.fallback !== undefined };
    } catch (error) {
      report('A query could not be embedded; search goes on by words', error);
      return { trouble: error instanceof EmbeddingError ? error.message : 'the query cannot be embedded' };
    }
  }

  async function measure(): Promise<void> {
    [known, model] = await Promise.all([tables.sizes(), vectors.model()]);
  }

  async function wordsOf(request: RankRequest, filter: EntityFilter) {
    const words = await readQuery(request.text, reads, known.families);
    const terms = request.mode === 'semantic' ? [] : scoredTerms(words.terms);
    const candidates = candidateQuery(words.terms);
    if (candidates === undefined || terms.length === 0) return { words, terms, scores: new Map<number, number>() };
    return { words, terms, scores: await reads.byWords({ candidates, terms }, filter, MOST_BY_WORDS) };
  }

  async function meaningOf(request: RankRequest, filter: EntityFilter, signal?: AbortSignal) {
    const understood = await understand(request, signal);
    const { meaning } = understood;
    const cosines = meaning ? await reads.byMeaning(meaning, filter, MOST_BY_MEANING) : new Map<number, number>();
    return { ...understood, cosines };
  }

  async function namesOf(text: string): Promise<Map<number, Named>> {
    const asked = text.trim();
    const reference = parseReference(asked);
    const name = reference?.slug ?? asked;
    const key = nameKey(name);
    if (key === '') return new Map();
    return namedFamilies(await reads.named({ key, uid: asked, slug: name.toLowerCase() }), key, reference);
  }

  /** Every candidate gets both scores, whichever it was found by. */
  async function find(request: RankRequest, filter: EntityFilter, signal?: AbortSignal) {
    const [named, byWords, byMeaning] = await Promise.all([
      namesOf(request.text),
      wordsOf(request, filter),
      meaningOf(request, filter, signal),
    ]);
    const { words, terms } = byWords;
    const { meaning } = byMeaning;
    const families = [...new Set([...named.keys(), ...byWords.scores.keys(), ...byMeaning.cosines.keys()])];
    const [scores, cosines] = await Promise.all([
      reads.scoresOf(
        families.filter((family) => !byWords.scores.has(family)),
        terms,
      ),
      meaning &&
        reads.cosinesOf(
          families.filter((family) => !byMeaning.cosines.has(family)),
          meaning,
        ),
    ]);
    return {
      ...byMeaning,
      words,
      terms,
      named,
      candidates: candidatesFrom({
        words,
        named,
        scores: new Map([...byWords.scores, ...scores]),
        cosines: new Map([...byMeaning.cosines, ...(cosines ?? [])]),
        texts: known.texts,
      }),
    };
  }

  async function rank(asked: RankRequest, signal?: AbortSignal): Promise<Ranking> {
    // PostgreSQL takes no NUL in a text.
    const text = asked.text
      .slice(0, LONGEST_TEXT)
      .replace(/\p{Cc}/gu, ' ')
      .toWellFormed();
    const request = { ...asked, text };
    const { limit = MOST_HITS, versions, withFacets = false } = request;
    const { isBehind } = await bringUpToDate();
    if (known.families === 0) await measure();
    const filter = entityFilter(request.filters);
    const found = await find(request, filter, signal);
    const mode = found.meaning ? request.mode : 'keyword';
    const weights = weightsFor(mode, found.words);
    const best = bestCandidates(found.candidates, weights, withFacets ? MOST_HITS : shownAtMost(limit));
    const preferred = [...found.named.values()].flatMap(({ uid }) => uid ?? []);
    const members = await reads.members({ families: best.map(({ family }) => family), filter, versions, preferred });
    const hits = hitsFrom(members, best, { weights, now: now() }).slice(0, limit);
    const { troubles, isLasting } = troublesOf(found, isBehind);
    return {
      hits: request.explain ? await explained(hits, members, { ...found, weights }) : hits,
      total: Math.max(hits.length, Math.min(found.candidates.length, MOST_HITS)),
      mode,
      ...(troubles.length > 0 && { degraded: troubles.join(' ') }),
      isLasting,
      ...(withFacets && { facets: facetsOf(members) }),
    };
  }

  async function explained(
    hits: readonly Hit[],
    members: readonly FoundMember[],
    { words, terms, named, weights }: Awaited<ReturnType<typeof find>> & { weights: MergeWeights },
  ): Promise<Hit[]> {
    const families = new Map(members.map(({ uid, family }) => [uid, family]));
    const scores = await reads.explain([...families.values()], terms);
    return hits.map((hit) => {
      const family = families.get(hit.uid) ?? -1;
      const match = named.get(family)?.match;
      return { ...hit, explanation: explanationOf(hit, scores.get(family) ?? [], { words, weights, match }) };
    });
  }

  function troublesOf({ meaning, trouble, isStandIn }: Understanding, isBehind: boolean) {
    const { texts, embedded, entities } = known;
    const passing = [
      ...(indexed === undefined ? [`The index is still being built: ${entities} entities so far.`] : []),
      ...(trouble === undefined ? [] : [`Meaning took no part (${trouble}): results are by words only.`]),
      ...(meaning && texts - embedded > FEW_MISSING * texts
        ? [`Meaning is known of ${embedded} of ${texts} texts so far; the others are found by words.`]
        : []),
      ...(isBehind && indexed !== undefined ? [BEHIND] : []),
    ];
    return { troubles: [...passing, ...(isStandIn ? [STAND_IN] : [])], isLasting: passing.length === 0 };
  }

  async function list({ filters, versions, limit, offset, withFacets }: ListRequest): Promise<Listing> {
    const { isBehind } = await bringUpToDate();
    const choice = { filter: entityFilter(filters), versions };
    const key = JSON.stringify([indexed, choice, withFacets]);
    const counting = counts.get(key) ?? count(choice, withFacets);
    counts.set(key, counting);
    counting.catch(() => counts.delete(key));
    const [listed, { total, facets }] = await Promise.all([reads.list({ ...choice, limit, offset }), counting]);
    return {
      hits: listed.map((each) => ({ ...each, ...NO_SCORES })),
      total,
      ...(facets && { facets }),
      ...(isBehind && { degraded: BEHIND }),
      isLasting: !isBehind,
    };
  }

  async function count(choice: ListChoice, withFacets: boolean): Promise<{ total: number; facets?: FacetCounts }> {
    if (!withFacets) return { total: await reads.count(choice) };
    const facets = countsFrom(await reads.countFacets(choice));
    return { total: facets.type.reduce((sum, each) => sum + each.count, 0), facets };
  }

  async function embed(signal: AbortSignal): Promise<void> {
    if (!vectors.isAvailable || signal.aborted || performance.now() < embedAgainAt) return;
    try {
      const ready = await orAborted(opened(), signal);
      const made = await fillVectors(ready, { tables, vectors, tryLock, mayChoose: !hasEmbedded }, signal);
      hasEmbedded ||= !signal.aborted;
      if (made > 0) log.info({ made, model: ready.model }, 'Texts of the catalog were embedded');
      reported = '';
    } catch (error) {
      if (signal.aborted) return;
      embedAgainAt = performance.now() + REST_AFTER_FAILURE_MS;
      report('Texts of the catalog could not be embedded; search goes on by words', error);
    }
  }

  async function catchUp(signal: AbortSignal): Promise<void> {
    await followOnce();
    await measure();
    if (known.embedded < known.texts || !hasEmbedded) await embed(signal);
    await measure();
    await look();
  }

  function catchUpOnce(): Promise<void> {
    catchingUp ??= catchUp(stopping.signal)
      .catch((error) => report('Search could not catch up with the catalog', error))
      .finally(() => {
        catchingUp = undefined;
      });
    return catchingUp;
  }

  // Other hubs on the same database change the catalog and the tables as well.
  const watching = setInterval(async () => {
    const before = indexed;
    const state = await look().catch(() => undefined);
    if (state && (state.isBehind || before !== indexed || known.embedded < known.texts || known.texts === 0)) {
      await catchUpOnce();
    }
  }, LOOK_FOR_CHANGES_MS).unref();

  async function stopWork(): Promise<void> {
    clearInterval(watching);
    stopping.abort();
    await Promise.all([catchingUp, following]);
  }

  return {
    rank,
    list,
    version: () => [indexed ?? 'none', model ?? 'none', known.embedded].join('.'),
    async catchUp(signal) {
      if (signal.aborted) return;
      // What is under way may have begun before the last change.
      await orAborted((catchingUp ?? Promise.resolve()).then(catchUpOnce), signal).catch(() => {});
    },
    checkModel: () => checkModel(opened),
    sizes: () => known,
    stopWork,
    async close() {
      await stopWork();
      closing.abort();
      await embedder?.then((open) => open.close()).catch(() => {});
    },
  };
}

/** More than are asked for: quality and age may still exchange neighbors. */
function shownAtMost(limit: number): number {
  return Math.min(MOST_HITS, Math.ceil(limit * 1.5) + 20);
}
