// Entities and manifests as resources, for clients that attach them to a conversation.
import { type McpServer, ProtocolError, ProtocolErrorCode, ResourceTemplate } from '@modelcontextprotocol/server';
import { searchQuery } from '../search/search-query.ts';
import { shownEntity } from './present.ts';
import { type McpHub, type McpServerOptions, shownError } from './tool.ts';

const MOST_COMPLETIONS = 10;

export function offerResources(server: McpServer, { hub, onFailure }: McpServerOptions): void {
  const complete = { id: (words: string) => idsFor(hub, words) };

  server.registerResource(
    'entity',
    new ResourceTemplate('catalog://entity/{id}', { list: undefined, complete }),
    { title: 'An entity of the catalog', description: 'The same as get_entity.', mimeType: 'application/json' },
    (uri, { id }) => read(uri, async () => JSON.stringify(shownEntity(await hub.getEntity(idFrom(id))), null, 2)),
  );
  server.registerResource(
    'manifest',
    new ResourceTemplate('catalog://manifest/{id}', { list: undefined, complete }),
    { title: 'A manifest as it was published', mimeType: 'application/json' },
    (uri, { id }) => read(uri, async () => (await hub.getManifest(idFrom(id))).text),
  );

  async function read(uri: URL, text: () => Promise<string>) {
    try {
      return { contents: [{ uri: uri.href, mimeType: 'application/json', text: await text() }] };
    } catch (error) {
      const { code, message } = shownError(error, onFailure);
      const isOurs = code === 'internal_error';
      throw new ProtocolError(isOurs ? ProtocolErrorCode.InternalError : ProtocolErrorCode.InvalidParams, message);
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

async function idsFor(hub: McpHub, words: string): Promise<string[]> {
  const { items } = await hub.search(searchQuery({ text: words, mode: 'keyword', limit: MOST_COMPLETIONS }));
  return items.map(({ id }) => id);
}
