// Normalizes the transports of an entity from manifests to the names used in filters, and to display names.
import { isJsonObject, type JsonObject, storableText } from '../lib/json.ts';
import { describeServer } from './server.ts';

/** No transport has a longer name; longer values are cut, because they are indexed. */
const LONGEST_TRANSPORT = 50;

/** `STREAMABLEHTTP`, `streamable_http` and `Streamable-HTTP` are the same; unknown names are kept in lower case. */
export function normalTransport(text: string): string {
  const plain = storableText(text).trim().toLowerCase().slice(0, LONGEST_TRANSPORT).toWellFormed();
  const letters = plain.replace(/[^a-z]/g, '');
  if (letters === 'streamablehttp' || letters === 'streamable') return 'streamable-http';
  return letters === 'stdio' || letters === 'sse' || letters === 'http' ? letters : plain;
}

const DISPLAY_NAMES: Record<string, string> = {
  stdio: 'stdio',
  sse: 'SSE',
  'streamable-http': 'Streamable HTTP',
};

/** Search and people do not tell HTTP and Streamable HTTP apart, as the hub connects to both alike; policies do. */
export function shownTransport(transport: string): string {
  const normal = normalTransport(transport);
  return normal === 'http' ? 'streamable-http' : normal;
}

/** How pages and the command line show a transport; unknown ones are shown as given. */
export function transportName(transport: string): string {
  return DISPLAY_NAMES[shownTransport(transport)] ?? transport;
}

/** Normalized; empty without a server. */
export function transportsOf(registration: JsonObject | null): string[] {
  return isJsonObject(registration?.server) ? [normalTransport(describeServer(registration).transport)] : [];
}
