// Converts manifests to a `server.json`, the reverse of `manifest-from-server.ts`. Several manifests may describe one server version.
import { packageOfArtifact } from '../catalog/launch/registry-package.ts';
import { asObject, asObjects, asText, asTexts, isJsonObject, type JsonObject } from '../lib/json.ts';
import { jsonDigest } from '../lib/json-digest.ts';
import { PUBLISHER_META, SERVER_SCHEMA, type ServerJson, type ServerKey, type ServerStatus } from './contract.ts';
import {
  readAddress,
  readIcon,
  readMessage,
  readPackage,
  readRemote,
  readRepository,
  readTimestamp,
} from './listed-parts.ts';

/** One version of a server, built from manifests. */
export interface ListedServer {
  server: ServerJson;
  status: ServerStatus;
  statusMessage: string | null;
  /** From the manifests; null if they have no date. */
  publishedAt: string | null;
  /** When the status changed, if it is not `active`; from the manifests. */
  statusChangedAt: string | null;
  words: EntryWords;
}

/** Data of manifests that `server.json` has no members for; absent if empty. */
export interface EntryWords {
  tags?: string[];
  capabilities?: string[];
  /** Example queries for the server. */
  examples?: string[];
  /** The other hubs that passed on the entry. */
  hubs?: string[];
}

const SERVER_NAME = /^[a-zA-Z0-9.-]+\/[a-zA-Z0-9._-]+$/;
const LONGEST_NAME = 200;
/** Excludes spaces and characters that a database or an address cannot contain. */
const SERVER_VERSION = /^[^\s\p{Cc}\p{Cs}]{1,255}$/u;
const LONGEST_TEXT = 100;
const PUBLIC_REGISTRY = /^https?:\/\/((registry\.)?npmjs\.(org|com)|pypi\.org|docker\.io|(api\.)?nuget\.org)(\/|$)/;
const REPOSITORY = /^https:\/\/(?:www\.)?(github|gitlab)\.com\/[^/]+\/[^/]/;
const REMOTE_TYPES = ['streamable-http', 'sse'];

/** The server that a manifest describes; undefined if it cannot be listed. */
export function serverKeyOf({ type, name, version, provenance }: JsonObject): ServerKey | undefined {
  if (type !== 'mcp_server') return undefined;
  const { server_name, server_version } = asObject(provenance);
  const key = [asText(server_name), asText(name)].find((each) => each !== undefined && isServerName(each));
  const number = asText(server_version) ?? asText(version);
  return key && number && SERVER_VERSION.test(number) ? { name: key, version: number } : undefined;
}

function isServerName(name: string): boolean {
  return name.length <= LONGEST_NAME && SERVER_NAME.test(name);
}

/** The first manifest with a value wins, so the order of `manifests` must be stable. */
export function serverFromManifests(
  { name, version }: ServerKey,
  manifests: readonly [JsonObject, ...JsonObject[]],
): ListedServer {
  const first = <T>(read: (manifest: JsonObject) => T | undefined) =>
    manifests.map(read).find((each) => each !== undefined);
  const repository = first(repositoryOf);
  const title = first((manifest) => asText(manifest.title));
  const websiteUrl = first((manifest) => websiteOf(manifest, repository));
  const icons = first(iconsOf);
  const packages = eachOnce(manifests.flatMap(packagesOf));
  const remotes = eachOnce(manifests.flatMap(remotesOf));
  const provided = first((manifest) => asObject(manifest._meta)[PUBLISHER_META]);
  const description =
    first((manifest) => asText(manifest.description)) ?? first((manifest) => asText(manifest.summary));
  return {
    server: {
      $schema: SERVER_SCHEMA,
      name,
      ...(title ? { title: shortened(title) } : {}),
      description: shortened(description ?? title ?? name),
      version,
      ...(websiteUrl ? { websiteUrl } : {}),
      ...(repository ? { repository } : {}),
      ...(icons ? { icons } : {}),
      ...(packages.length > 0 ? { packages } : {}),
      ...(remotes.length > 0 ? { remotes } : {}),
      ...(isJsonObject(provided) ? { _meta: { [PUBLISHER_META]: provided } } : {}),
    },
    ...statusOf(manifests),
    publishedAt: first(publishedAtOf) ?? null,
    statusChangedAt: first(statusChangedAtOf) ?? null,
    words: wordsOf(manifests),
  };
}

function wordsOf(manifests: readonly JsonObject[]): EntryWords {
  const union = (field: string) => [...new Set(manifests.flatMap((manifest) => asTexts(manifest[field])))];
  const [tags, capabilities, examples, hubs] = [
    union('tags'),
    union('capabilities'),
    union('examples'),
    hubsOf(manifests),
  ];
  return {
    ...(tags.length > 0 ? { tags } : {}),
    ...(capabilities.length > 0 ? { capabilities } : {}),
    ...(examples.length > 0 ? { examples } : {}),
    ...(hubs.length > 0 ? { hubs } : {}),
  };
}

/** The shortest chain of hubs; empty if a manifest came through no other hub. */
function hubsOf(manifests: readonly JsonObject[]): string[] {
  const ways = manifests.map(({ provenance }) => asTexts(asObject(provenance).hubs));
  return ways.toSorted((one, other) => one.length - other.length)[0] ?? [];
}

/** Ignores `disabled`, which only means that the hub cannot start the server; clients of a registry check that themselves. */
function statusOf(manifests: readonly JsonObject[]): Pick<ListedServer, 'status' | 'statusMessage'> {
  const isDeleted = ({ provenance }: JsonObject) => asObject(provenance).registry_status === 'deleted';
  const isDeprecated = ({ lifecycle }: JsonObject) => asObject(lifecycle).status === 'deprecated';
  const status = manifests.every(isDeleted) ? 'deleted' : manifests.every(isDeprecated) ? 'deprecated' : 'active';
  const reason = readMessage(asObject(manifests[0]?.lifecycle).reason);
  return { status, statusMessage: status === 'active' ? null : (reason ?? null) };
}

function publishedAtOf({ provenance }: JsonObject): string | undefined {
  const { published_at, updated_at } = asObject(provenance);
  return readTimestamp(published_at) ?? readTimestamp(updated_at);
}

function statusChangedAtOf({ provenance }: JsonObject): string | undefined {
  return readTimestamp(asObject(provenance).status_changed_at);
}

function repositoryOf({ repository, links, source_url }: JsonObject): JsonObject | undefined {
  const given = readRepository(asObject(repository));
  if (given) return given;
  const address = asText(asObject(links).repository) ?? asText(source_url) ?? '';
  const [, host] = REPOSITORY.exec(address) ?? [];
  return host ? readRepository({ url: address, source: host }) : undefined;
}

function websiteOf({ links, homepage }: JsonObject, repository: JsonObject | undefined): string | undefined {
  const address = readAddress(asText(asObject(links).homepage) ?? asText(homepage));
  const isShown = address?.startsWith('https://') && address !== repository?.url;
  return isShown ? address : undefined;
}

function iconsOf({ icons }: JsonObject): JsonObject[] | undefined {
  const shown = asObjects(asObjects(icons).map(readIcon));
  return shown.length > 0 ? shown : undefined;
}

/** Manifests that were written for this hub list artifacts instead of packages. */
function packagesOf({ packages, artifacts }: JsonObject): JsonObject[] {
  const listed = asObjects(packages);
  const all = listed.length > 0 ? listed : asObjects(asObjects(artifacts).map(packageOfArtifact));
  return asObjects(all.map(packageOf));
}

function packageOf({ registryType, ...pack }: JsonObject): JsonObject | undefined {
  const identifier = asText(pack.identifier);
  const type = asText(registryType)?.toLowerCase();
  if (!type || !identifier) return undefined;
  const { version, registryBaseUrl, transport, ...rest } = pack;
  const base = asText(registryBaseUrl);
  return readPackage({
    registryType: type,
    ...(base && !PUBLIC_REGISTRY.test(base) ? { registryBaseUrl: base } : {}),
    ...rest,
    ...(type === 'oci' ? { identifier: taggedImage(identifier, asText(version)) } : { identifier }),
    ...(type !== 'oci' && asText(version) ? { version: asText(version) } : {}),
    transport: isJsonObject(transport) ? transport : { type: 'stdio' },
  });
}

/** Adds the tag to the image name, because clients would append the version otherwise. */
function taggedImage(image: string, tag: string | undefined): string {
  const isTagged = image.includes('@') || /:[^/]*$/.test(image);
  return tag && !isTagged ? `${image}:${tag}` : image;
}

function remotesOf({ remotes }: JsonObject): JsonObject[] {
  return asObjects(
    asObjects(remotes).map(({ type, ...rest }) => {
      const kind = asText(type)?.toLowerCase() ?? '';
      return readRemote({ type: REMOTE_TYPES.includes(kind) ? kind : 'streamable-http', ...rest });
    }),
  );
}

function eachOnce(values: readonly JsonObject[]): JsonObject[] {
  if (values.length < 2) return [...values];
  return [...new Map(values.map((value) => [jsonDigest(value), value])).values()];
}

/** Cuts at a word, because clients reject longer texts. */
function shortened(text: string): string {
  const line = text.replace(/\s+/g, ' ');
  if (line.length <= LONGEST_TEXT) return line;
  const start = line.slice(0, LONGEST_TEXT - 1);
  const words = start.slice(0, Math.max(start.lastIndexOf(' '), 0));
  return `${(words.length > LONGEST_TEXT / 2 ? words : start).toWellFormed()}…`;
}
