// Offers entities and manifests as resources, for clients that attach them to a conversation.
import { type McpServer, ProtocolError, ProtocolErrorCode, ResourceTemplate } from '@modelcontextprotocol/server';
import { readDetails } from '../hub/entity-details.ts';
import { withoutCredentials } from '../lib/secrets/credentials.ts';
import { shownEntity, wholeManifest } from './answers/present.ts';
import { idOf } from './tools/entity-id.ts';
import { type McpHub, type McpServerOptions, shownError } from './tools/tool.ts';

/** The protocol's limit for one response. */
const MOST_IDS = 100;

export function offerResources(server: McpServer, { hub, onFailure }: McpServerOptions): void {
  const complete = { id: (typed: string) => orProtocolError(() => idsThatBeginWith(hub, typed)) };

  server.registerResource(
    'entity',
    new ResourceTemplate('catalog://entity/{id}', { list: undefined, complete }),
    { title: 'An entity of the catalog', description: 'The same as get_entity.', mimeType: 'application/json' },
    (uri, { id }) => read(uri, () => entityDocument(hub, idFrom(id))),
  );
  server.registerResource(
    'manifest',
    new ResourceTemplate('catalog://manifest/{id}', { list: undefined, complete }),
    {
      title: 'A manifest',
      description: 'Everything that was published, without credentials.',
      mimeType: 'application/json',
    },
    (uri, { id }) =>
      read(uri, async () => {
        const { text } = await hub.getManifest(idFrom(id));
        return JSON.stringify(withoutCredentials(JSON.parse(text)), null, 2);
      }),
  );

  async function read(uri: URL, text: () => Promise<string>) {
    return { contents: [{ uri: uri.href, mimeType: 'application/json', text: await orProtocolError(text) }] };
  }

  /** Converts errors to protocol errors, because these responses have no other place for a failure. */
  async function orProtocolError<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      const { message, isOfCaller } = shownError(error, onFailure);
      throw new ProtocolError(isOfCaller ? ProtocolErrorCode.InvalidParams : ProtocolErrorCode.InternalError, message);
    }
  }
}

async function entityDocument(hub: McpHub, id: string): Promise<string> {
  const entity = await hub.getEntity(await idOf({ id, prerelease: false }, hub));
  const { shown, cut } = shownEntity(entity, await readDetails(hub, entity));
  const missing = cut.length > 0 ? { cut, whole: wholeManifest(entity.id) } : {};
  return JSON.stringify({ ...shown, ...missing }, null, 2);
}

/** An id may contain `/`, which is encoded in a URI. */
function idFrom(id: string | string[] | undefined): string {
  const text = String(id);
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** The first matching ids in order, in an array whose length is the total. */
async function idsThatBeginWith(hub: McpHub, typed: string): Promise<string[]> {
  // Databases reject NUL, and no id contains it.
  if (typed.includes('\0')) return [];
  const found = await firstIds(hub, typed);
  const lower = typed.toLowerCase();
  return found.length > 0 || lower === typed ? found : firstIds(hub, lower);
}

async function firstIds(hub: McpHub, idPrefix: string): Promise<string[]> {
  const { items, total } = await hub.listCatalog({ text: '', idPrefix, sort: 'name', limit: MOST_IDS, offset: 0 });
  const ids = items.map(({ id }) => id);
  // The protocol sends the first hundred and reports the array's length as the total. Only for a full hundred: the catalog
  // may change between its two queries, and the difference would be sent as empty values.
  if (ids.length === MOST_IDS) ids.length = Math.max(total, MOST_IDS);
  return ids;
}
