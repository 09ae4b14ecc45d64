// Determines the addresses and transports to try for a server, best first.
import { addressFault, describeServer } from '../../catalog/server.ts';
import type { JsonObject } from '../../lib/json.ts';

export interface ServerAddress {
  url: string;
  transport: GatewayTransport;
}

type GatewayTransport = 'HTTP' | 'SSE' | 'STREAMABLEHTTP';

/** `fault` is a sentence that explains why the server cannot be federated. */
export type AddressPlan = { candidates: [ServerAddress, ...ServerAddress[]] } | { fault: string };

export function planAddresses(registration: JsonObject | null): AddressPlan {
  const server = describeServer(registration);
  const fault = addressFault(server);
  if (fault) return { fault };
  return { candidates: candidates(new URL(server.url), server.url, normalTransport(server.transport)) };
}

function normalTransport(transport: string): GatewayTransport {
  const plain = transport.replace(/[^A-Z]/g, '');
  if (plain === 'HTTP') return 'HTTP';
  return plain.startsWith('STREAMABLE') ? 'STREAMABLEHTTP' : 'SSE';
}

/** Changes only addresses without a path, and `/messages`: appending to `/sse` or `/mcp` breaks them. */
function candidates(parsed: URL, url: string, transport: GatewayTransport): [ServerAddress, ...ServerAddress[]] {
  if (transport !== 'SSE') return [{ url, transport }];
  const at = (pathname: string): ServerAddress => {
    const changed = new URL(parsed);
    changed.pathname = pathname;
    return { url: changed.href, transport };
  };
  if (parsed.pathname === '/') return [at('/messages/'), at('/sse')];
  if (parsed.pathname.endsWith('/messages')) return [at(`${parsed.pathname}/`)];
  // Most servers that catalogs list as SSE, with an address ending in /mcp, use streamable HTTP.
  if (/\/mcp\/?$/.test(parsed.pathname)) {
    return [
      { url, transport },
      { url, transport: 'STREAMABLEHTTP' },
    ];
  }
  return [{ url, transport }];
}

/** Gateways that accept HTTP store it as streamable; an empty transport matches any. */
export function isSameTransport(one: string, other: string): boolean {
  const plain = (transport: string) =>
    transport
      .toUpperCase()
      .replace(/[^A-Z]/g, '')
      .replace(/^HTTP$/, 'STREAMABLEHTTP');
  return one === '' || other === '' || plain(one) === plain(other);
}
