// Turns a hub's diagnosis of its gateway and models into findings.
import type { Diagnosis, HubOperations } from '../../hub/operations.ts';
import { searchQuery } from '../../search/search-query.ts';
import type { Finding } from './finding.ts';

export const NO_GATEWAY: Finding = {
  outcome: 'warning',
  found: 'not configured',
  advice: 'Servers stay pending. Set MCP_GATEWAY_URL and MCP_GATEWAY_TOKEN to register them.',
};

export function gatewayFinding({ gateway }: Diagnosis): Finding {
  switch (gateway.outcome) {
    case 'ok':
      return { outcome: 'ok', found: `${gateway.version ?? 'unknown version'}: responds, and accepts the token` };
    case 'not configured':
      return NO_GATEWAY;
    case 'unauthorized':
      return {
        outcome: 'failed',
        found: gateway.error,
        advice: 'Set MCP_GATEWAY_TOKEN to a token of its administrator, or JWT_SECRET_KEY to its secret.',
      };
    case 'down':
      return {
        outcome: 'failed',
        found: gateway.error,
        advice: 'Check that it is running, and that MCP_GATEWAY_URL is its address.',
      };
  }
}

const OWN_MODEL = 'Reinstall with optional dependencies, or set EMBEDDING_BASE_URL.';
/** The hub never compares vectors of different models, so it cannot switch while running. */
const UNTIL_RESTART = 'Then restart the hub: it keeps the model that it started with.';

export function modelFinding({ model }: Diagnosis): Finding {
  switch (model.outcome) {
    case 'ok':
      return { outcome: 'ok', found: `${model.model}: semantic search works` };
    case 'fallback': {
      const found = `${model.model}, the static model, replaces the sentence encoder: ${model.reason}`;
      return { outcome: 'warning', found, advice: `Semantic search is less precise. ${OWN_MODEL} ${UNTIL_RESTART}` };
    }
    case 'unavailable':
      return {
        outcome: 'warning',
        found: model.reason,
        advice: `Search uses keywords only. If EMBEDDING_BASE_URL is set, check that its server is running, and that its address, EMBEDDING_MODEL and EMBEDDING_API_KEY are correct. Otherwise: ${OWN_MODEL}`,
      };
  }
}

/** Returns undefined if no language model is configured, or if the hub is too old to test it. */
export function llmFinding({ llm }: Diagnosis): Finding | undefined {
  if (!llm) return undefined;
  if (llm.outcome === 'ok') return { outcome: 'ok', found: `the language model ${llm.model} answers` };
  return {
    outcome: 'warning',
    found: `the language model ${llm.reason}`,
    advice:
      'Results are not reranked. Check that the server at LLM_BASE_URL is running, and that its address, LLM_MODEL and LLM_API_KEY are correct.',
  };
}

const SOON = 'A running hub computes what is missing: check again in a minute. If nothing changes, look at its log.';

/** Runs a semantic search, which also detects problems outside the model. */
export async function meaningFinding(hub: Pick<HubOperations, 'search'>, advice = SOON): Promise<Finding> {
  const { degraded } = await hub.search(searchQuery({ text: 'a tool that reads files', mode: 'semantic', limit: 1 }));
  if (degraded === undefined) return { outcome: 'ok', found: 'semantic search works' };
  return { outcome: 'warning', found: degraded, advice };
}
