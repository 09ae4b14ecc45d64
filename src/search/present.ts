// Hit and entity → what callers see of a result.
import { manifestUrl, type StoredSummary, uidInAddress } from '../catalog/entity.ts';
import type { SearchItem } from './contract.ts';
import type { Hit } from './engine/engine.ts';
import { explainFit } from './fit-reason.ts';
import type { QueryTerms } from './matches.ts';
import { rounded } from './ranking/merge.ts';
import { makeSnippet } from './snippet.ts';

export interface FoundEntity {
  entity: StoredSummary;
  hit: Hit;
  /** What the manifest says at length; empty when nobody asked for it. */
  description: string;
}

export interface ItemChoice {
  baseUrl: string;
  terms: QueryTerms;
  withSnippets: boolean;
  explain: boolean;
  /** Undefined when nobody asked for a reason. */
  fitReason: string | undefined;
}

export function presentItem({ entity, hit, description }: FoundEntity, choice: ItemChoice): SearchItem {
  const snippet = choice.withSnippets ? makeSnippet(ownText(entity.summary, description), choice.terms) : undefined;
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
    status: entity.status,
    score_lexical: rounded(hit.lexical),
    score_semantic: rounded(hit.semantic),
    score_quality: rounded(hit.quality),
    score_recency: rounded(hit.recency),
    score_final: rounded(hit.final),
    fit_reason: choice.fitReason ?? null,
    manifest_url: manifestUrl(entity, choice.baseUrl),
    install_url: `${choice.baseUrl}/catalog/install?id=${uidInAddress(entity.uid)}`,
    ...(snippet === undefined ? {} : { snippet }),
    ...(choice.explain && hit.explanation ? { explanation: hit.explanation } : {}),
  };
}

/** The reason that needs no model. */
export function extractFitReason({ entity, hit, description }: FoundEntity, terms: QueryTerms): string {
  const { name, title, summary, facets } = entity;
  const described = { name, title, summary, description, tags: facets.tag, capabilities: facets.capability };
  return explainFit(described, terms, { byMeaning: hit.semantic > 0 });
}

/** Most manifests repeat the summary, or its beginning, in the description. */
function ownText(summary: string, description: string): string {
  if (description.startsWith(summary.replace(/(?:…|\.\.\.)$/, ''))) return description;
  return `${summary} ${description}`;
}
