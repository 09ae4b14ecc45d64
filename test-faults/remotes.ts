// Remotes, archives and gateways that hang, never end, send wrong data, or fail every second time.
import assert from 'node:assert/strict';
import type { ServerResponse } from 'node:http';
import { aManifest } from '../test/support/builders.ts';
import { emptyDatabase, tempDir } from '../test/support/databases/databases.ts';
import { type Answer, type IndexServer, startIndexServer } from '../test/support/servers/index-server.ts';
import { BOTH, type Fault, type Options } from './harness.ts';
import { assertHealthy, type FaultHub, startHub } from './hubs.ts';

/** Short timeouts, so that the hub gives up soon. */
const SETTINGS = {
  FETCH_TIMEOUT_SEC: '3',
  MAX_INDEX_BYTES: '2000000',
  GATEWAY_TIMEOUT_SEC: '3',
  GATEWAY_CALL_TIMEOUT_SEC: '3',
};

const BAD_ANSWERS: Record<string, () => Answer> = {
  hanging: () => () => {},
  truncating: () => (_request, response) => {
    response.writeHead(200, { 'content-length': '100000' });
    response.write('{"manifests": [');
    setTimeout(() => response.destroy(), 100);
  },
  endless: () => (_request, response) => endless(response),
  lying: () => (_request, response) =>
    void response.writeHead(200, { 'content-type': 'application/json' }).end('<html>'),
  flapping: () => {
    let count = 0;
    return (_request, response) => {
      count += 1;
      if (count % 2 === 1) response.writeHead(500).end();
      else response.end('[]');
    };
  },
};

export function remoteFaults(_options: Options): Fault[] {
  return [
    ...Object.entries(BAD_ANSWERS).map(([name, bad]) => ({
      name: `${name} index, manifest and archive`,
      engines: BOTH,
      run: runRemote(bad),
    })),
    ...Object.entries(BAD_ANSWERS).map(([name, bad]) => ({
      name: `${name} gateway`,
      engines: BOTH,
      run: runGateway(bad),
    })),
  ];
}

function runRemote(bad: () => Answer): Fault['run'] {
  return async (scope, engine, inject) => {
    const host = await startIndexServer(scope);
    serveGood(host);
    const hub = await startHub(scope, await emptyDatabase(scope, engine), SETTINGS);
    host.answer('/bad/index.json', bad());
    host.answer('/bad/manifest.json', bad());
    host.answer('/bad/archive.zip', bad());
    host.put('/half/index.json', ['../good/a.json', '../bad/manifest.json']);
    for (const index of ['/bad/index.json', '/half/index.json'])
      await inject(async () => {
        const { status } = await hub.ask('/ingest', { method: 'POST', body: { url: host.url(index) } });
        assert.equal(status, 200);
        await assertStillWorks(hub, host);
      });
    await inject(async () => {
      const artifacts = [{ kind: 'zip', spec: { url: host.url('/bad/archive.zip') } }];
      const manifest = aManifest({ type: 'tool', id: 'bad', artifacts });
      const body = { id: 'tool:bad@1.0.0', target: await tempDir(scope), manifest };
      const { status, body: report } = await hub.ask('/catalog/install', { method: 'POST', body });
      assert.deepEqual([status, report.ok], [200, false]);
      await assertStillWorks(hub, host);
    });
  };
}

function runGateway(bad: () => Answer): Fault['run'] {
  return async (scope, engine, inject) => {
    const host = await startIndexServer(scope);
    serveGood(host);
    const answer = bad();
    for (const path of ['/health', '/gateways', '/v1/gateways', '/servers', '/version']) host.answer(path, answer);
    const gateway = { MCP_GATEWAY_URL: host.origin, MCP_GATEWAY_TOKEN: 'token' };
    const hub = await startHub(scope, await emptyDatabase(scope, engine), { ...SETTINGS, ...gateway });
    await hub.ask('/remotes', { method: 'POST', body: { url: host.url('/good/index.json') } });
    await inject(async () => {
      const { status } = await hub.ask('/remotes/sync', { method: 'POST', body: {} });
      assert.equal(status, 200);
      await assertStillWorks(hub, host);
    });
  };
}

function serveGood(host: IndexServer): void {
  const server = { transport: 'SSE', url: 'https://good.example/sse' };
  host.put('/good/a.json', aManifest({ id: 'good', mcp_registration: { server } }));
  host.put('/good/index.json', ['a.json']);
}

/** The bad remote must not affect a good one. */
async function assertStillWorks(hub: FaultHub, host: IndexServer): Promise<void> {
  await assertHealthy(hub);
  const { body } = await hub.ask('/ingest', { method: 'POST', body: { url: host.url('/good/index.json') } });
  assert.equal(body.results[0]?.ok, true, JSON.stringify(body.results[0]));
  assert.equal((await hub.ask('/catalog/entities/mcp_server:good@1.0.0')).status, 200);
}

function endless(response: ServerResponse): void {
  const write = () => {
    while (!response.destroyed && response.write('[1, 2, 3, 4, 5, 6, 7, 8, 9, 10]\n'.repeat(1_000)));
    if (!response.destroyed) response.once('drain', write);
  };
  write();
}
