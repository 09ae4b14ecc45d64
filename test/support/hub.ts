// A real hub with its HTTP server, on an empty database, for one test.
import type { FastifyInstance } from 'fastify';
import { type Environment, readConfig } from '../../src/config.ts';
import { createServer } from '../../src/http/server.ts';
import { createHub, type Hub } from '../../src/hub/hub.ts';
import type { JsonObject } from '../../src/lib/json.ts';
import type { DatabaseAddress } from '../../src/lib/net/address.ts';
import { openEmbeddedModel } from '../../src/search/model/embedded-model.ts';
import { MODELS_FOLDER } from '../../src/search/model/open-model.ts';
import { atEnd } from './at-end.ts';
import { type Ending, emptyDatabase } from './databases/databases.ts';
import { type TestWorld, testWorld } from './world.ts';

export interface TestHub {
  hub: Hub;
  /** For `app.inject(…)`; call `listen` for a real socket. */
  app: FastifyInstance;
  world: TestWorld;
  /** Listens on a free port and returns the address. */
  listen(): Promise<string>;
}

interface TestHubOptions {
  settings?: Environment;
  manifests?: JsonObject[];
  /** An empty SQLite database by default. */
  database?: DatabaseAddress;
  /** Whether it refuses requests while the event loop is late; tests must also pass on a busy machine. */
  canBeOverloaded?: boolean;
}

export async function testHub(
  t: Ending,
  { settings = {}, manifests = [], database, canBeOverloaded = false }: TestHubOptions = {},
): Promise<TestHub> {
  const config = { ...readConfig(settings), database: database ?? (await emptyDatabase(t, 'sqlite')) };
  const world = testWorld();
  const baseUrl = () => config.baseUrl ?? 'http://hub.test';
  const hub = await createHub({ config, world, baseUrl, mayBlock: true, openEmbedder: openSharedModel });
  const app = await createServer({ hub, config, world, ...(!canBeOverloaded && { isOverloaded: () => false }) });
  t.after(async () => {
    await app.close();
    await hub.close();
    await world.close();
  });
  await hub.load(manifests.map((document) => ({ document })));
  return { hub, app, world, listen: () => app.listen({ host: '127.0.0.1', port: 0 }) };
}

let model: ReturnType<typeof openEmbeddedModel> | undefined;
atEnd.after(async () => (await model)?.close());

/** Loading a model takes longer than most tests, so the hubs of a process share one. */
async function openSharedModel() {
  model ??= openEmbeddedModel({ folder: MODELS_FOLDER }, { warn() {} });
  return { ...(await model), close: async () => {} };
}
