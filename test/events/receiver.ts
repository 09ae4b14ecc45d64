// A receiver of webhooks on loopback, which checks every signature.
import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import type { TestContext } from 'node:test';
import type { StoredEvent } from '../../src/events/store.ts';

export const SECRET = `whsec_${Buffer.from('a key of twenty-four byte').toString('base64')}`;

interface Received {
  id: string;
  body: string;
  events: StoredEvent[];
}

export interface TestReceiver {
  url: string;
  /** All received requests, including those not answered with 200. */
  received: Received[];
  /** Types and subjects of all received events. */
  events(): string[];
  /** Its response from now on; 200 by default. */
  answer(answer: (response: ServerResponse) => void): void;
}

export async function startReceiver(t: TestContext, secret = SECRET): Promise<TestReceiver> {
  const received: Received[] = [];
  let answer: (response: ServerResponse) => void = (response) => response.end('thank you');
  const server = createServer(async (request, response) => {
    const body = await text(request);
    if (request.method === 'POST') received.push({ ...verified(request.headers, body, secret), body });
    answer(response);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.after(() => {
    server.closeAllConnections();
    return new Promise((resolve) => server.close(resolve));
  });
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`,
    received,
    events: () => received.flatMap(({ events }) => events.map(shown)),
    answer: (next) => {
      answer = next;
    },
  };
}

function verified(headers: IncomingHttpHeaders, body: string, secret: string) {
  const { 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': signature } = headers;
  const key = Buffer.from(secret.replace('whsec_', ''), 'base64');
  const expected = createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest('base64');
  assert.equal(signature, `v1,${expected}`);
  const { type, data } = JSON.parse(body);
  assert.equal(type, 'events');
  return { id: String(id), events: data.events as StoredEvent[] };
}

function shown({ type, data }: StoredEvent): string {
  return 'id' in data ? `${type} ${data.id}` : type;
}
