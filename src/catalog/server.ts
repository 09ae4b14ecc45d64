// Reads the server of a manifest: its address, its transport, its tools, and whether a gateway can connect to it.
import { asObject, asObjects, asText, isJsonObject, type JsonObject } from '../lib/json.ts';
import { shownAddress } from '../lib/secrets/secret-address.ts';
import type { EntityType } from './uid.ts';

const LONGEST_URL = 2048;
const LONGEST_SHOWN_URL = 300;
/** Each part is a call to the gateway. */
const MOST_PARTS = 500;

export function serverOf(registration: JsonObject | null): JsonObject {
  return asObject(registration?.server);
}

/** What the catalog shows of a server. Without a transport, it speaks SSE if it has an address, and otherwise is a local process. */
export function describeServer(registration: JsonObject | null): { url: string; transport: string } {
  const server = serverOf(registration);
  const url = asText(server.url) ?? '';
  return { url, transport: asText(server.transport)?.toUpperCase() ?? (url ? 'SSE' : 'STDIO') };
}

export interface ListedTool {
  name: string;
  description: string;
}

/** Manifests list tools as `tools`, and those to register as `mcp_registration.tool` or `.tools`. */
export function toolsOf(manifest: JsonObject): ListedTool[] {
  const registration = asObject(manifest.mcp_registration);
  const listed = [manifest.tools, registration.tools, [registration.tool]].flatMap((list) =>
    Array.isArray(list) ? list : [],
  );
  const tools = listed.map((each) => {
    const tool = asObject(each);
    return { name: asText(tool.name) ?? asText(each) ?? '', description: asText(tool.description) ?? '' };
  });
  return [...new Map(tools.filter(({ name }) => name !== '').map((tool) => [tool.name, tool])).values()];
}

/** Explains in a sentence why this manifest can never be registered; undefined if it can. */
export function registrationFault({
  type,
  mcpRegistration,
  isDisabled,
}: {
  type: EntityType;
  mcpRegistration: JsonObject | null;
  isDisabled: boolean;
}): string | undefined {
  if (type === 'agent') return 'Agents are not registered with the gateway.';
  if (isDisabled) return 'Its manifest says that it is disabled, so it is not registered.';
  if (!mcpRegistration) return 'Its manifest has no mcp_registration, so there is nothing to register.';
  const partCount = asObjects(mcpRegistration.resources).length + asObjects(mcpRegistration.prompts).length;
  if (partCount > MOST_PARTS)
    return `Its mcp_registration has ${partCount} resources and prompts; at most ${MOST_PARTS} can be registered.`;
  if (isJsonObject(mcpRegistration.server)) return addressFault(describeServer(mcpRegistration));
  const { tool, resources, prompts } = mcpRegistration;
  if (isJsonObject(tool) || asObjects(resources).length > 0 || asObjects(prompts).length > 0) return undefined;
  return 'Its mcp_registration has no server, tool, resource or prompt, so there is nothing to register.';
}

/** Why a gateway could not connect to anything; undefined when there is an address. */
export function lackOfAddress({ url, transport }: { url: string; transport: string }): string | undefined {
  // For STDIO, catalogs often list the address of a web page, not the server's.
  if (transport === 'STDIO') {
    return 'It runs as a local process (stdio) and has no address, so a gateway cannot connect to it.';
  }
  return url === '' ? 'Its registration has no address, so a gateway cannot connect to it.' : undefined;
}

export function addressFault({ url, transport }: { url: string; transport: string }): string | undefined {
  const lack = lackOfAddress({ url, transport });
  if (lack) return lack;
  if (/[{}]|%7[BD]/i.test(url))
    return `Its address is a template (${shownUrl(url)}): fill in the values in braces first.`;
  if (!URL.canParse(url)) return `Its address (${shownUrl(url)}) is not valid.`;
  const { protocol, username, password, hostname } = new URL(url);
  if (protocol !== 'http:' && protocol !== 'https:') {
    return `Its address has the scheme '${protocol}', but gateways connect only over http and https.`;
  }
  if (username || password) return 'Its address contains credentials, which gateways refuse; use auth fields instead.';
  if (hostname.startsWith('[')) return 'Its address is an IPv6 literal, which gateways refuse; use a host name.';
  if (hostname === '0.0.0.0') return 'Its address is 0.0.0.0, which nothing can connect to; use a host name.';
  if (url.length > LONGEST_URL) return `Its address is longer than the ${LONGEST_URL} characters that gateways accept.`;
  return undefined;
}

/** Removes the login and keys from an address, even from one that cannot be parsed. */
export function shownUrl(url: string): string {
  return shownAddress(url.replace(/^([a-z][a-z\d+.-]*:\/*)[^/?#]*@/i, '$1')).slice(0, LONGEST_SHOWN_URL);
}
