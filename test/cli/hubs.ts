// The same hub for commands, reached in two ways: in process on its database, and as a server.
import { type TestContext, test } from 'node:test';
import { readConfig } from '../../src/config.ts';
import { createServer } from '../../src/http/server.ts';
import { createHub } from '../../src/hub/hub.ts';
import type { JsonObject } from '../../src/lib/json.ts';
import { atEnd } from '../support/at-end.ts';
import { type Ending, emptySqlite } from '../support/databases/databases.ts';
import { testWorld } from '../support/world.ts';
import { inTerminal, type Said } from './terminal/in-terminal.ts';

export interface Reached {
  /** Runs a command against the hub. */
  hub(...args: string[]): Promise<Said>;
  /** Runs a command with --json and parses its output. */
  json<T>(...args: string[]): Promise<{ exitCode: number; answer: T; error: string }>;
  environment: Record<string, string>;
  way: Way;
}

type Way = 'in process' | 'against a server';

export interface HubOptions {
  settings?: Record<string, string>;
  manifests?: JsonObject[];
  /** All tests with this object of options use one hub: they only read, or use names of their own. */
  isShared?: boolean;
}

const TOKEN = 'token-of-the-test';
/** For tests that need no search by meaning: nothing listens there, so that no model is loaded. */
export const WITHOUT_MODEL = { EMBEDDING_BASE_URL: 'http://127.0.0.1:9/v1', EMBEDDING_MODEL: 'none' };

type Story = (t: TestContext, reached: Reached) => Promise<void>;

/** Declares a test once per way. */
export function testBothWays(name: string, options: HubOptions, story: Story): void {
  for (const way of ['in process', 'against a server'] as const)
    test(`${name} (${way})`, async (t) => story(t, reach(await environmentFor(t, way, options), way)));
}

/** For tests of output and options, which do not depend on how the hub is reached. */
export function testOnServer(name: string, options: HubOptions, story: Story): void {
  const way = 'against a server';
  test(name, async (t) => story(t, reach(await environmentFor(t, way, options), way)));
}

/** The settings of a catalog on this machine; a hub has it open only if it is shared. */
export async function localSettings(t: Ending, { settings, manifests = [] }: HubOptions) {
  const local = { PATH: process.env.PATH ?? '', DB_PATH: await emptySqlite(t), ...WITHOUT_MODEL, ...settings };
  if (manifests.length === 0) return local;
  await (await openHub(local, manifests)).close();
  return local;
}

function reach(environment: Record<string, string>, way: Way): Reached {
  const hub = (...args: string[]) => inTerminal(args, { environment });
  return {
    hub,
    async json(...args) {
      const { exitCode, out, error } = await hub(...args, '--json');
      return { exitCode, answer: out === '' ? undefined : JSON.parse(out), error };
    },
    environment,
    way,
  };
}

const shared = new Map<HubOptions, Promise<Started>>();

async function environmentFor(t: TestContext, way: Way, options: HubOptions): Promise<Record<string, string>> {
  if (way === 'in process' && !options.isShared) return localSettings(t, options);
  const { local, url } = await startedFor(t, options);
  return way === 'in process' ? local : { PATH: local.PATH, HUB_URL: url, HUB_TOKEN: TOKEN };
}

interface Started {
  local: Record<'PATH' | 'DB_PATH', string>;
  url: string;
}

async function startedFor(t: TestContext, options: HubOptions): Promise<Started> {
  if (!options.isShared) return start(t, options);
  const started = shared.get(options) ?? start(atEnd, options);
  shared.set(options, started);
  return started;
}

async function start(t: Ending, { settings, manifests = [] }: HubOptions): Promise<Started> {
  const local = { PATH: process.env.PATH ?? '', DB_PATH: await emptySqlite(t), ...WITHOUT_MODEL, ...settings };
  const { hub, config, world, close } = await openHub(local, manifests);
  const app = await createServer({ hub, config, world });
  t.after(async () => {
    // As in `hub serve`: otherwise, a sync whose caller has left would keep the server open.
    await hub.stopWork();
    app.server.closeAllConnections();
    await app.close();
    await close();
  });
  return { local, url: await app.listen({ host: '127.0.0.1', port: 0 }) };
}

async function openHub(settings: Record<string, string>, manifests: readonly JsonObject[]) {
  const config = readConfig({ ...settings, API_TOKEN: TOKEN });
  const world = testWorld();
  const hub = await createHub({ config, world, baseUrl: () => 'http://hub.test', mayBlock: true });
  await hub.load(manifests.map((document) => ({ document })));
  const close = async () => {
    await hub.close();
    await world.close();
  };
  return { hub, config, world, close };
}
