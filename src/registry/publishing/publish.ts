// Publishes servers to this hub, and changes the status of published versions.
import type { Catalog } from '../../catalog/catalog.ts';
import type { EntityRecord } from '../../catalog/contract.ts';
import { entityFromManifest } from '../../catalog/entity.ts';
import { type EntityUid, formatUid } from '../../catalog/uid.ts';
import { HubError, invalidRequest } from '../../errors.ts';
import { asObject, type JsonObject } from '../../lib/json.ts';
import { isSameJson } from '../../lib/json-digest.ts';
import type { Clock } from '../../lib/world.ts';
import {
  keyText,
  PUBLISHED,
  type ServerKey,
  type ServerResponse,
  type StatusChanged,
  type StatusRequest,
} from '../contract.ts';
import { lifecycleOf, manifestFromServer, registrationOf } from '../manifest-from-server.ts';
import { presentEntry } from '../present-entry.ts';
import { serverFromManifests, serverKeyOf } from '../server-from-manifests.ts';
import type { AboutEntry, RegistryEntry, RegistryStore } from '../store.ts';
import { isManifest, publishingFaults } from './validate.ts';

export interface Publishing {
  /** Accepts a `server.json`, or a server's manifest. @throws HubError `invalid_server`, `name_taken`, `version_taken` */
  publish(document: JsonObject): Promise<ServerResponse>;
  /** @throws HubError `invalid_request`, `entity_not_found`, `not_published` */
  setStatus(request: StatusRequest): Promise<StatusChanged>;
}

export interface PublishingDependencies {
  catalog: Pick<Catalog, 'publish' | 'get'>;
  store: Pick<RegistryStore, 'twinsOf' | 'entries' | 'versions' | 'publishedManifests'>;
  /** Resolves when the entries reflect the catalog, or when the time limit ends. */
  upToDate: () => Promise<unknown>;
  /** Removes servers from the gateway that are no longer allowed there. */
  clearGateway: () => Promise<unknown>;
  /** Includes the policy's decisions. */
  getEntity: (uid: EntityUid) => Promise<Pick<EntityRecord, 'id' | 'approval'>>;
  baseUrl: () => string;
  hubId: string;
  now: Clock;
}

export function createPublishing(dependencies: PublishingDependencies): Publishing {
  const { catalog, store, upToDate, clearGateway, getEntity, baseUrl, hubId, now } = dependencies;

  const save = (manifests: readonly JsonObject[], options?: { onlyNew: boolean }) =>
    catalog.publish(
      PUBLISHED,
      manifests.map((document) => ({ entity: entityFromManifest({ document }), manifestUrl: PUBLISHED })),
      options,
    );

  /** Entries that the policy hides are not in the registry, but their publisher should still see what was stored. */
  async function shown(manifests: readonly JsonObject[], waits?: string): Promise<ServerResponse[]> {
    await upToDate();
    const presenter = { baseUrl: baseUrl(), hubId };
    const listed = await store.entries(manifests.map(keyOf));
    const byKey = new Map(listed.map((entry) => [keyText(entry), entry]));
    return manifests.map((manifest) => {
      const entry = byKey.get(keyText(keyOf(manifest)));
      const isListed = entry !== undefined && !isTombstone(entry, manifest);
      const note = waits ?? (isListed ? undefined : UNLISTED);
      return presentEntry(withNote(isListed ? entry : unlisted(manifest), note), presenter);
    });
  }

  /** @throws HubError `name_taken`, `version_taken` */
  async function assertFree(key: ServerKey): Promise<void> {
    const [twin] = await store.twinsOf(key.name);
    if (twin) {
      const advice = 'publish another version of that server, or choose a name that cannot be confused with it';
      throw new HubError('name_taken', `The server '${twin}' differs from '${key.name}' only in case: ${advice}.`);
    }
    await upToDate();
    const [entry] = await store.entries([key]);
    if (entry && entry.status !== 'deleted') throw taken(key);
  }

  async function publishedVersions({ name, version }: StatusRequest): Promise<JsonObject[]> {
    const texts = await store.publishedManifests(name, version);
    if (texts.length > 0) return texts.map((text) => JSON.parse(text) as JsonObject);
    await upToDate();
    const listed = await store.versions(name, { version, includeDeleted: false });
    const own = version === undefined ? `mcp_server:${name}` : formatUid({ type: 'mcp_server', slug: name, version });
    const { id, remote } = await catalog.get(listed.flatMap(idsOf)[0] ?? own);
    throw new HubError(
      'not_published',
      `'${id}' was not published to this hub, but comes from ${remote ?? 'a manifest without a remote'}: block it if it should not be used.`,
    );
  }

  return {
    async publish(document) {
      const faults = publishingFaults(document);
      if (faults.length > 0) throw invalid(faults);
      const manifest = publishedManifest(document, now().toISOString());
      const key = keyOf(manifest);
      await assertFree(key);
      const [outcome] = await save([manifest], { onlyNew: true });
      if (outcome !== 'created') throw taken(key);
      const { id, approval } = await getEntity(entityFromManifest({ document: manifest }).uid);
      const [server] = await shown([manifest], approval?.state === 'pending' ? waitsNote(id) : undefined);
      return server as ServerResponse;
    },

    async setStatus(request) {
      const { status, statusMessage } = request;
      if (status === 'active' && statusMessage !== undefined)
        throw invalidRequest('statusMessage', "must not be given with the status 'active'");
      const before = await publishedVersions(request);
      const after = before.map((manifest) => withStatus(manifest, { status, statusMessage }));
      const changed = after.filter((manifest, index) => !isSameJson(manifest, before[index]));
      if (changed.length === 0)
        throw invalidRequest('status', 'is already set, with the same message, so nothing would change');
      await save(changed);
      if (status === 'deleted') await clearGateway();
      const servers = await shown(changed);
      return { updatedCount: servers.length, servers };
    },
  };
}

function publishedManifest(document: JsonObject, at: string): JsonObject {
  const manifest = isManifest(document)
    ? { ...registrationOf(document), ...document }
    : manifestFromServer(document, { status: 'active', publishedAt: at, updatedAt: at });
  const { registry_status: _, ...provenance } = asObject(manifest.provenance);
  return { ...manifest, provenance: { ...provenance, source: PUBLISHED, published_at: at, updated_at: at } };
}

function withStatus(
  manifest: JsonObject,
  { status, statusMessage = null }: { status: string; statusMessage?: string | null | undefined },
): JsonObject {
  const { registry_status: _, ...provenance } = asObject(manifest.provenance);
  const deleted = status === 'deleted' ? { registry_status: status } : {};
  return {
    ...manifest,
    lifecycle: lifecycleOf(status, statusMessage),
    provenance: { ...provenance, ...deleted },
  };
}

function keyOf(manifest: JsonObject): ServerKey {
  const key = serverKeyOf(manifest);
  if (!key) throw invalid([{ path: 'name', message: 'must be a registry name, such as com.acme/notes' }]);
  return key;
}

function idsOf({ about }: RegistryEntry): AboutEntry['ids'] {
  return (JSON.parse(about) as AboutEntry).ids;
}

/** Whether the entry is `deleted` but the manifest is not: the policy hides it, or an operator blocked it. */
function isTombstone({ status }: RegistryEntry, { provenance }: JsonObject): boolean {
  return status === 'deleted' && asObject(provenance).registry_status !== 'deleted';
}

const UNLISTED = 'Not listed: the policy of this hub hides it, it waits for approval, or an operator has blocked it.';

function waitsNote(id: string): string {
  return `Waits for approval: an operator of this hub must approve '${id}' before it is available.`;
}

function withNote(entry: RegistryEntry, note: string | undefined): RegistryEntry {
  return { ...entry, about: JSON.stringify({ ...(JSON.parse(entry.about) as AboutEntry), note }) };
}

function unlisted(manifest: JsonObject): RegistryEntry {
  const key = keyOf(manifest);
  const { server, status, statusMessage, publishedAt, words } = serverFromManifests(key, [manifest]);
  const at = publishedAt ?? '';
  const about: AboutEntry = { ids: [entityFromManifest({ document: manifest }).uid], ...words };
  const dates = { statusChangedAt: at, publishedAt: at, updatedAt: at };
  const documents = { server: JSON.stringify(server), about: JSON.stringify(about) };
  return { ...key, status, statusMessage, ...dates, isLatest: false, ...documents };
}

function taken({ name, version }: ServerKey): HubError {
  return new HubError(
    'version_taken',
    `'${name}' already has a version ${version}, and published versions are never replaced: publish it with another version.`,
  );
}

function invalid(faults: readonly { path: string; message: string }[]): HubError {
  const sentence = faults.map(({ path, message }) => `${path || 'the document'} ${message}`).join('; ');
  return new HubError('invalid_server', `The server cannot be published: ${sentence}.`, { faults });
}
