// Display names of transports.
import { normalTransport } from '../../../src/catalog/transport.ts';

const NAMES: Record<string, string> = {
  stdio: 'stdio',
  sse: 'SSE',
  http: 'HTTP',
  'streamable-http': 'Streamable HTTP',
};

export function transportName(transport: string): string {
  return NAMES[normalTransport(transport)] ?? transport;
}
