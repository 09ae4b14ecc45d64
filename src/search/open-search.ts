// Puts search together: the engine with its embedder, the directory, and the language model where there is one.
import type { World } from '../lib/world.ts';
import { createSearchEngine, type SearchEngineDependencies } from './create-engine.ts';
import { MODELS_FOLDER, openEmbeddedModel } from './embedded-model.ts';
import type { SearchEngine } from './engine.ts';
import { createHttpEmbedder } from './http-embedder.ts';
import { createLiveDirectory } from './live-directory.ts';
import { createLlmClient, type LlmDependencies } from './llm-client.ts';
import { createLlmFitReasons } from './llm-fit-reasons.ts';
import { createReranker } from './reranker.ts';
import { createSearch, type Search, type SearchDependencies, type SearchSettings } from './search.ts';
import type { SearchStore } from './store.ts';

export interface OpenSearch extends Search, Pick<SearchEngine, 'catchUp' | 'sizes' | 'stopWork' | 'close'> {}

export interface OpenSearchOptions extends Pick<SearchEngineDependencies, 'index' | 'tryLock'> {
  store: SearchStore;
  settings: SearchSettings;
  /** Instead of the model that comes with the hub. */
  embedding: { baseUrl: string; model: string; apiKey?: string } | undefined;
  llm: LlmDependencies['endpoint'] | undefined;
  world: Pick<World, 'now' | 'log' | 'fetchTrusted'>;
  baseUrl: () => string;
}

export function openSearch(options: OpenSearchOptions): OpenSearch {
  const { index, tryLock, store, settings, embedding, llm, world, baseUrl } = options;
  const { now, log, fetchTrusted: fetch } = world;
  const { rank, version, ...engine } = createSearchEngine({
    index,
    tryLock,
    openEmbedder: async () =>
      embedding ? createHttpEmbedder({ ...embedding, fetch }) : openEmbeddedModel({ folder: MODELS_FOLDER }, log),
    now,
    log,
  });
  const directory = createLiveDirectory(store);
  // Read ahead, so that the first list of a large catalog need not wait for it; whoever asks meets the error, if there is one.
  directory.current().catch(() => {});
  const model = languageModel(llm, world);
  return {
    ...engine,
    ...createSearch({ engine: { rank, version }, store, directory, llm: model, settings, now, baseUrl }),
  };
}

function languageModel(
  endpoint: OpenSearchOptions['llm'],
  { fetchTrusted, log }: OpenSearchOptions['world'],
): SearchDependencies['llm'] {
  if (!endpoint) return undefined;
  const client = createLlmClient({ endpoint, fetch: fetchTrusted, log });
  return { model: client.model, reranker: createReranker(client), fitReasons: createLlmFitReasons(client) };
}
