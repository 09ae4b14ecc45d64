// A hub on a real socket that knows its own address, because clients follow its links.
import { execFile } from 'node:child_process';
import type { TestContext } from 'node:test';
import { promisify } from 'node:util';
import { manifestOf } from '../src/registry/listed-server.ts';
import { type TestHub, testHub } from '../test/support/hub.ts';
import { freePort } from '../test-gateway/support.ts';
import { DELETED, DEPRECATED, SERVERS } from './servers.ts';

const ANSWERS_WITHIN_MS = 60_000;
const OFFICIAL = 'io.modelcontextprotocol.registry/official';

export interface ServedHub extends TestHub {
  url: string;
}

type HubOptions = NonNullable<Parameters<typeof testHub>[1]>;

export async function servedHub(t: TestContext, { settings = {}, ...options }: HubOptions = {}): Promise<ServedHub> {
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const served = await testHub(t, { ...options, settings: { BASE_URL: url, ...settings } });
  served.world.setTime(new Date().toISOString());
  await served.app.listen({ host: '127.0.0.1', port });
  return { ...served, url };
}

/** The servers of servers.ts as manifests, with their status in the official registry. */
export function manifests() {
  return SERVERS.map((server) => {
    const isKey = (key: { name: string; version: string }) =>
      key.name === server.name && key.version === server.version;
    const { statusMessage } = DEPRECATED;
    const state = isKey(DELETED)
      ? { status: 'deleted' }
      : isKey(DEPRECATED)
        ? { status: 'deprecated', statusMessage }
        : {};
    const publishedAt = '2026-05-01T10:00:00Z';
    return manifestOf({ server, _meta: { [OFFICIAL]: { status: 'active', publishedAt, ...state } } });
  });
}

/** The output of a program that inherits only PATH. */
export async function printed(
  name: string,
  words: readonly string[],
  env: Record<string, string> = {},
): Promise<string> {
  const own = { PATH: process.env.PATH, NO_COLOR: '1', COLUMNS: '300', ...env };
  const { stdout, stderr } = await promisify(execFile)(name, words, { timeout: ANSWERS_WITHIN_MS, env: own });
  return `${stdout}${stderr}`;
}
