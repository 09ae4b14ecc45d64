// The address of a server → how it is reached, with gaps for secrets and for what each user has to give.
import { asObject, asObjects, asText, type JsonObject } from '../lib/json.ts';
import { fillGaps, type GappedText, gapSecrets } from '../lib/secret-address.ts';
import type { Launch } from './launch-form.ts';
import { either, fillTemplate, headersOf } from './launch-input.ts';

/** A remote as registries list it; `headers` are those that the registration sets itself. */
export function launchRemote(
  remote: JsonObject,
  headers: JsonObject,
  nameFor: (name: string) => string,
): Launch | undefined {
  const url = filledAddress(remote);
  if (!url) return undefined;
  const listed = [
    ...asObjects(remote.headers),
    ...Object.entries(headers).map(([name, value]) => ({ name, value, isRequired: true })),
  ];
  const named = asText(either(remote, 'type', 'transport_type', 'transport')) ?? '';
  return { kind: 'remote', transport: spokenTransport(url, named), url, headers: headersOf(listed, nameFor) };
}

/** `{tenant}` becomes its value or a gap, and so do secrets. Undefined for what is no address on the web. */
function filledAddress(remote: JsonObject): GappedText | undefined {
  const text = asText(remote.url);
  if (!text) return undefined;
  const described = asObject(remote.variables);
  const names = [...text.matchAll(/\{([\w.-]+)\}/g)].map(([, name = '']) => name);
  const variables = Object.fromEntries(names.map((name) => [name, asObject(described[name])]));
  const parts = (fillTemplate(text, variables, true) ?? []).flatMap((part) =>
    typeof part === 'string' ? gapSecrets(part) : [part],
  );
  return isWebAddress(fillGaps(parts, () => 'x')) ? parts : undefined;
}

function isWebAddress(url: string): boolean {
  return URL.canParse(url) && ['http:', 'https:'].includes(new URL(url).protocol);
}

/** Addresses that end in /mcp speak streamable HTTP, whatever catalogs call them. */
function spokenTransport(url: GappedText, named: string): 'http' | 'sse' {
  const { pathname } = new URL(fillGaps(url, () => 'x'));
  return /sse/i.test(named) && !/\/mcp\/?$/.test(pathname) ? 'sse' : 'http';
}
