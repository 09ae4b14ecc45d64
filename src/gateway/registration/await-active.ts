// Waits for a server that the gateway creates asynchronously, until it is active or the gateway reports an error.
import { isJsonObject, storableText } from '../../lib/json.ts';
import { statusOf } from '../client/answer.ts';
import type { RegistrationBatch } from './batch.ts';

const LONGEST_ERROR = 1000;
const PAUSES_MS = [1_000, 1_000, 2_000, 3_000, 5_000, 5_000, 5_000, 5_000];

/** Resolves to undefined once the server is active; otherwise to a sentence that explains why not. */
export async function untilActive({ client, sleep }: RegistrationBatch, id: string): Promise<string | undefined> {
  for (const pauseMs of PAUSES_MS) {
    await sleep(pauseMs);
    const reply = await client.send({ method: 'GET', path: `/gateways/${encodeURIComponent(id)}` });
    if (statusOf(reply) === 404) return 'The gateway accepted it, but no longer has it.';
    if (reply.kind !== 'ok' || !isJsonObject(reply.body)) continue;
    if (reply.body.status === 'active') return undefined;
    const error = reply.body.lastError ?? reply.body.last_error;
    if (typeof error === 'string' && error) return `The gateway accepted it, then reported: ${quoted(error)}.`;
  }
  return 'The gateway accepted it, but has not connected to it yet. The next attempt checks again.';
}

function quoted(error: string): string {
  return storableText(error)
    .slice(0, LONGEST_ERROR)
    .replace(/[.\s]+$/, '');
}
