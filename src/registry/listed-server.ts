// Converts a server from an MCP registry's list, or a `server.json`, to a manifest.
import { asObject, asText, isJsonObject, type JsonObject } from '../lib/json.ts';
import { isAgentCard, manifestFromAgentCard } from './agent-card.ts';
import { HUBS_META, OFFICIAL_META } from './contract.ts';
import { readMessage } from './listed-parts.ts';
import { manifestFromServer } from './manifest-from-server.ts';

const LONGEST_HUB_ID = 100;
const SCHEMA = /modelcontextprotocol.*server[\w.-]*\.json$/i;

/** The hub's manifests have a type, and those without one at least have an id. */
export function isServerJson(document: unknown): document is JsonObject {
  if (!isJsonObject(document) || document.type !== undefined) return false;
  if (isWrapped(document) || SCHEMA.test(asText(document.$schema) ?? '')) return true;
  const { id, name, version, packages, remotes } = document;
  return id === undefined && Boolean(name && version) && (Array.isArray(packages) || Array.isArray(remotes));
}

/** Returns a manifest unchanged; converts a `server.json` or an agent card. */
export function manifestOf(document: JsonObject): JsonObject {
  if (isServerJson(document)) return listedManifest(document);
  return isAgentCard(document) ? manifestFromAgentCard(document) : document;
}

/** Newer lists wrap each server and add registry data separately; older lists are flat. */
export function listedManifest(listed: JsonObject): JsonObject {
  const manifest = manifestFromServer(serverOf(listed), officialOf(listed));
  const hubs = hubsOf(listed);
  return hubs.length === 0 ? manifest : { ...manifest, provenance: { ...asObject(manifest.provenance), hubs } };
}

/** Whether another hub got the manifest from this one. */
export function cameThrough(manifest: unknown, hubId: string): boolean {
  const { hubs } = asObject(asObject(manifest).provenance);
  return Array.isArray(hubs) && hubs.includes(hubId);
}

/** Whether the responding hub has this id: it is this hub, or uses a copy of its database. */
export function isAnsweredBy(manifest: unknown, hubId: string): boolean {
  const { hubs } = asObject(asObject(manifest).provenance);
  return Array.isArray(hubs) && hubs.at(-1) === hubId;
}

function hubsOf(listed: JsonObject): string[] {
  const hubs = asObject(listed._meta)[HUBS_META];
  return Array.isArray(hubs) ? hubs.filter((hub) => typeof hub === 'string' && hub.length <= LONGEST_HUB_ID) : [];
}

export function isDeletedServer(listed: JsonObject): boolean {
  return String(officialOf(listed).status ?? serverOf(listed).status ?? '').toLowerCase() === 'deleted';
}

/** Why the registry deprecated or deleted the server. */
export function statusMessage(listed: JsonObject): string | undefined {
  return readMessage(officialOf(listed).statusMessage);
}

function isWrapped({ server }: JsonObject): boolean {
  return isJsonObject(server) && Boolean(server.name);
}

function serverOf(listed: JsonObject): JsonObject {
  return isJsonObject(listed.server) ? listed.server : listed;
}

function officialOf(listed: JsonObject): JsonObject {
  const meta = { ...asObject(serverOf(listed)._meta), ...asObject(listed._meta) };
  return asObject(meta[OFFICIAL_META]);
}
