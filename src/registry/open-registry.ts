// Puts the parts of the registry together.
import type { SearchPage, SearchQuery } from '../search/contract.ts';
import { searchQuery } from '../search/search-query.ts';
import { latestVersion } from './latest-version.ts';
import { createRegistry, type Registry, type RegistryDependencies } from './registry.ts';
import { type KeeperDependencies, RegistryKeeper } from './registry-keeper.ts';
import { serverFromManifests, serverKeyOf } from './server-from-manifests.ts';
import type { RegistryTables, ServerMapping } from './store.ts';

interface OpenRegistryDependencies
  extends Pick<RegistryDependencies, 'store' | 'baseUrl'>,
    Omit<KeeperDependencies, 'tables'> {
  tablesOf: (mapping: ServerMapping) => RegistryTables;
  search: (query: SearchQuery) => Promise<SearchPage>;
}

/** Beside the names that match, clients show one page of what search finds. */
const MOST_RANKED = 100;

export function openRegistry({ store, baseUrl, tablesOf, search, ...given }: OpenRegistryDependencies): Registry & {
  close(): Promise<void>;
} {
  const tables = tablesOf({ keyOf: serverKeyOf, listed: serverFromManifests, latest: latestVersion });
  const keeper = new RegistryKeeper({ ...given, tables });
  const rank = async (text: string) => {
    const wish = { text, type: 'mcp_server', includeInactive: true, limit: MOST_RANKED } as const;
    return (await search(searchQuery(wish))).items.map(({ id }) => id);
  };
  const registry = createRegistry({ store, rank, baseUrl, upToDate: () => keeper.bringUpToDate() });
  return { ...registry, close: () => keeper.stop() };
}
