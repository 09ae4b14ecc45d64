// The manifest of what only a lockfile knows: fetched from where the lockfile says that it came from.
import type { Catalog } from '../catalog/catalog.ts';
import type { Entity } from '../catalog/entity.ts';
import { parseReference } from '../catalog/uid.ts';
import { HubError } from '../errors.ts';
import type { JsonObject } from '../lib/json.ts';
import { fillGaps, gapSecrets, shownAddress } from '../lib/secret-address.ts';
import { type InstallRequest, LOCKFILE_NAME, type LockedEntity, type Lockfile } from './contract.ts';
import { mismatch, otherVersion } from './frozen.ts';
import { findLocked } from './lockfile.ts';

/** A manifest at an address that somebody else named; `error` is what keeps it from being read. */
export type FetchManifest = (url: string, signal: AbortSignal) => Promise<{ entity: Entity } | { error: string }>;

export interface LockedManifestSources {
  catalog: Pick<Catalog, 'get'>;
  fetchManifest: FetchManifest;
  readLockfile: () => Promise<Lockfile | undefined>;
  signal: AbortSignal;
}

/**
 * The request of a frozen install as it would be if whoever sends it had the manifest; unchanged when the catalog has it,
 * or the lockfile does not hold it. Stores nothing. @throws HubError `lockfile_mismatch`, `entity_not_found`
 */
export async function withLockedManifest(
  request: InstallRequest,
  sources: LockedManifestSources,
): Promise<InstallRequest> {
  const reference = parseReference(request.id);
  if (!request.frozen || request.manifest || !reference) return request;
  const locked = findLocked(await sources.readLockfile(), request.id);
  if (!locked) return request;
  // Without a version, the one that is locked is meant, and not the newest.
  const id = reference.version === undefined ? locked.id : request.id;
  if (await isInCatalog(id, sources.catalog)) return { ...request, id };
  if (id !== locked.id) throw otherVersion(locked.id, id);
  const { document, sourceUrl } = await fetchLocked(locked, sources);
  return { ...request, id, manifest: document, source_url: sourceUrl, provenance: undefined };
}

async function isInCatalog(id: string, catalog: LockedManifestSources['catalog']): Promise<boolean> {
  return catalog.get(id).then(
    () => true,
    (error: unknown) => {
      if (error instanceof HubError && error.code === 'entity_not_found') return false;
      throw error;
    },
  );
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
