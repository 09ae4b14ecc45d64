// Finds the subject of an install: the requested entity, the manifest in the request, or the content of a lockfile.
import { z } from 'zod';
import type { Catalog } from '../catalog/catalog.ts';
import type { EntityRecord } from '../catalog/contract.ts';
import { type Entity, entityFromManifest } from '../catalog/entity.ts';
import { artifactsOf } from '../catalog/launch/package-artifact.ts';
import { parseReference } from '../catalog/uid.ts';
import { HubError, invalidRequest, UnreachableError, unlessNotFound } from '../errors.ts';
import { isJsonObject, type JsonObject } from '../lib/json.ts';
import type { InstallRequest, LockedEntity } from './contract.ts';
import { isSameArtifact } from './lockfile/lockfile.ts';

type CommonFields = 'slug' | 'name' | 'version' | 'summary' | 'manifestDigest' | 'sourceUrl' | 'publishedAt';
type Texts = Record<'uid' | 'type' | 'title' | 'description', string>;

export interface InstallSubject extends Pick<Entity, CommonFields | 'mcpRegistration'>, Texts {
  document: JsonObject;
  /** Where clients can read the manifest; null if it is not served. */
  manifestUrl: string | null;
  artifacts: JsonObject[];
  adapters: JsonObject[];
  /** Whether the catalog has the entity, so that it can be registered. */
  isInCatalog: boolean;
  warnings: string[];
}

/** Limit for artifacts, packages and adapters: real manifests have a handful, and each is compared with the others. */
const MOST_PARTS = 200;

export interface SubjectCatalog extends Pick<Catalog, 'get' | 'manifest'> {
  /** Absent for the catalog of another hub: a manifest in the request is then installed without saving it. */
  save?: Catalog['save'];
  /** Explains why the policy forbids installing a manifest of a request; absent without a policy. */
  refusalOf?(entity: Entity): Promise<string | undefined>;
  /** Whether the hub's address serves manifests; otherwise only their source does. */
  readonly isServed: boolean;
}

/** Saves a manifest of the request once the policy allows it, except in a dry run. */
export async function findSubject(catalog: SubjectCatalog, request: InstallRequest): Promise<InstallSubject> {
  const { id, manifest } = request;
  if (!manifest) return storedSubject(catalog, { id, prerelease: request.prerelease ?? false });
  const source = { document: manifest, sourceUrl: sourceUrlOf(request) };
  const entity = entityFromManifest(source);
  if (id !== entity.uid && !entity.uid.startsWith(`${id}@`))
    throw invalidRequest('id', `is '${id.slice(0, 120)}', but the manifest describes '${entity.uid}'`);
  assertLists(manifest);
  // Blocked entities stay blocked, even if a request contains their manifest.
  await recordOf(catalog, entity.uid);
  assertAllowed(await catalog.refusalOf?.(entity));
  if (request.dry_run || !catalog.save) return subjectOf(entity, manifest);
  const { uid } = await catalog.save(source);
  return storedSubject(catalog, { id: uid, prerelease: false });
}

/** For frozen installs. The catalog decides whether the entity is allowed and what to register; it may be unreachable. */
export async function lockedSubject(catalog: SubjectCatalog, locked: LockedEntity): Promise<InstallSubject> {
  const { id, type, name, version, provenance } = locked;
  const slug = parseReference(id)?.slug ?? name;
  const stored = await storedSubject(catalog, { id, prerelease: true }).catch(unlessMissingOrAway);
  const artifacts = locked.artifacts.map(({ kind, spec }) => ({ kind, spec }));
  // If the catalog's artifacts differ, or it lacks the entity, the policy checks the locked ones like a manifest of the request.
  const document = { type, id: slug, name, version, artifacts };
  const isStored = (each: JsonObject) => stored?.artifacts.some((one) => isSameArtifact(one, each));
  if (stored === undefined || !artifacts.every(isStored))
    assertAllowed(await catalog.refusalOf?.(entityFromManifest({ document })));
  return {
    ...{ uid: id, type, name, version, title: name, summary: '', description: '', document: {}, slug },
    manifestDigest: provenance.manifest_digest,
    manifestUrl: provenance.manifest_url,
    sourceUrl: provenance.source_url,
    publishedAt: null,
    // Lockfiles contain no secrets, but addresses in a manifest may.
    artifacts: locked.artifacts.map((each) => stored?.artifacts.find((one) => isSameArtifact(one, each)) ?? each),
    adapters: locked.adapters.map(({ framework, template_key, path }) => ({ framework, template_key, path })),
    mcpRegistration: stored?.mcpRegistration ?? null,
    isInCatalog: stored !== undefined,
    warnings: stored?.warnings ?? [],
  };
}

function unlessMissingOrAway(error: unknown): undefined {
  if (!(error instanceof UnreachableError)) unlessNotFound(error);
}

/** Existing clients send the version next to a short id. @throws HubError `invalid_request` */
export function wholeId({ id, version }: Pick<InstallRequest, 'id' | 'version'>): string {
  const reference = parseReference(id);
  if (!reference) throw invalidRequest('id', `'${id.slice(0, 120)}' does not have the form <type>:<slug>@<version>`);
  const wanted = version?.trim();
  if (!wanted || reference.version === wanted) return id;
  if (reference.version === undefined) return `${id}@${wanted}`;
  const [asked, named] = [wanted, reference.version].map((text) => text.slice(0, 120));
  throw invalidRequest('version', `is '${asked}', but the id names '${named}'`);
}

type Wanted = { id: string; prerelease: boolean };

async function storedSubject(catalog: SubjectCatalog, { id, prerelease }: Wanted): Promise<InstallSubject> {
  const record = await recordOf(catalog, id, { prerelease });
  if (!record)
    // An existing client offers to send the manifest if the message contains `source_url` and `missing`.
    throw new HubError(
      'entity_not_found',
      `No entity '${id.slice(0, 120)}' is in the catalog, and manifest and source_url are missing from the request: send the manifest to install it.`,
    );
  assertAllowed(record.install_refusal);
  const { text } = await catalog.manifest(record.id);
  const document: unknown = JSON.parse(text);
  if (!isJsonObject(document)) throw new HubError('invalid_manifest', 'The stored manifest is not an object.');
  assertLists(document);
  const entity = entityFromManifest({ document, text, sourceUrl: record.source_url ?? undefined });
  const manifestUrl = catalog.isServed ? record.manifest_url : record.source_url;
  return { ...subjectOf(entity, document), manifestUrl, isInCatalog: true, warnings: warningsOf(record) };
}

/** Returns undefined if the catalog does not have the entity. @throws HubError `entity_blocked` */
async function recordOf(catalog: SubjectCatalog, id: string, options?: { prerelease: boolean }) {
  const record = await catalog.get(id, options).catch(unlessNotFound);
  if (record && record.blocked_at !== null)
    throw new HubError(
      'entity_blocked',
      `'${record.id}' is blocked by an operator and cannot be installed${because(record.blocked_reason)}.`,
    );
  return record;
}

/** @throws HubError `not_allowed` */
function assertAllowed(refusal: string | undefined): void {
  if (refusal !== undefined) throw new HubError('not_allowed', refusal);
}

function because(reason: string | null | undefined): string {
  return reason ? `: ${reason.replace(/[.\s]+$/, '')}` : '';
}

function warningsOf({ lifecycle, missing_since, missing_reason, prerelease, versions }: EntityRecord): string[] {
  const { status, reason } = lifecycle;
  const stable = versions.find((each) => !each.prerelease && !each.blocked && !each.hidden && each.status === 'active');
  return [
    ...(status === 'active' ? [] : [`This version is ${status}${because(reason)}.`]),
    ...(missing_since === null
      ? []
      : [`No remote has listed this version since ${missing_since.slice(0, 10)}${because(missing_reason)}.`]),
    ...(prerelease && stable ? [`This is a pre-release; ${stable.version} is the newest stable version.`] : []),
  ];
}

function subjectOf(entity: Entity, document: JsonObject): InstallSubject {
  return {
    ...entity,
    title: entity.title ?? entity.name,
    description: typeof document.description === 'string' ? document.description : entity.summary,
    document,
    manifestUrl: entity.sourceUrl,
    isInCatalog: false,
    warnings: [],
    artifacts: artifactsOf(document),
    adapters: (document.adapters as JsonObject[] | null | undefined) ?? [],
  };
}

const Parts = z
  .array(z.looseObject({}, { error: 'must contain only objects' }), { error: 'must be a list' })
  .max(MOST_PARTS, { error: `must not have more than ${MOST_PARTS} entries` })
  .nullish();
const InstallableManifest = z.looseObject({ artifacts: Parts, packages: Parts, adapters: Parts });

/** Ingest ignores lists of another type; an install must not skip them silently. */
function assertLists(document: JsonObject): void {
  const issues = InstallableManifest.safeParse(document).error?.issues ?? [];
  if (issues.length === 0) return;
  const faults = issues.map(({ path, message }) => ({ path: String(path[0]), message }));
  const sentence = faults.map(({ path, message }) => `${path} ${message}`).join('; ');
  throw new HubError('invalid_manifest', `The manifest cannot be installed: ${sentence}.`, { faults });
}

function sourceUrlOf({ source_url, provenance }: InstallRequest): string | undefined {
  const url = source_url ?? provenance?.source_url;
  if (!url?.trim()) return undefined;
  const parsed = URL.parse(url);
  if (!/^https?:$/.test(parsed?.protocol ?? '')) throw invalidRequest('source_url', 'must be an http or https address');
  if (parsed?.username || parsed?.password)
    throw invalidRequest('source_url', 'must not contain a user name or a password, because everyone could see it');
  return url.trim();
}
