// Gateways may promise to make a server and do it later: followed up until it is there, or until they say why not.
import { isJsonObject, storableText } from '../lib/json.ts';
import type { RegistrationBatch } from './batch.ts';

const LONGEST_ERROR = 1000;
const PAUSES_MS = [1_000, 1_000, 2_000, 3_000, 5_000, 5_000, 5_000, 5_000];

/** Undefined once it is active; otherwise what is in the way, as the end of a sentence. */
export async function untilActive({ client, sleep }: RegistrationBatch, id: string): Promise<string | undefined> {
  for (const pauseMs of PAUSES_MS) {
    await sleep(pauseMs);
    const reply = await client.send({ method: 'GET', path: `/gateways/${encodeURIComponent(id)}` });
    if (reply.kind !== 'ok' || !isJsonObject(reply.body)) continue;
    if (reply.body.status === 'active') return undefined;
    const error = reply.body.lastError ?? reply.body.last_error;
    if (typeof error === 'string' && error) return storableText(error).slice(0, LONGEST_ERROR);
  }
  return 'it is still pending';
}
