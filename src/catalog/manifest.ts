// Reads manifests leniently: three fields are required, and any other invalid field is ignored.
import { HubError, type InputFault } from '../errors.ts';
import {
  asObject,
  asObjects,
  asText,
  isJsonObject,
  isWithinDepth,
  type JsonObject,
  storableText,
} from '../lib/json.ts';
import { ENTITY_TYPES, type EntityType, slugFault, versionFault } from './uid.ts';

export const LIFECYCLE_STATUSES = ['active', 'deprecated', 'disabled'] as const;
export type LifecycleStatus = (typeof LIFECYCLE_STATUSES)[number];

/** What the hub uses of a manifest; everything else remains in the stored document. */
export interface Manifest {
  type: EntityType;
  slug: string;
  version: string;
  name: string;
  title: string | null;
  summary: string;
  description: string;
  license: string | null;
  homepage: string | null;
  readme: string | null;
  schemaVersion: number | null;
  capabilities: string[];
  tags: string[];
  frameworks: string[];
  providers: string[];
  artifacts: JsonObject[];
  /** What registry entries have instead of artifacts. */
  packagesAndRemotes: JsonObject[];
  adapters: JsonObject[];
  compatibility: JsonObject;
  links: Record<string, string>;
  lifecycle: { status: LifecycleStatus; reason: string | null };
  provenance: JsonObject;
  mcpRegistration: JsonObject | null;
  /** When this version was published or last changed, ISO 8601 in UTC. */
  publishedAt: string | null;
}

export const DEEPEST_MANIFEST = 64;
export const TOO_DEEP = `must not be nested deeper than ${DEEPEST_MANIFEST} levels`;
/** Names and list values are indexed, and index keys have a maximum length; the stored document keeps them complete. */
const LONGEST_KEY = 200;
/** Lists show the summary; the description is complete. */
const LONGEST_SUMMARY = 1000;
/** Maximum tags, capabilities and the like per manifest: a page of results shows those of a hundred manifests. */
const MOST_TEXTS = 200;

/** @throws HubError `invalid_manifest` with all the faults of the document. */
export function readManifest(document: unknown): Manifest {
  if (!isJsonObject(document)) throw invalid([{ path: '', message: 'must be an object' }]);
  if (!isWithinDepth(document, DEEPEST_MANIFEST)) throw invalid([{ path: '', message: TOO_DEEP }]);
  const identity = readIdentity(document);
  const title = text(document.title);
  const description = text(document.description) ?? '';
  const compatibility = asObject(document.compatibility);
  const provenance = asObject(document.provenance);
  return {
    ...identity,
    name: cut(text(document.name) ?? title ?? identity.slug),
    title: title?.slice(0, LONGEST_SUMMARY).toWellFormed() ?? null,
    summary: (text(document.summary) ?? description).slice(0, LONGEST_SUMMARY).toWellFormed(),
    description,
    license: text(document.license),
    homepage: text(document.homepage),
    readme: text(document.readme),
    schemaVersion: Number.isSafeInteger(document.schema_version) ? Number(document.schema_version) : null,
    capabilities: texts(document.capabilities),
    tags: texts(document.tags),
    frameworks: union(texts(compatibility.frameworks), texts(document.frameworks)),
    providers: union(texts(compatibility.providers), texts(document.providers)),
    artifacts: asObjects(document.artifacts),
    packagesAndRemotes: [...asObjects(document.packages), ...asObjects(document.remotes)],
    adapters: asObjects(document.adapters),
    compatibility,
    links: readLinks(document),
    lifecycle: readLifecycle(document),
    provenance,
    mcpRegistration: isJsonObject(document.mcp_registration) ? document.mcp_registration : null,
    publishedAt: timestamp(provenance.updated_at) ?? timestamp(provenance.published_at) ?? registryDate(document),
  };
}

function readIdentity(document: JsonObject): { type: EntityType; slug: string; version: string } {
  const type = ENTITY_TYPES.find((each) => each === document.type);
  const slug = asText(document.id);
  const version = asText(document.version);
  const faults: InputFault[] = [];
  if (!type) faults.push({ path: 'type', message: `must be one of ${ENTITY_TYPES.join(', ')}` });
  const idFault = slug === undefined ? noTextFault(document.id) : slugFault(slug);
  if (idFault) faults.push({ path: 'id', message: idFault });
  const fault = version === undefined ? noTextFault(document.version) : versionFault(version);
  if (fault) faults.push({ path: 'version', message: fault });
  if (!type || slug === undefined || version === undefined || faults.length > 0) throw invalid(faults);
  return { type, slug, version };
}

/** Numbers are not converted to strings: `1.10` without quotes is the number 1.1, which is another version. */
function noTextFault(value: unknown): string {
  if (typeof value !== 'number') return 'must be a non-empty string';
  return `must be a string, but is the number ${value}: put it in quotes, as in "1.0"`;
}

function invalid(faults: InputFault[]): HubError {
  const sentence = faults.map(({ path, message }) => `${path || 'it'} ${message}`).join('; ');
  return new HubError('invalid_manifest', `The manifest cannot be read: ${sentence}.`, { faults });
}

function readLinks(document: JsonObject): Record<string, string> {
  const links = Object.entries(asObject(document.links)).flatMap(([rel, href]) => {
    const address = text(href);
    return address ? [[rel, address] as const] : [];
  });
  // In manifests, `source_url` is the repository's page, not the URL of the manifest.
  const repository = text(document.source_url);
  return { ...(repository ? { repository } : {}), ...Object.fromEntries(links) };
}

function readLifecycle(document: JsonObject): Manifest['lifecycle'] {
  const lifecycle = asObject(document.lifecycle);
  const named = text(lifecycle.status ?? document.status)?.toLowerCase();
  const status = LIFECYCLE_STATUSES.find((each) => each === named) ?? 'active';
  return { status, reason: text(lifecycle.reason) };
}

/** The date that an MCP registry adds to a document. */
function registryDate(document: JsonObject): string | null {
  const official = asObject(asObject(document._meta)['io.modelcontextprotocol.registry/official']);
  return timestamp(official.updatedAt) ?? timestamp(official.publishedAt);
}

function text(value: unknown): string | null {
  if (typeof value !== 'string') return null;
  return storableText(value).trim() || null;
}

function cut(value: string): string {
  return value.slice(0, LONGEST_KEY).toWellFormed();
}

/** A list of strings; a single string counts as a list of one, and other values are ignored. */
function texts(value: unknown): string[] {
  const values = Array.isArray(value) ? value : [value];
  return union(values.flatMap((each) => text(each) ?? []).map(cut)).slice(0, MOST_TEXTS);
}

/** Drops duplicates, ignoring case. */
function union(...lists: string[][]): string[] {
  const byKey = new Map<string, string>();
  for (const value of lists.flat()) {
    const key = value.toLowerCase();
    if (!byKey.has(key)) byKey.set(key, value);
  }
  return [...byKey.values()];
}

/** A day, or a time with or without a zone. Parsing anything else with `Date` is a guess: it puts `foo 12` in 2001. */
const MOMENT =
  /^(?<day>\d{4}-\d\d-\d\d)(?:(?<time>T(?:[01]\d|2[0-3]):[0-5]\d(?::[0-5]\d(?:\.\d+)?)?)(?<zone>Z|[+-](?:[01]\d|2[0-3]):[0-5]\d)?)?$/;

function timestamp(value: unknown): string | null {
  const { day, time, zone = 'Z' } = MOMENT.exec(text(value)?.replace(' ', 'T') ?? '')?.groups ?? {};
  if (day === undefined) return null;
  const date = new Date(time ? `${day}${time}${zone}` : day);
  const isDay = new Date(day).getUTCDate() === Number(day.slice(-2));
  return Number.isNaN(date.getTime()) || !isDay || date.getUTCFullYear() < 1970 || date.getUTCFullYear() > 9999
    ? null
    : date.toISOString();
}
