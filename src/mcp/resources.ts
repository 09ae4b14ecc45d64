// Entities and manifests as resources, for clients that attach them to a conversation.
import { type McpServer, ProtocolError, ProtocolErrorCode, ResourceTemplate } from '@modelcontextprotocol/server';
import { ENTITY_TYPES, type EntityType } from '../catalog/uid.ts';
import { withoutCredentials } from '../lib/credentials.ts';
import { shownEntity } from './present.ts';
import { type McpHub, type McpServerOptions, shownError } from './tool.ts';

/** Of one question; a larger catalog is asked by what was typed. */
const MOST_LISTED = 500;

export function offerResources(server: McpServer, { hub, onFailure }: McpServerOptions): void {
  const complete = { id: (typed: string) => told(() => idsThatBeginWith(hub, typed)) };

  server.registerResource(
    'entity',
    new ResourceTemplate('catalog://entity/{id}', { list: undefined, complete }),
    { title: 'An entity of the catalog', description: 'The same as get_entity.', mimeType: 'application/json' },
    (uri, { id }) => read(uri, async () => JSON.stringify(shownEntity(await hub.getEntity(idFrom(id))), null, 2)),
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
    return { contents: [{ uri: uri.href, mimeType: 'application/json', text: await told(text) }] };
  }

  /** In the way of the protocol, which has no place for a failure here but its own errors. */
  async function told<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      const { message, isOfCaller } = shownError(error, onFailure);
      throw new ProtocolError(isOfCaller ? ProtocolErrorCode.InvalidParams : ProtocolErrorCode.InternalError, message);
    }
  }
}

/** Ids hold `/` at times, which stands encoded in an address. */
function idFrom(id: string | string[] | undefined): string {
  const text = String(id);
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** All that are known to; how many of them are sent is up to the protocol. */
async function idsThatBeginWith(hub: McpHub, typed: string): Promise<string[]> {
  const prefix = typed.toLowerCase();
  const colon = prefix.indexOf(':');
  const types = ENTITY_TYPES.filter((type) =>
    colon === -1 ? type.startsWith(prefix) : type === prefix.slice(0, colon),
  );
  const [slug = ''] = colon === -1 ? [] : prefix.slice(colon + 1).split('@');
  const ids = await Promise.all(types.map((type) => idsOf(hub, { type, slug })));
  return ids.flat().filter((id) => id.toLowerCase().startsWith(prefix));
}

async function idsOf(hub: McpHub, { type, slug }: { type: EntityType; slug: string }): Promise<string[]> {
  const page = { type, sort: 'name', limit: MOST_LISTED, offset: 0 } as const;
  const { items, total } = await hub.listCatalog({ ...page, text: '' });
  // Names mostly hold what the id is made of.
  const named = total > items.length && slug !== '' ? (await hub.listCatalog({ ...page, text: slug })).items : [];
  return [...new Set([...items, ...named].map(({ id }) => id))];
}
