// A hub, a catalog host and short request functions for the tests of decisions; optionally with a gateway.
import { type TestContext, test } from 'node:test';
import type { Environment } from '../../../src/config.ts';
import type { JsonObject } from '../../../src/lib/json.ts';
import type { DatabaseAddress } from '../../../src/lib/net/address.ts';
import { aManifest } from '../../support/builders.ts';
import { emptyDatabase } from '../../support/databases/databases.ts';
import { testHub } from '../../support/hub.ts';
import { caughtUp } from '../../support/search/caught-up.ts';
import { type FakeGatewayOptions, SECRET, startFakeGateway } from '../../support/servers/fake-gateway.ts';
import { startIndexServer } from '../../support/servers/index-server.ts';

/** For decisions that do not depend on the database. */
export function testOnSqlite(name: string, run: (t: TestContext, address: DatabaseAddress) => Promise<void>): void {
  test(name, async (t) => run(t, await emptyDatabase(t, 'sqlite')));
}

type Method = 'GET' | 'POST' | 'PATCH' | 'DELETE';

export async function stage(t: TestContext, database: DatabaseAddress, settings: Environment = {}) {
  const host = await startIndexServer(t);
  const { app, hub, world } = await testHub(t, { database, settings });
  async function ask(method: Method, url: string, payload?: JsonObject) {
    const response = await app.inject({ method, url, ...(payload ? { payload } : {}) });
    return { status: response.statusCode, body: response.json() };
  }
  /** Publishes manifests under their own path, and an index of them at `/<path>.json`. */
  function publish(path: string, ...manifests: JsonObject[]) {
    for (const manifest of manifests) host.put(`/${path}/${manifest.id}.json`, manifest);
    host.put(`/${path}.json`, { manifests: manifests.map(({ id }) => `${path}/${id}.json`) });
    return host.url(`/${path}.json`);
  }
  const found = async (query: string) => {
    const page = await caughtUp(async () => (await ask('GET', `/catalog/search?${query}`)).body);
    return page.items.map(({ id }: { id: string }) => id);
  };
  return { host, world, app, hub, ask, publish, found };
}

export const tool = (id: string, fields: JsonObject = {}) =>
  aManifest({ type: 'tool', id, name: id, title: id, ...fields });
export const path = (uid: string) => `/catalog/entities/${encodeURIComponent(uid)}`;

/** The address of the servers from `server`. */
export const H = 'https://h.example';
export const server = (id: string, registration: JsonObject = {}, fields: JsonObject = {}) =>
  aManifest({
    id,
    name: id,
    title: id,
    mcp_registration: { server: { transport: 'SSE', url: `${H}/${id}/sse`, ...registration } },
    ...fields,
  });
export const serverUid = (id: string) => `mcp_server:${id}@1.0.0`;

/** Adds a gateway that the hub registers with. */
export async function gatewayStage(
  t: TestContext,
  database: DatabaseAddress,
  { settings = {}, ...options }: FakeGatewayOptions & { settings?: Environment } = {},
) {
  // The test sets the clock of the hub, and tokens expire.
  let now = () => new Date();
  const gateway = await startFakeGateway(t, { ...options, credentials: { now: () => now() } });
  const on = await stage(t, database, { MCP_GATEWAY_URL: gateway.url, JWT_SECRET_KEY: SECRET, ...settings });
  now = on.world.now;
  /** Publishes the servers in one remote, ingests them and registers them. */
  async function register(...manifests: JsonObject[]) {
    await on.ask('POST', '/remotes', { url: on.publish('servers', ...manifests) });
    return sync();
  }
  const sync = async (payload: JsonObject = {}) => (await on.ask('POST', '/remotes/sync', payload)).body;
  const entity = async (id: string) => (await on.ask('GET', path(serverUid(id)))).body;
  /** The servers in the gateway: name → fields. */
  const registered = () =>
    Object.fromEntries(gateway.table.gateways.map(({ originalName, fields }) => [originalName, fields]));
  return { ...on, gateway, register, sync, entity, registered };
}
