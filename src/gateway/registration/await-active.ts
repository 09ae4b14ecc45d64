// Waits for what the gateway does after its response: connecting to a server, or deleting one.
import { isJsonObject, storableText } from '../../lib/json.ts';
import { type GatewayReply, statusOf } from '../client/answer.ts';
import type { RegistrationBatch } from './batch.ts';

export type Activation =
  | { state: 'active' }
  /** The gateway reported an error, is still connecting, or no longer has the server. `error` is a sentence. */
  | { state: 'failed' | 'connecting' | 'gone'; error: string };

const LONGEST_ERROR = 1000;
const PAUSES_MS = [1_000, 1_000, 2_000, 3_000, 5_000, 5_000, 5_000, 5_000];

export async function untilActive(batch: RegistrationBatch, id: string): Promise<Activation> {
  for await (const reply of polls(batch, id)) {
    if (statusOf(reply) === 404) return { state: 'gone', error: 'The gateway accepted it, but no longer has it.' };
    if (reply.kind !== 'ok' || !isJsonObject(reply.body)) continue;
    if (reply.body.status === 'active') return { state: 'active' };
    const error = reply.body.lastError ?? reply.body.last_error;
    if (typeof error === 'string' && error)
      return { state: 'failed', error: `The gateway accepted it, then reported: ${quoted(error)}.` };
  }
  const error = 'The gateway accepted it, but has not connected to it yet. The next attempt checks again.';
  return { state: 'connecting', error };
}

/** Resolves to false if the gateway still has it. Until it is deleted, its name and address are taken. */
export async function untilDeleted(batch: RegistrationBatch, id: string): Promise<boolean> {
  for await (const reply of polls(batch, id)) if (statusOf(reply) === 404) return true;
  return false;
}

async function* polls({ client, sleep }: RegistrationBatch, id: string): AsyncGenerator<GatewayReply> {
  for (const pauseMs of PAUSES_MS) {
    await sleep(pauseMs);
    yield client.send({ method: 'GET', path: `/gateways/${encodeURIComponent(id)}` });
  }
}

function quoted(error: string): string {
  return storableText(error)
    .slice(0, LONGEST_ERROR)
    .replace(/[.\s]+$/, '');
}
