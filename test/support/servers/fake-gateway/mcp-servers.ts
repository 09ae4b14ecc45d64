// What a gateway finds when it connects to the MCP servers of a test.
import { asObjects } from '../../../../src/lib/json.ts';
import type { Answer, Rules } from './generations.ts';

export interface FakeMcpServer {
  tools?: string[];
  resources?: string[];
  prompts?: string[];
  /** `name: reason` of tools that the gateway leaves out. */
  skippedTools?: string[];
  /** Requires this `auth_token`. */
  bearer?: string;
  /** Requires these `auth_headers`. */
  headers?: Record<string, string>;
  /** Its fault. `hangs`: it accepts and never answers. */
  fault?: McpServerFault;
  /** The transport at this address; by default the one that the path suggests. */
  transport?: 'SSE' | 'STREAMABLEHTTP';
}

export type McpServerFault =
  | 'refused'
  | 'hangs'
  | 'redirects'
  | 'session terminated'
  | 'method not found'
  | 'internal error'
  | 'all tools invalid';

const CAUSES: Record<Exclude<McpServerFault, 'hangs'>, string> = {
  refused: 'All connection attempts failed',
  redirects: "Redirect response '307 Temporary Redirect' for url",
  'session terminated': 'Session terminated',
  'method not found': 'Method not found',
  'internal error': "Server error '500 Internal Server Error' for url",
  'all tools invalid': 'Failed to fetch tools: All 1 tools failed validation. First error: name',
};

export type Contact = { server: FakeMcpServer } | { refusal: Answer } | 'hangs';

export interface Visit {
  url: string;
  transport: string;
  authToken: unknown;
  authHeaders: unknown;
}

/** Servers that the test does not name work, and have one tool. */
export function contact(
  { url, transport, authToken, authHeaders }: Visit,
  server: FakeMcpServer | undefined,
  rules: Rules,
): Contact {
  const known = server ?? { tools: ['echo_text'] };
  if (known.fault === 'hangs') return 'hangs';
  const sent = new Map(asObjects(authHeaders).map(({ key, value }) => [key, value]));
  const lacksHeader = Object.entries(known.headers ?? {}).some(([key, value]) => sent.get(key) !== value);
  const lacksToken = known.bearer !== undefined && authToken !== known.bearer;
  const unauthorized = (lacksToken || lacksHeader) && "Client error '401 Unauthorized' for url";
  const cause = known.fault ? CAUSES[known.fault] : unauthorized || transportFault(url, transport, known);
  if (!cause) return { server: known };
  const message =
    rules.unreachableStatus === 503
      ? 'Unable to connect to gateway'
      : `Failed to initialize gateway at ${url}: ${cause}`;
  return { refusal: { status: rules.unreachableStatus, body: { message } } };
}

/** The gateway sends GET for SSE, which `/messages/` and `/mcp` do not support, and POST for streamable HTTP. */
function transportFault(url: string, transport: string, server: FakeMcpServer): string | undefined {
  const { pathname } = new URL(url);
  const suggested = /\/mcp\/?$/.test(pathname)
    ? 'STREAMABLEHTTP'
    : /\/(sse|messages)\/?$/.test(pathname)
      ? 'SSE'
      : transport;
  const spoken = server.transport ?? suggested;
  if (transport === 'SSE') {
    const isStream = spoken === 'SSE' && !/\/messages\/?$/.test(pathname);
    return isStream ? undefined : "Client error '405 Method Not Allowed' for url";
  }
  return spoken === 'STREAMABLEHTTP' ? undefined : 'Session terminated';
}
