// The same hub for commands, reached in two ways: in process on its database, and as a server.
import { type TestContext, test } from 'node:test';
import { readConfig } from '../../src/config.ts';
import { createServer } from '../../src/http/server.ts';
import { createHub } from '../../src/hub/hub.ts';
import type { JsonObject } from '../../src/lib/json.ts';
import { emptySqlite } from '../support/databases.ts';
import { testWorld } from '../support/world.ts';
import { inTerminal, type Said } from './in-terminal.ts';

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
}

const TOKEN = 'token-of-the-test';

/** Declares a test once per way. */
export function testBothWays(
  name: string,
  options: HubOptions,
  story: (t: TestContext, reached: Reached) => Promise<void>,
): void {
  for (const way of ['in process', 'against a server'] as const)
    test(`${name} (${way})`, async (t) => story(t, reach(await environmentFor(t, way, options), way)));
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

async function environmentFor(t: TestContext, way: Way, options: HubOptions): Promise<Record<string, string>> {
  const local = {
    PATH: process.env.PATH ?? '',
    DB_PATH: await emptySqlite(t),
    ...options.settings,
  };
  const url = await startServer(t, local, options);
  return way === 'in process' ? local : { PATH: local.PATH, HUB_URL: url, HUB_TOKEN: TOKEN };
}

/** The server always runs, because commands must also work on a database that a hub has open. */
async function startServer(t: TestContext, settings: Record<string, string>, { manifests = [] }: HubOptions) {
  const config = readConfig({ ...settings, API_TOKEN: TOKEN });
  const world = testWorld();
  const hub = await createHub({ config, world, baseUrl: () => 'http://hub.test' });
  const app = await createServer({ hub, config, world });
  t.after(async () => {
    await app.close();
    await hub.close();
    await world.close();
  });
  await hub.load(manifests.map((document) => ({ document })));
  return app.listen({ host: '127.0.0.1', port: 0 });
}
