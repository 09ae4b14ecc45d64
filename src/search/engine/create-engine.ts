// The engine that searches in an index in shared memory.
import type { Clock, Logger } from '../../lib/world.ts';
import { checkModel } from '../model/check-model.ts';
import { troubleOf } from '../model/embedder.ts';
import { createLazyEmbedder, type OpenEmbedder } from '../model/lazy-embedder.ts';
import { plainText } from '../search-query.ts';
import type { TryLock } from './embed-texts.ts';
import type { RankRequest, SearchEngine } from './engine.ts';
import { followCatalog } from './follow-catalog.ts';
import { createIndexKeeper } from './index-keeper.ts';
import { createIndexState } from './index-state.ts';
import { createIndexThreads } from './index-threads.ts';
import type { SearchIndex } from './search-index.ts';
import { createSearchThreads } from './search-threads.ts';
import type { QueryMeaning, RankedReply } from './search-worker.ts';
import { type Meaning, troublesOf } from './troubles.ts';

export interface SearchEngineDependencies {
  index: SearchIndex;
  tryLock: TryLock;
  /** When it cannot be opened, search goes on by words. */
  openEmbedder: OpenEmbedder;
  /** Where the search threads find the model that embeds queries; undefined: the embedder embeds them, too. */
  modelFolder?: string;
  /** Where the index is kept between two starts; undefined: nowhere. */
  indexPath?: string;
  /** Whether the machine is needed for something more urgent; background work waits for its end, but not for ever. */
  isBusy?: () => boolean;
  now: Clock;
  log: Logger;
}

export function createSearchEngine(dependencies: SearchEngineDependencies): SearchEngine {
  const { index, tryLock, openEmbedder, modelFolder, indexPath, isBusy, now, log } = dependencies;
  const state = createIndexState();
  const indexThreads = createIndexThreads();
  const searchThreads = createSearchThreads(state, { modelFolder: modelFolder ?? '' });
  const embedder = createLazyEmbedder(openEmbedder);
  const keeper = createIndexKeeper({ index, state, run: indexThreads.run, tryLock, path: indexPath, log });
  const follower = followCatalog(keeper, { embedder, isBusy, log });

  /** A search never fails because a model did. */
  async function meaningOf({ text, mode }: RankRequest, signal?: AbortSignal): Promise<Understood> {
    if (mode === 'keyword') return { meaning: { from: 'nowhere' } };
    if (modelFolder !== undefined) return { meaning: { from: 'here', model: state.model } };
    try {
      const { vector, isStandIn } = await embedder.embedQuery(text, signal);
      return { meaning: { from: 'elsewhere', vector }, isStandIn };
    } catch (error) {
      follower.report('A query could not be embedded; search goes on by words', error);
      return { meaning: { from: 'nowhere' }, trouble: troubleOf(error) };
    }
  }

  async function stopWork(): Promise<void> {
    await follower.stop();
    await keeper.save().catch((error) => log.warn({ reason: String(error) }, 'The search index could not be saved'));
  }

  return {
    async rank(request, signal) {
      const shown = await follower.bringUpToDate();
      const asked = { ...request, text: plainText(request.text) };
      const understood = await meaningOf(asked, signal);
      const reply = await searchThreads.rank({ request: asked, now: now(), meaning: understood.meaning });
      if (reply.trouble !== undefined)
        follower.report('Queries cannot be embedded; search goes on by words', reply.trouble);
      const { hits, total, facets } = reply;
      const mode = reply.usedMeaning ? request.mode : 'keyword';
      const meaning =
        request.mode === 'keyword' ? undefined : meaningIn(reply, { trouble: follower.embedTrouble(), ...understood });
      return {
        hits,
        total,
        mode,
        ...(facets && { facets }),
        ...troublesOf({ ...shown, sizes: state.sizes() }, meaning),
      };
    },
    async list(request) {
      const shown = await follower.bringUpToDate();
      const { hits, total, facets } = await searchThreads.list(request);
      return { hits, total, ...(facets && { facets }), ...troublesOf(shown) };
    },
    version: () => [keeper.revision() ?? 'none', state.sizes().families, state.sizes().embedded].join('.'),
    catchUp: follower.catchUp,
    checkModel: () => checkModel(embedder.opened),
    sizes: () => state.sizes(),
    stopWork,
    async close() {
      await stopWork();
      await Promise.all([embedder.close(), searchThreads.close(), indexThreads.close()]);
    },
  };
}

interface Understood {
  meaning: QueryMeaning;
  isStandIn?: boolean;
  trouble?: string;
}

function meaningIn(reply: RankedReply, { trouble, isStandIn = false }: Understood): Meaning {
  const found = { isUsed: reply.usedMeaning, isStandIn: isStandIn || reply.isStandIn };
  if (reply.trouble !== undefined) return { ...found, trouble: 'the model cannot be loaded' };
  if (reply.usedMeaning) return found;
  if (trouble !== undefined) return { ...found, trouble };
  const why = reply.hasVectors
    ? "the vectors of the texts have another size than the query's"
    : 'embeddings are being computed';
  return { ...found, trouble: why };
}
