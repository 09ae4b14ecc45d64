// The engine that searches an index in shared memory.
import type { Clock } from '../../lib/world.ts';
import type { TryLock } from './embed-texts.ts';
import type { RankRequest, SearchEngine } from './engine.ts';
import { createEngine, type EmbedQuery, type ShellDependencies } from './engine-shell.ts';
import { IndexKeeper } from './index-keeper.ts';
import { IndexState } from './index-state.ts';
import { createIndexThreads } from './index-threads.ts';
import { createSearchThreads } from './search-threads.ts';

export interface SearchEngineDependencies extends ShellDependencies {
  tryLock: TryLock;
  /** Folder of the model with which the search threads embed queries; if undefined, the embedder embeds them too. */
  modelFolder?: string;
  /** Where the index is saved between restarts; if undefined, it is not saved. */
  indexPath?: string;
  now: Clock;
}

export function createSearchEngine(dependencies: SearchEngineDependencies): SearchEngine {
  const { index, tryLock, modelFolder, indexPath: path, now, log } = dependencies;
  const state = new IndexState();
  const indexThreads = createIndexThreads();
  const searchThreads = createSearchThreads(state, { modelFolder: modelFolder ?? '' });
  const keeper = new IndexKeeper({ index, state, run: indexThreads.run, tryLock, path, log });

  /** The query's vector, or the model with which the search threads compute it. */
  async function understand({ mode }: RankRequest, embed: EmbedQuery) {
    if (mode === 'keyword') return { understood: {} };
    if (modelFolder !== undefined) return { model: state.model, understood: {} };
    const { vector, meaning } = await embed();
    return { vector: vector?.vector, understood: meaning };
  }

  async function rank(request: RankRequest, embed: EmbedQuery) {
    const { understood, ...query } = await understand(request, embed);
    const { found, meaning } = await searchThreads.rank({ request, now: now(), ...query });
    return { ...found, meaning: { ...meaning, ...understood } };
  }

  return createEngine(
    {
      keeper,
      rank,
      list: (request) => searchThreads.list(request),
      version: () => [keeper.revision ?? 'none', state.sizes().families, state.sizes().embedded].join('.'),
      close: async () => void (await Promise.all([searchThreads.close(), indexThreads.close()])),
    },
    dependencies,
  );
}
