// The id argument of the tools: an id, or a short name.
import { z } from 'zod';
import { parseReference } from '../../catalog/uid.ts';
import { HubError } from '../../errors.ts';
import { idsCalled, severalCalled, shown, splitName } from '../../hub/short-names.ts';
import type { SearchPage, SearchQuery } from '../../search/contract.ts';
import type { McpHub } from './tool.ts';

export const SEARCH_ADVICE = 'Use search_catalog to find ids.';

const Given = z.string().trim().min(1).max(500);

/** For tools that change something: a similar name must not be taken by mistake. */
export const WholeId = Given.describe(
  '`<type>:<slug>@<version>` as search_catalog returns it; without the version, the newest stable one',
);

export const EntityId = Given.describe(
  'An id as search_catalog returns it, or a name that only one entity has; without a version, the newest stable one',
);

export const Prerelease = z
  .boolean()
  .default(false)
  .describe('If the id has no version, use the newest one, even if it is a pre-release');

interface AskedEntity {
  id: string;
  version?: string;
  prerelease: boolean;
}

/**
 * Resolves a short name to the whole id. Returns ids unchanged, so that the hub reports errors about them.
 * @throws HubError `entity_not_found`, `invalid_request` if several entities have the name
 */
export async function idOf({ id, version, prerelease }: AskedEntity, hub: McpHub): Promise<string> {
  if (parseReference(id)) return id;
  const name = version !== undefined && splitName(id).version === undefined ? `${id}@${version}` : id;
  const ids = await idsCalled(name, {
    hub: { getEntity: (...given) => hub.getEntity(...given), search: (query) => completeSearch(query, hub) },
    prerelease,
    searchAdvice: SEARCH_ADVICE,
  });
  if (ids.length > 1) throw new HubError('invalid_request', severalCalled(id, ids));
  return ids[0];
}

/** Returns an id with a version unchanged. @throws HubError `invalid_request` with the id, if a name is given */
export async function exactId(id: string, tool: string, hub: McpHub): Promise<string> {
  if (parseReference(id)?.version !== undefined) return id;
  const entity = await hub.getEntity(await idOf({ id, prerelease: false }, hub));
  throw needsId(tool, id, entity.id);
}

export function needsId(tool: string, name: string, id: string): HubError {
  return new HubError('invalid_request', `${tool} needs an id: '${shown(name)}' is ${shown(id)}.`);
}

/** An incomplete index might contain only one of several entities with the name. */
async function completeSearch(query: SearchQuery, hub: McpHub): Promise<SearchPage> {
  const page = await hub.search(query);
  if (page.degraded === undefined) return page;
  throw new HubError(
    'invalid_request',
    `Names cannot be looked up yet. ${page.degraded} Try again in a moment, or use an id.`,
  );
}
