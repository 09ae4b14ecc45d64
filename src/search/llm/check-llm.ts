// Tells an operator whether the language model answers.
import { createLlmClient, type LlmDependencies } from './llm-client.ts';

export type LlmCheck = { outcome: 'ok'; model: string } | { outcome: 'unavailable'; reason: string };

/** A real question, so that address, key and model must all be right. Undefined when none is set. */
export async function checkLlm(
  endpoint: LlmDependencies['endpoint'] | undefined,
  fetch: LlmDependencies['fetch'],
): Promise<LlmCheck | undefined> {
  if (!endpoint) return undefined;
  let reason = 'gave no answer';
  // What the client would log is the finding here.
  const warn = (fields: object) => {
    if ('error' in fields) reason = String(fields.error);
  };
  // A client of its own: one that pauses after failures would not ask.
  const client = createLlmClient({ endpoint, fetch, log: { warn } });
  const { outcome } = await client.ask({ task: 'Answer with {"ok": true}.', data: {} }, (text) => text);
  return outcome === 'answered' ? { outcome: 'ok', model: endpoint.model } : { outcome: 'unavailable', reason };
}
