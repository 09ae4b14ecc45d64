// Puts search together: the engine, and the language model where there is one.
import type { World } from '../lib/world.ts';
import type { SearchEngine } from './engine/engine.ts';
import { createLlmClient, type LlmDependencies } from './llm/llm-client.ts';
import { createLlmFitReasons } from './llm/llm-fit-reasons.ts';
import { createReranker } from './llm/reranker.ts';
import { createSearch, type Search, type SearchDependencies, type SearchSettings } from './search.ts';
import type { SearchStore } from './store.ts';

export interface OpenSearchOptions {
  engine: Pick<SearchEngine, 'rank' | 'list' | 'version'>;
  store: SearchStore;
  settings: SearchSettings;
  llm: LlmDependencies['endpoint'] | undefined;
  world: Pick<World, 'now' | 'log' | 'fetchTrusted'>;
  baseUrl: () => string;
}

export function openSearch({ engine, store, settings, llm, world, baseUrl }: OpenSearchOptions): Search {
  return createSearch({ engine, store, llm: languageModel(llm, world), settings, now: world.now, baseUrl });
}

function languageModel(
  endpoint: OpenSearchOptions['llm'],
  { fetchTrusted, log }: OpenSearchOptions['world'],
): SearchDependencies['llm'] {
  if (!endpoint) return undefined;
  const client = createLlmClient({ endpoint, fetch: fetchTrusted, log });
  return { model: client.model, reranker: createReranker(client), fitReasons: createLlmFitReasons(client) };
}
