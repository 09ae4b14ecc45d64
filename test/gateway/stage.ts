// Sets up the gateway slice with a fake gateway: a client, a batch, or everything with a database.
import type { TestContext } from 'node:test';
import { entityFromManifest } from '../../src/catalog/entity.ts';
import type { CatalogStore } from '../../src/catalog/store.ts';
import { createGatewayClient, type GatewayClient, type GatewayClientOptions } from '../../src/gateway/client/client.ts';
import { createTokenSource, type TokenSettings } from '../../src/gateway/client/token.ts';
import type {
  PendingReport,
  Registration,
  RegistrationEffort,
  RegistrationProgress,
} from '../../src/gateway/contract.ts';
import { createGateway, type Gateway, type GatewayDependencies } from '../../src/gateway/gateway.ts';
import { createHolders } from '../../src/gateway/items/holders.ts';
import { createLookup } from '../../src/gateway/items/lookup.ts';
import { createRegister } from '../../src/gateway/registration/register.ts';
import type { GatewayItem, RegistrableEntity, RegistrationStore } from '../../src/gateway/store.ts';
import type { JsonObject } from '../../src/lib/json.ts';
import type { DatabaseAddress } from '../../src/lib/net/address.ts';
import { createFetch } from '../../src/lib/net/fetch.ts';
import { createCatalogStore } from '../../src/store/catalog/catalog-store.ts';
import type { Dialect } from '../../src/store/dialects/dialect.ts';
import { createItemStore } from '../../src/store/gateway/registration-items.ts';
import { createRegistrationStore } from '../../src/store/gateway/registration-store.ts';
import { createRevision } from '../../src/store/revision.ts';
import { aManifest } from '../support/builders.ts';
import { openHere } from '../support/databases/databases.ts';
import { ADMIN, DURABLE, type FakeGateway, SECRET } from '../support/servers/fake-gateway.ts';
import { type TestWorld, testWorld } from '../support/world.ts';

export const H = 'https://h.example';

export type ClientChanges = Partial<GatewayClientOptions> & { credentials?: Partial<TokenSettings> };

export function clientFor(
  t: TestContext,
  { url, generation }: Pick<FakeGateway, 'url'> & Partial<Pick<FakeGateway, 'generation'>>,
  changes: ClientChanges = {},
): GatewayClient {
  const { fetch, close } = createFetch({ allowPrivate: true });
  t.after(close);
  const settings = { jwtSecret: SECRET, subject: ADMIN, issuer: 'mcpgateway', audience: 'mcpgateway-api' };
  // Up to 0.6, gateways refuse the tokens that the hub creates.
  const given = generation === '0.6' ? { token: DURABLE } : {};
  const { credentials, ...options } = changes;
  return createGatewayClient({
    url,
    fetch,
    token: createTokenSource({ ...settings, ...given, ...credentials }, () => new Date()),
    // Only a call that never ends takes so long, however busy the machine is.
    slowTimeoutMs: 60_000,
    timeoutMs: 60_000,
    backoffMs: 20,
    ...options,
  });
}

export interface Batch {
  register(entity: RegistrableEntity): Promise<Registration>;
  /** Registers the server at this address under this name. */
  registerServer(fields: ServerFields): Promise<Registration>;
}

/** What the batches of a test know about a gateway, in place of the database. */
const records = new WeakMap<FakeGateway, Map<string, GatewayItem[]>>();

export function recordsOf(gateway: FakeGateway): Map<string, GatewayItem[]> {
  const known = records.get(gateway) ?? new Map<string, GatewayItem[]>();
  records.set(gateway, known);
  return known;
}

/** Like one sync: reads each list of the gateway once. */
export function batchFor(t: TestContext, gateway: FakeGateway, changes: ClientChanges = {}): Batch {
  const client = clientFor(t, gateway, changes);
  const items = recordsOf(gateway);
  const holders = createHolders({
    holdersOf: async (kind, id) =>
      [...items].flatMap(([uid, held]) =>
        held.filter((item) => item.kind === kind && item.id === id).map((item) => ({ ...item, uid })),
      ),
  });
  const attempt = createRegister({
    client,
    lookup: createLookup(client),
    holders,
    rememberCreation: async () => {},
    sleep: async () => {},
    now: () => new Date(),
  });
  async function register(entity: RegistrableEntity): Promise<Registration> {
    const known = items.get(entity.uid) ?? entity.items;
    const outcome = await attempt({ ...entity, items: known });
    items.set(entity.uid, outcome.items);
    return outcome.registration;
  }
  return { register, registerServer: (fields) => register(aServer(fields)) };
}

export interface ServerFields {
  name?: string;
  url?: string;
  transport?: string;
  /** Additional fields of `mcp_registration.server`. */
  server?: JsonObject;
  /** Additional fields of `mcp_registration`. */
  registration?: JsonObject;
  entity?: Partial<RegistrableEntity>;
}

export function aServer({
  name = 'pdf-tables',
  url = `${H}/sse`,
  transport = 'SSE',
  server,
  registration,
  entity,
}: ServerFields = {}): RegistrableEntity {
  return anEntity({ name, mcpRegistration: { server: { url, transport, ...server }, ...registration }, ...entity });
}

export function anEntity(fields: Partial<RegistrableEntity> = {}): RegistrableEntity {
  const name = fields.name ?? 'pdf-tables';
  const version = fields.version ?? '1.0.0';
  return {
    uid: `mcp_server:${name}@${version}`,
    type: 'mcp_server',
    name,
    version,
    description: 'Reads tables out of PDF files.',
    tags: ['pdf'],
    manifestDigest: 'sha256:1',
    mcpRegistration: null,
    items: [],
    isRegistered: false,
    isBlocked: false,
    isHeld: false,
    isDisabled: false,
    tries: 0,
    ...fields,
  };
}

export interface Stage {
  gateway: Gateway;
  store: RegistrationStore;
  catalog: CatalogStore;
  dialect: Dialect;
  world: TestWorld;
  /** Puts manifests into the catalog. */
  ingest(...manifests: JsonObject[]): Promise<void>;
  /** Runs a sync and returns its counts. */
  sync(options?: {
    effort?: RegistrationEffort;
    signal?: AbortSignal;
    onProgress?: (progress: RegistrationProgress) => void;
  }): Promise<Pick<PendingReport, 'ranToEnd' | 'registered' | 'failed'> | undefined>;
  state(uid: string): Promise<{ registered: string | null; error: string | null } | undefined>;
  /** The recorded items of the entity in the gateway: `kind name`, with `*` for those that the hub created. */
  itemsOf(uid: string): Promise<string[]>;
  /** Deletes entities as the catalog does. */
  remove(...uids: string[]): Promise<void>;
  block(uid: string, at?: string | null): Promise<void>;
  /** Advances the clock. */
  wait(minutes: number): void;
  /** Another hub on the same database. */
  again(fake: FakeGateway | undefined): Gateway;
}

type StageChanges = Partial<Omit<GatewayDependencies, 'client' | 'store' | 'items'>> & { client?: ClientChanges };

export async function stage(
  t: TestContext,
  address: DatabaseAddress,
  fake: FakeGateway | undefined,
  { client: clientChanges, ...changes }: StageChanges = {},
): Promise<Stage> {
  const dialect = await openHere(address);
  const world = testWorld();
  t.after(() => Promise.all([dialect.close(), world.close()]));
  const revision = createRevision(dialect);
  const catalog = createCatalogStore(dialect, revision);
  const store = createRegistrationStore(dialect, revision);
  const items = createItemStore(dialect, revision);
  const again = (other: FakeGateway | undefined) =>
    createGateway({
      client: other && clientFor(t, other, clientChanges),
      store,
      items,
      concurrency: 4,
      now: world.now,
      log: world.log,
      sleep: (ms) => new Promise((resolve) => setTimeout(resolve, ms)),
      ...changes,
    });
  const gateway = again(fake);
  return {
    gateway,
    again,
    store,
    catalog,
    dialect,
    world,
    ingest: async (...manifests) => {
      await catalog.save(
        manifests.map((document) => entityFromManifest({ document })),
        world.now(),
      );
    },
    async sync({ effort = 'background', signal = new AbortController().signal, onProgress } = {}) {
      const report = await gateway.registerPending({ effort, signal, onProgress });
      if (!report) return undefined;
      const { ranToEnd, registered, failed } = report;
      return { ranToEnd, registered, failed };
    },
    async state(uid) {
      const columns = ['gateway_registered_at', 'gateway_error'] as const;
      const row = await dialect.write.selectFrom('entity').select(columns).where('uid', '=', uid).executeTakeFirst();
      return row && { registered: row.gateway_registered_at, error: row.gateway_error };
    },
    async itemsOf(uid) {
      const rows = await dialect.write.selectFrom('gateway_item').selectAll().where('uid', '=', uid).execute();
      return rows.map(({ kind, name, is_ours }) => `${kind} ${name}${is_ours === 1 ? '*' : ''}`).toSorted();
    },
    async remove(...uids) {
      await dialect.write.deleteFrom('entity').where('uid', 'in', uids).execute();
    },
    async block(uid, at = world.now().toISOString()) {
      await dialect.write.updateTable('entity').set({ blocked_at: at }).where('uid', '=', uid).execute();
    },
    wait: (minutes) => world.setTime(new Date(world.now().getTime() + minutes * 60_000).toISOString()),
  };
}

/** A manifest of a server; with `server` undefined it has no registration. */
export function aServerManifest(id: string, server: JsonObject | undefined, fields: JsonObject = {}): JsonObject {
  const registration = server ? { mcp_registration: { server: { transport: 'SSE', ...server } } } : {};
  return aManifest({ id, name: id, ...registration, ...fields });
}

export const uidOf = (id: string, version = '1.0.0') => `mcp_server:${id}@${version}`;
