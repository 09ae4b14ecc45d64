// The transports of an entity, as manifests write them and as filters name them.
import { isJsonObject, type JsonObject, storableText } from '../lib/json.ts';

/** No transport has a longer name; what is longer is cut, because an index holds it. */
const LONGEST_TRANSPORT = 50;

/** `STREAMABLEHTTP`, `streamable_http` and `Streamable-HTTP` are one; what is not known stays, in lower case. */
export function normalTransport(text: string): string {
  const plain = storableText(text).trim().toLowerCase().slice(0, LONGEST_TRANSPORT).toWellFormed();
  const letters = plain.replace(/[^a-z]/g, '');
  if (letters === 'streamablehttp' || letters === 'streamable') return 'streamable-http';
  return letters === 'stdio' || letters === 'sse' || letters === 'http' ? letters : plain;
}

/** A server that names none speaks SSE when it has an address, and is a local process otherwise. */
export function transportsOf(registration: JsonObject | null): string[] {
  const server = registration?.server;
  if (!isJsonObject(server)) return [];
  const named = typeof server.transport === 'string' ? normalTransport(server.transport) : '';
  const hasAddress = typeof server.url === 'string' && server.url.trim() !== '';
  return [named || (hasAddress ? 'sse' : 'stdio')];
}
