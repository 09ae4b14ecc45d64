// A TCP proxy for PostgreSQL whose connections can fail as networks do.
import { connect, createServer, type Socket } from 'node:net';
import type { TestContext } from 'node:test';

export interface DatabaseProxy {
  /** The database address through the proxy. */
  readonly url: string;
  /** The number of connections opened so far. */
  connectionCount(): number;
  /** Keeps the current connections open without forwarding anything. New connections work. */
  swallowPackets(): void;
  /** Closes the current connections abruptly. New connections work. */
  breakConnections(): void;
  /** Directs new connections to the server on this port. */
  leadTo(port: number): void;
}

interface Line {
  client: Socket;
  server: Socket;
}

export async function databaseProxy(t: TestContext, databaseUrl: string): Promise<DatabaseProxy> {
  const { hostname, port } = new URL(databaseUrl);
  let target = Number(port);
  const lines = new Set<Line>();
  let opened = 0;

  const proxy = createServer((client) => {
    const line = { client, server: connect(target, hostname) };
    opened += 1;
    lines.add(line);
    for (const socket of [line.client, line.server]) {
      socket.on('error', () => {});
      socket.on('close', () => close(line));
    }
    line.client.pipe(line.server).pipe(line.client);
  });

  function close(line: Line): void {
    line.client.destroy();
    line.server.destroy();
    lines.delete(line);
  }

  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve));
  t.after(() => {
    for (const line of lines) close(line);
    proxy.close();
  });

  const url = new URL(databaseUrl);
  url.port = String((proxy.address() as { port: number }).port);
  return {
    url: url.href,
    connectionCount: () => opened,
    swallowPackets() {
      for (const { client, server } of lines) {
        client.unpipe(server).pause();
        server.unpipe(client).pause();
      }
    },
    breakConnections() {
      for (const { client, server } of lines) {
        client.resetAndDestroy();
        server.destroy();
      }
    },
    leadTo(port) {
      target = port;
    },
  };
}
