// Under which addresses and transports a server is offered to the gateway, best first.
import { isJsonObject, type JsonObject } from '../lib/json.ts';
import { shownUrl } from './names.ts';

export interface ServerAddress {
  url: string;
  transport: GatewayTransport;
}

type GatewayTransport = 'HTTP' | 'SSE' | 'STREAMABLEHTTP';

/** `fault` is a sentence that says why it cannot be federated. */
export type AddressPlan = { candidates: [ServerAddress, ...ServerAddress[]] } | { fault: string };

const LONGEST_URL = 2048;

export function serverOf(registration: JsonObject | null): JsonObject {
  return isJsonObject(registration?.server) ? registration.server : {};
}

/** What the catalog shows of a server, whether or not it can be federated. */
export function describeServer(registration: JsonObject | null): { url: string; transport: string } {
  const server = serverOf(registration);
  const url = typeof server.url === 'string' ? server.url.trim() : '';
  const named = typeof server.transport === 'string' ? server.transport.trim().toUpperCase() : '';
  return { url, transport: named || (url ? 'SSE' : 'STDIO') };
}

export function planAddresses(registration: JsonObject | null): AddressPlan {
  const { url, transport } = describeServer(registration);
  const fault = addressFault(url, transport);
  if (fault) return { fault };
  return { candidates: candidates(new URL(url), url, normalTransport(transport)) };
}

/** The address of an agent, which is called as it is. */
export function planEndpoint(registration: JsonObject | null): { url: string } | { fault: string } {
  const { url, transport } = describeServer(registration);
  const fault = addressFault(url, transport);
  return fault ? { fault } : { url };
}

/** Why there is nothing that a gateway could connect to; undefined when there is an address. */
export function lackOfAddress({ url, transport }: { url: string; transport: string }): string | undefined {
  // Catalogs put web pages beside STDIO; they are no addresses of the server.
  if (transport === 'STDIO') {
    return 'It runs as a local process (STDIO) and has no address, so that a gateway cannot connect to it.';
  }
  return url === '' ? 'Its registration names no address, so that a gateway cannot connect to it.' : undefined;
}

function addressFault(url: string, transport: string): string | undefined {
  const lack = lackOfAddress({ url, transport });
  if (lack) return lack;
  if (/[{}]|%7[BD]/i.test(url))
    return `Its address is a template (${shownUrl(url)}): fill in the values in braces first.`;
  if (!URL.canParse(url)) return `Its address (${shownUrl(url)}) cannot be read.`;
  const { protocol, username, password, hostname } = new URL(url);
  if (protocol !== 'http:' && protocol !== 'https:') {
    return `Its address has the scheme '${protocol}', and gateways connect over http and https only.`;
  }
  if (username || password) return 'Its address holds credentials, which gateways refuse; use auth fields instead.';
  if (hostname.startsWith('[')) return 'Its address is an IPv6 literal, which gateways refuse; use a name.';
  if (hostname === '0.0.0.0') return 'Its address is 0.0.0.0, which nobody can connect to; use a name.';
  if (url.length > LONGEST_URL) return `Its address is longer than the ${LONGEST_URL} characters that gateways take.`;
  return undefined;
}

function normalTransport(transport: string): GatewayTransport {
  const plain = transport.replace(/[^A-Z]/g, '');
  if (plain === 'HTTP') return 'HTTP';
  return plain.startsWith('STREAMABLE') ? 'STREAMABLEHTTP' : 'SSE';
}

/** Only addresses without a path, and `/messages`, are changed: appending to `/sse` or `/mcp` breaks them. */
function candidates(parsed: URL, url: string, transport: GatewayTransport): [ServerAddress, ...ServerAddress[]] {
  if (transport !== 'SSE') return [{ url, transport }];
  const at = (pathname: string): ServerAddress => {
    const changed = new URL(parsed);
    changed.pathname = pathname;
    return { url: changed.href, transport };
  };
  if (parsed.pathname === '/') return [at('/messages/'), at('/sse')];
  if (parsed.pathname.endsWith('/messages')) return [at(`${parsed.pathname}/`)];
  // Most servers that catalogs call SSE, and whose address ends in /mcp, speak streamable HTTP.
  if (/\/mcp\/?$/.test(parsed.pathname)) {
    return [
      { url, transport },
      { url, transport: 'STREAMABLEHTTP' },
    ];
  }
  return [{ url, transport }];
}

/** Gateways that take HTTP know it as streamable; an answer that names none says nothing. */
export function isSameTransport(one: string, other: string): boolean {
  const plain = (transport: string) =>
    transport
      .toUpperCase()
      .replace(/[^A-Z]/g, '')
      .replace(/^HTTP$/, 'STREAMABLEHTTP');
  return one === '' || other === '' || plain(one) === plain(other);
}
