// Puts search together: the engine, the directory, and the language model where there is one.
import type { World } from '../lib/world.ts';
import type { SearchEngine } from './engine.ts';
import { createLiveDirectory } from './live-directory.ts';
import { createLlmClient, type LlmDependencies } from './llm-client.ts';
import { createLlmFitReasons } from './llm-fit-reasons.ts';
import { createReranker } from './reranker.ts';
import { createSearch, type Search, type SearchDependencies, type SearchSettings } from './search.ts';
import type { SearchStore } from './store.ts';

export interface OpenSearchOptions {
  engine: Pick<SearchEngine, 'rank' | 'version' | 'onCatchingUp'>;
  store: SearchStore;
  settings: SearchSettings;
  llm: LlmDependencies['endpoint'] | undefined;
  world: Pick<World, 'now' | 'log' | 'fetchTrusted'>;
  baseUrl: () => string;
}

export function openSearch({ engine, store, settings, llm, world, baseUrl }: OpenSearchOptions): Search {
  const directory = createLiveDirectory(store);
  // Read ahead, so that the first list of a large catalog need not wait for it; whoever asks meets the error, if there is one.
  const readAhead = () => void directory.current().catch(() => {});
  readAhead();
  engine.onCatchingUp(readAhead);
  return createSearch({ engine, store, directory, llm: languageModel(llm, world), settings, now: world.now, baseUrl });
}

function languageModel(
  endpoint: OpenSearchOptions['llm'],
  { fetchTrusted, log }: OpenSearchOptions['world'],
): SearchDependencies['llm'] {
  if (!endpoint) return undefined;
  const client = createLlmClient({ endpoint, fetch: fetchTrusted, log });
  return { model: client.model, reranker: createReranker(client), fitReasons: createLlmFitReasons(client) };
}
