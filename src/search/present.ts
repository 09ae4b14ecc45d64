// Turns hits into results. Loads only the entities that are shown.
import { manifestUrl, uidInAddress } from '../catalog/entity.ts';
import type { SearchItem, SearchPage, SearchQuery } from './contract.ts';
import { ownSummary } from './document.ts';
import type { Hit } from './engine/engine.ts';
import { explainFit } from './fit-reason.ts';
import type { createLlmFitReasons } from './llm/llm-fit-reasons.ts';
import { queryTerms } from './matches.ts';
import { isClose, rounded } from './ranking/merge.ts';
import { makeSnippet } from './snippet.ts';
import type { FoundEntity, SearchStore } from './store.ts';

interface Presenting {
  store: SearchStore;
  baseUrl: () => string;
  /** Uses a language model, if one is configured. */
  writeReasons: ReturnType<typeof createLlmFitReasons> | undefined;
  rerank?: SearchPage['rerank'];
}

/** `isLasting` is false when a reason should come from a model but does not. */
export async function presentHits(hits: readonly Hit[], query: SearchQuery, presenting: Presenting) {
  const { store, baseUrl, writeReasons, rerank } = presenting;
  const { text, withSnippets } = query;
  const withFitReason = query.withFitReason && text !== '';
  const [page, descriptions] = await Promise.all([
    loadEntities(hits, store),
    withSnippets || withFitReason ? store.descriptions(hits.map(({ uid }) => uid)) : new Map<string, string>(),
  ]);
  const terms = queryTerms(text);
  // A search waits for an unavailable model only once.
  const mayAskModel = withFitReason && rerank !== 'failed';
  const entities = page.map(({ entity }) => entity);
  const written = (mayAskModel && (await writeReasons?.(text, entities))) || [];
  const items = page.map(({ entity, hit }, position): SearchItem => {
    const description = descriptions.get(entity.uid) ?? '';
    const reason = () =>
      written[position] ?? explainFit({ ...entity, description }, terms, { byMeaning: isClose(hit.semantic) });
    const texts = `${ownSummary(entity.summary, description)} ${description}`;
    const snippet = withSnippets ? makeSnippet(texts, terms) : undefined;
    return {
      ...itemFrom(entity, hit, baseUrl()),
      fit_reason: withFitReason ? reason() : null,
      ...(snippet !== undefined && { snippet }),
      ...(query.explain && hit.explanation && { explanation: hit.explanation }),
    };
  });
  return { items, isLasting: written.every((reason) => reason !== undefined) };
}

/** Skips hits whose entity is no longer in the catalog. */
export async function loadEntities(hits: readonly Hit[], store: SearchStore) {
  const entities = await store.found(hits.map(({ uid }) => uid));
  const byUid = new Map(entities.map((entity) => [entity.uid, entity]));
  return hits.flatMap((hit) => {
    const entity = byUid.get(hit.uid);
    return entity ? [{ hit, entity }] : [];
  });
}

function itemFrom(entity: FoundEntity, hit: Hit, baseUrl: string): Omit<SearchItem, 'fit_reason'> {
  return {
    id: entity.uid,
    type: entity.type,
    name: entity.name,
    title: entity.title,
    version: entity.version,
    version_count: hit.versionCount,
    summary: entity.summary,
    capabilities: entity.facets.capability,
    frameworks: entity.facets.framework,
    providers: entity.facets.provider,
    tags: entity.facets.tag,
    transports: entity.facets.transport,
    ...(entity.publisher !== null && { publisher: entity.publisher }),
    ...(entity.license !== null && { license: entity.license }),
    ...(entity.publishedAt !== null && { published_at: entity.publishedAt }),
    created_at: entity.createdAt,
    status: entity.status,
    ...(entity.trust && { trust_state: entity.trust.state }),
    score_lexical: rounded(hit.lexical),
    score_semantic: rounded(hit.semantic),
    score_quality: rounded(hit.quality),
    score_recency: rounded(hit.recency),
    score_final: rounded(hit.final),
    manifest_url: manifestUrl(entity, baseUrl),
    install_url: `${baseUrl}/catalog/install?id=${uidInAddress(entity.uid)}`,
  };
}
