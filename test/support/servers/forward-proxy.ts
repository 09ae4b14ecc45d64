// A small forward proxy on loopback, like a company's: it resolves names that the machine cannot.
import { createServer, request as forward } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import type { TestContext } from 'node:test';

export interface ForwardProxy {
  url: string;
  /** The requests: `CONNECT host:port`, or a method with an address. */
  requests: string[];
}

/** Every name resolves to `port` on this machine. */
export async function startForwardProxy(t: TestContext, port: number): Promise<ForwardProxy> {
  const requests: string[] = [];
  const server = createServer((request, response) => {
    requests.push(`${request.method} ${request.url}`);
    const url = new URL(request.url ?? '');
    const options = { port, host: '127.0.0.1', path: url.pathname, method: request.method, headers: request.headers };
    const onward = forward(options, (reply) => {
      response.writeHead(reply.statusCode ?? 502, reply.headers);
      reply.pipe(response);
    });
    request.pipe(onward);
  });
  server.on('connect', (request, client) => {
    requests.push(`CONNECT ${request.url}`);
    const onward = connect(port, '127.0.0.1', () => {
      client.write('HTTP/1.1 200 Connection established\r\n\r\n');
      onward.pipe(client).pipe(onward);
    });
    for (const socket of [client, onward]) socket.on('error', () => onward.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, requests };
}
