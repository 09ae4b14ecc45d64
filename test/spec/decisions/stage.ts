// A hub and a host of catalogs, and a short way to ask the hub, for the tests of decisions.
import type { TestContext } from 'node:test';
import type { Environment } from '../../../src/config.ts';
import type { DatabaseAddress } from '../../../src/lib/address.ts';
import type { JsonObject } from '../../../src/lib/json.ts';
import { aManifest } from '../../support/builders.ts';
import { testHub } from '../../support/hub.ts';
import { startIndexServer } from '../../support/index-server.ts';

type Method = 'GET' | 'POST' | 'PATCH' | 'DELETE';

export async function stage(t: TestContext, database: DatabaseAddress, settings: Environment = {}) {
  const host = await startIndexServer(t);
  const { app, hub, world } = await testHub(t, { database, settings });
  async function ask(method: Method, url: string, payload?: JsonObject) {
    const response = await app.inject({ method, url, ...(payload ? { payload } : {}) });
    return { status: response.statusCode, body: response.json() };
  }
  /** Publishes manifests under a path of their own, and an index of them at `/<path>.json`. */
  function publish(path: string, ...manifests: JsonObject[]) {
    for (const manifest of manifests) host.put(`/${path}/${manifest.id}.json`, manifest);
    host.put(`/${path}.json`, { manifests: manifests.map(({ id }) => `${path}/${id}.json`) });
    return host.url(`/${path}.json`);
  }
  const found = async (query: string) => {
    const { body } = await ask('GET', `/catalog/search?${query}`);
    return body.items.map(({ id }: { id: string }) => id);
  };
  return { host, world, app, hub, ask, publish, found };
}

export const tool = (id: string, fields: JsonObject = {}) =>
  aManifest({ type: 'tool', id, name: id, title: id, ...fields });
export const path = (uid: string) => `/catalog/entities/${encodeURIComponent(uid)}`;
