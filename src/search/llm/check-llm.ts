// Checks for the operator whether the language model responds.
import { createLlmClient, type LlmDependencies } from './llm-client.ts';

export type LlmCheck = { outcome: 'ok'; model: string } | { outcome: 'unavailable'; reason: string };

/** Sends a real question, which tests the address, the key and the model. Undefined when no endpoint is set. */
export async function checkLlm(
  endpoint: LlmDependencies['endpoint'] | undefined,
  fetch: LlmDependencies['fetch'],
): Promise<LlmCheck | undefined> {
  if (!endpoint) return undefined;
  let reason = 'gave no answer';
  // The client's warning is the result of the check.
  const warn = (fields: object) => {
    if ('error' in fields) reason = String(fields.error);
  };
  // A new client: one that is paused after failures would not send the question.
  const client = createLlmClient({ endpoint, fetch, log: { warn } });
  const { outcome } = await client.ask({ task: 'Answer with {"ok": true}.', data: {} }, (text) => text);
  return outcome === 'answered' ? { outcome: 'ok', model: endpoint.model } : { outcome: 'unavailable', reason };
}
