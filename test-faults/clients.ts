// Clients that never read, read slowly, or never finish their requests.
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { emptyDatabase } from '../test/support/databases/databases.ts';
import { BOTH, type Fault, type Options, type Scope } from './harness.ts';
import { assertHealthy, type FaultHub, startHub } from './hubs.ts';

const REQUEST = 'GET /openapi.json HTTP/1.1\r\nHost: hub\r\n\r\n';
const MOST_MB = 700;

interface BadClients {
  name: string;
  connections: number;
  send: string;
}

const CLIENTS: readonly BadClients[] = [
  { name: '20 connections × 1,000 requests, nothing read', connections: 20, send: REQUEST.repeat(1_000) },
  { name: '200 connections × 50 requests, nothing read', connections: 200, send: REQUEST.repeat(50) },
  { name: '200 connections that never finish their headers', connections: 200, send: 'GET / HTTP/1.1\r\nHost: ' },
  {
    name: '50 connections that never finish their body',
    connections: 50,
    send: 'POST /ingest HTTP/1.1\r\nHost: hub\r\nContent-Type: application/json\r\nContent-Length: 900000\r\n\r\n{',
  },
];

export function clientFaults(_options: Options): Fault[] {
  return CLIENTS.map((clients) => ({ name: clients.name, engines: BOTH, run: runClients(clients) }));
}

function runClients({ connections, send }: BadClients): Fault['run'] {
  return async (scope, engine, inject) => {
    const hub = await startHub(scope, await emptyDatabase(scope, engine));
    await inject(async () => {
      const sockets = Array.from({ length: connections }, () => openSocket(scope, hub, send));
      await sleep(3_000);
      await assertHealthy(hub);
      const usedMb = await residentMb(hub.pid);
      assert.ok(usedMb < MOST_MB, `${usedMb} MB`);
      // The hub's shutdown does not wait for them.
      hub.kill('SIGTERM');
      assert.equal((await hub.ended).code, 0);
      for (const socket of sockets) socket.destroy();
    });
  };
}

function openSocket(scope: Scope, hub: FaultHub, send: string): Socket {
  const socket = connect(Number(new URL(hub.address).port), '127.0.0.1').on('error', () => {});
  socket.pause();
  socket.write(send);
  scope.after(() => socket.destroy());
  return socket;
}

export async function residentMb(pid: number): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8');
  return Math.round(Number(/VmRSS:\s+(\d+)/.exec(status)?.[1] ?? 0) / 1024);
}
