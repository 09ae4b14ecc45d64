// The manifest of what only a lockfile knows: fetched from where the lockfile says that it came from.
import type { Catalog } from '../catalog/catalog.ts';
import { type Entity, entityFromManifest } from '../catalog/entity.ts';
import { parseReference } from '../catalog/uid.ts';
import { HubError } from '../errors.ts';
import { isJsonObject, type JsonObject } from '../lib/json.ts';
import { fillGaps, gapSecrets, shownAddress } from '../lib/secret-address.ts';
import { type InstallRequest, LOCKFILE_NAME, type LockedEntity, type Lockfile } from './contract.ts';
import { mismatch, otherVersion } from './frozen.ts';
import { findLocked } from './lockfile.ts';

/** A manifest at an address that somebody else named; `error` is what keeps it from being read. */
export type FetchManifest = (url: string, signal: AbortSignal) => Promise<{ entity: Entity } | { error: string }>;

export interface LockedManifestSources {
  catalog: Pick<Catalog, 'get' | 'manifest'>;
  fetchManifest: FetchManifest;
  readLockfile: () => Promise<Lockfile | undefined>;
  signal: AbortSignal;
}

export interface LockedRequest {
  request: InstallRequest;
  /** Whether the catalog has another manifest of the entity, which is not to be replaced by the one in the request. */
  isBesideCatalog: boolean;
}

/**
 * The request of a frozen install as it would be if whoever sends it had the manifest; unchanged when the catalog has it,
 * or the lockfile does not hold it. Stores nothing. @throws HubError `lockfile_mismatch`, `entity_not_found`
 */
export async function withLockedManifest(
  request: InstallRequest,
  sources: LockedManifestSources,
): Promise<LockedRequest> {
  const reference = parseReference(request.id);
  const unchanged = { request, isBesideCatalog: false };
  if (!request.frozen || request.manifest || !reference) return unchanged;
  const locked = findLocked(await sources.readLockfile(), request.id);
  if (!locked) return unchanged;
  // Without a version, the one that is locked is meant, and not the newest.
  const id = reference.version === undefined ? locked.id : request.id;
  const digest = await digestInCatalog(id, sources.catalog);
  const isBesideCatalog = digest !== undefined;
  const fromCatalog = { request: { ...request, id }, isBesideCatalog: false };
  if (digest === locked.provenance.manifest_digest) return fromCatalog;
  // Told as what it is by whoever compares with the lockfile.
  if (isBesideCatalog && id !== locked.id) return fromCatalog;
  if (id !== locked.id) throw otherVersion(locked.id, id);
  const fetched = fetchLocked(locked, sources);
  const found = await (isBesideCatalog ? fetched.catch(unlessOurs) : fetched);
  if (!found) return fromCatalog;
  const { document, sourceUrl } = found;
  return {
    request: { ...request, id, manifest: document, source_url: sourceUrl, provenance: undefined },
    isBesideCatalog,
  };
}

/** The catalog has a manifest, whose difference is the news then. */
function unlessOurs(error: unknown): undefined {
  if (!(error instanceof HubError)) throw error;
}

/** Undefined when the catalog does not have it. */
async function digestInCatalog(id: string, catalog: LockedManifestSources['catalog']): Promise<string | undefined> {
  try {
    const { text } = await catalog.manifest((await catalog.get(id)).id);
    const document: unknown = JSON.parse(text);
    return isJsonObject(document) ? entityFromManifest({ document, text }).manifestDigest : '';
  } catch (error) {
    if (error instanceof HubError && error.code === 'entity_not_found') return undefined;
    throw error;
  }
}

async function fetchLocked(
  locked: LockedEntity,
  { fetchManifest, signal }: LockedManifestSources,
): Promise<{ document: JsonObject; sourceUrl: string | null }> {
  const failures: string[] = [];
  let other: string | undefined;
  for (const url of addressesOf(locked)) {
    const fetched = isShortened(url)
      ? { error: 'a secret of this address is not in the lockfile' }
      : await fetchManifest(url, signal);
    if ('error' in fetched) {
      failures.push(`${shownAddress(url)}: ${fetched.error.replace(/\.$/, '')}`);
      continue;
    }
    const { uid, manifestDigest, manifestText, sourceUrl } = fetched.entity;
    if (manifestDigest === locked.provenance.manifest_digest && uid === locked.id)
      return { document: JSON.parse(manifestText), sourceUrl };
    other ??= `the manifest at ${shownAddress(url)} is another than the one that was locked (${uid} with ${manifestDigest} instead of ${locked.id} with ${locked.provenance.manifest_digest})`;
  }
  if (other !== undefined)
    throw mismatch(`${other}. Send the manifest that was locked, or install without frozen, which locks the new one`);
  throw notToBeHad(locked.id, failures);
}

function addressesOf({ provenance: { source_url, manifest_url } }: LockedEntity): string[] {
  const isWeb = (url: string) => URL.canParse(url) && ['http:', 'https:'].includes(new URL(url).protocol);
  return [...new Set([source_url, manifest_url])].filter((url) => url !== null).filter(isWeb);
}

/** As lockfiles have addresses with a secret in them. */
function isShortened(url: string): boolean {
  return gapSecrets(url).length > 1 && fillGaps(gapSecrets(url), () => '***') === url;
}

function notToBeHad(id: string, failures: readonly string[]): HubError {
  const why =
    failures.length === 0
      ? `${LOCKFILE_NAME} does not say where its manifest can be fetched`
      : `its manifest could not be fetched from where ${LOCKFILE_NAME} says: ${failures.join('; ')}`;
  return new HubError(
    'entity_not_found',
    `No entity '${id.slice(0, 120)}' is in the catalog, and ${why}. Send the manifest that was locked, or ingest the catalog that lists it.`,
  );
}
