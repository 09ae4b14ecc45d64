// Converts a server to an ARD (Agentic Resource Discovery) resource and to a server card.
import { uidInAddress } from '../../catalog/entity.ts';
import { asObjects, asText, type JsonObject } from '../../lib/json.ts';
import { type ArdEntry, CARD_TYPE, type ServerJson } from '../contract.ts';
import { reversedHost } from '../present-entry.ts';
import type { EntryWords } from '../server-from-manifests.ts';
import type { AboutEntry, RegistryEntry } from '../store.ts';

const REGISTRY_TYPE = 'application/ai-registry+json';
/** The schema of SEP-2127; a later revision may use `v2`. */
const CARD_SCHEMA = 'https://static.modelcontextprotocol.io/schemas/v1/server-card.schema.json';
const IDENTIFIER = /^urn:air:([a-zA-Z0-9.-]+):mcp:([a-zA-Z0-9._-]+)$/;

export function ardEntry(entry: RegistryEntry, baseUrl: string): ArdEntry {
  const { name, title, description, packages } = JSON.parse(entry.server) as ServerJson;
  const { ids, ...words } = JSON.parse(entry.about) as AboutEntry;
  const install = asText(asObjects(packages)[0]?.registryType);
  return {
    identifier: identifierOf(name),
    displayName: asText(title) ?? name,
    type: CARD_TYPE,
    url: `${baseUrl}/catalog/card/${uidInAddress(ids[0] ?? '')}`,
    description,
    ...ardWords(words),
    version: entry.version,
    updatedAt: entry.updatedAt,
    metadata: { serverName: name, ...(install ? { install } : {}) },
  };
}

/** Omits empty lists. */
export function ardWords({
  tags = [],
  capabilities = [],
  examples = [],
}: EntryWords): Pick<ArdEntry, 'tags' | 'capabilities' | 'representativeQueries'> {
  return {
    ...(tags.length > 0 ? { tags } : {}),
    ...(capabilities.length > 0 ? { capabilities } : {}),
    // ARD requires two to five.
    ...(examples.length >= 2 && examples.length <= 5 ? { representativeQueries: examples } : {}),
  };
}

/** `org.example/notes` → `urn:air:example.org:mcp:notes`. */
function identifierOf(serverName: string): string {
  const [namespace = '', name = ''] = serverName.split('/');
  return `urn:air:${reversed(namespace)}:mcp:${name}`;
}

/** Returns undefined if the text does not identify a server. */
export function serverNameOf(identifier: string): string | undefined {
  const [, domain, name] = IDENTIFIER.exec(identifier) ?? [];
  return domain && name ? `${reversed(domain)}/${name}` : undefined;
}

export function isIdentifier(text: string): boolean {
  return /^urn:air:[a-zA-Z0-9.-]+(:[a-zA-Z0-9._-]+)+$/.test(text);
}

function reversed(domain: string): string {
  return domain.split('.').toReversed().join('.');
}

/** The target of ARD entries: a `server.json` without packages, with the address of the complete one. */
export function serverCard(entry: RegistryEntry, baseUrl: string): JsonObject {
  const { $schema: _, packages: __, _meta: ___, ...server } = JSON.parse(entry.server) as ServerJson;
  const address = `${baseUrl}/v0.1/servers/${encodeURIComponent(entry.name)}/versions/${encodeURIComponent(entry.version)}`;
  return { $schema: CARD_SCHEMA, ...server, _meta: { [`${reversedHost(baseUrl)}/server-json`]: address } };
}

/** The document at the well-known addresses: a single entry with the search address. */
export function ardManifest(baseUrl: string): JsonObject {
  return {
    specVersion: '1.0',
    host: { displayName: 'Catalog Hub' },
    entries: [
      {
        identifier: `urn:air:${publisherOf(baseUrl)}:registry:hub`,
        displayName: 'Catalog Hub',
        type: REGISTRY_TYPE,
        url: `${baseUrl}/ard`,
        description: 'Search for the MCP servers of this catalog.',
        representativeQueries: ['a server that reads PDF files', 'query a PostgreSQL database'],
      },
    ],
  };
}

/** Clients accept only domains, not IP addresses or `localhost`. */
export function publisherOf(baseUrl: string): string {
  const { hostname } = new URL(baseUrl);
  return /^[a-z0-9-]+(\.[a-z0-9-]+)*\.[a-z][a-z0-9-]+$/i.test(hostname) ? hostname : 'localhost.localdomain';
}
