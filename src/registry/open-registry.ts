// Wires up the parts of the registry.
import type { SearchPage, SearchQuery } from '../search/contract.ts';
import { searchQuery } from '../search/search-query.ts';
import { createArd } from './ard/ard.ts';
import { type AgentSource, createArdAgents } from './ard/ard-agents.ts';
import type { Ard } from './contract.ts';
import { latestVersion } from './latest-version.ts';
import { createPublishing, type Publishing, type PublishingDependencies } from './publishing/publish.ts';
import { createRegistry, type Registry, type RegistryDependencies } from './registry.ts';
import { type KeeperDependencies, RegistryKeeper } from './registry-keeper.ts';
import { serverFromManifests, serverKeyOf } from './server-from-manifests.ts';
import type { RegistryTables, ServerMapping, ViewStore } from './store.ts';
import { createViews, type Views } from './views.ts';

interface OpenRegistryDependencies
  extends Pick<RegistryDependencies, 'store' | 'baseUrl' | 'hubId'>,
    Pick<PublishingDependencies, 'clearGateway'>,
    Omit<KeeperDependencies, 'tables'> {
  catalog: PublishingDependencies['catalog'] & Pick<AgentSource, 'manifest'>;
  viewStore: ViewStore;
  tablesOf: (mapping: ServerMapping) => RegistryTables;
  search: (query: SearchQuery) => Promise<SearchPage>;
  /** Includes the policy's decisions. */
  getEntity: AgentSource['get'] & PublishingDependencies['getEntity'];
}

/** Clients show one page of search results in addition to matching names. */
const MOST_RANKED = 100;
/** Agents with a card are few; a list reads each of them. */
const MOST_AGENTS = 1_000;

export function openRegistry({
  store,
  baseUrl,
  hubId,
  viewStore,
  tablesOf,
  search,
  catalog,
  getEntity,
  clearGateway,
  ...given
}: OpenRegistryDependencies): Registry & {
  ard: Ard;
  views: Views;
  publishing: Publishing;
  close(): Promise<void>;
} {
  const tables = tablesOf({ keyOf: serverKeyOf, listed: serverFromManifests, latest: latestVersion });
  const keeper = new RegistryKeeper({ ...given, tables });
  const upToDate = () => keeper.bringUpToDate();
  const rank = async (text: string) => {
    const request = { text, type: 'mcp_server', includeInactive: true, limit: MOST_RANKED } as const;
    const { items } = await search(searchQuery(request));
    const servers = await store.serversOf(items.map(({ id }) => id));
    return items.flatMap(({ id, score_final: score }) => {
      const key = servers.get(id);
      return key ? { key, score } : [];
    });
  };
  const findAgents = async (text = '') => {
    const limit = text === '' ? MOST_AGENTS : MOST_RANKED;
    const request = { text, type: 'agent', transports: ['a2a'], versions: 'latest', limit } as const;
    const { items } = await search(searchQuery(request));
    return items.map(({ id, score_final: score }) => ({ uid: id, score }));
  };
  const agents = createArdAgents({ find: findAgents, get: getEntity, manifest: catalog.manifest }, baseUrl);
  const views = createViews(viewStore);
  const registry = createRegistry({ store, rank, baseUrl, hubId, upToDate, views });
  const publishing = createPublishing({
    ...{ catalog, store, upToDate, clearGateway, getEntity, baseUrl, hubId },
    now: given.now,
  });
  const ard = createArd({ store, rank, baseUrl, upToDate, agents });
  return { ...registry, views, publishing, ard, close: () => keeper.stop() };
}
