// Published catalogs, a gateway, and parts of the operations page that several tests use.
import type { TestContext } from 'node:test';
import type { Page } from 'playwright-core';
import { aManifest } from '../../test/support/builders.ts';
import { SECRET, startFakeGateway } from '../../test/support/servers/fake-gateway.ts';
import { startIndexServer } from '../../test/support/servers/index-server.ts';

/** A published catalog: three good servers, one without an address, and a document that is not a manifest. */
export async function publish(t: TestContext) {
  const host = await startIndexServer(t);
  const good = ['alpha', 'beta', 'gamma'].map((id) =>
    aManifest({
      id,
      name: id,
      title: id,
      mcp_registration: { server: { transport: 'SSE', url: `https://${id}.example/sse` } },
    }),
  );
  const local = aManifest({
    id: 'local',
    name: 'local',
    title: 'local',
    mcp_registration: { server: { transport: 'STDIO', exec: { cmd: ['run'] } } },
  });
  host.put('/index.json', {
    manifests: [...[...good, local].map(({ id }) => `/m/${id}.json`), '/m/broken.json'],
  });
  for (const manifest of [...good, local]) host.put(`/m/${manifest.id}.json`, manifest);
  host.put('/m/broken.json', { type: 'nonsense', id: 'broken' });
  return host;
}

export const remoteRow = (page: Page, url: string) => page.locator('.row', { hasText: url });
export const pending = (page: Page) => page.getByRole('region', { name: /Pending servers/ });

/** Settings for a gateway that refuses one server of `publish`; it uses the clock of the tested hub. */
export async function withGateway(t: TestContext, answered?: Promise<void>) {
  const gateway = await startFakeGateway(t, {
    servers: { 'https://beta.example/sse': { fault: 'refused' } },
    credentials: { now: () => new Date('2026-06-01T12:00:00.000Z') },
  });
  gateway.onCall(() => answered);
  return { MCP_GATEWAY_URL: gateway.url, JWT_SECRET_KEY: SECRET };
}
