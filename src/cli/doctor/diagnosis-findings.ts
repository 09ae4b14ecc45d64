// What a hub found out about its gateway and its model → findings for people.
import type { Diagnosis, HubOperations } from '../../hub-operations.ts';
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
      return { outcome: 'ok', found: `${gateway.version ?? 'of unknown version'}: answers, and takes the token` };
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
        advice: 'See whether it runs, and whether MCP_GATEWAY_URL is its address.',
      };
  }
}

const OTHER_MODEL = 'Reinstall with optional dependencies, or set EMBEDDING_BASE_URL.';

/** Of the model itself. */
export function modelFinding({ model }: Diagnosis): Finding {
  switch (model.outcome) {
    case 'ok':
      return { outcome: 'ok', found: `${model.model}: search by meaning works` };
    case 'fallback': {
      const found = `${model.model}, the static model, stands in for the sentence encoder: ${model.reason}`;
      return { outcome: 'warning', found, advice: `Search by meaning is coarser. ${OTHER_MODEL}` };
    }
    case 'unavailable':
      return { outcome: 'warning', found: model.reason, advice: `Search goes on by words. ${OTHER_MODEL}` };
  }
}

/** A real search by meaning: whatever is missing beside the model is missed here. */
export async function meaningFinding(hub: Pick<HubOperations, 'search'>): Promise<Finding> {
  const { degraded } = await hub.search(searchQuery({ text: 'a tool that reads files', mode: 'semantic', limit: 1 }));
  if (degraded === undefined) return { outcome: 'ok', found: 'search by meaning works' };
  return { outcome: 'warning', found: degraded, advice: OTHER_MODEL };
}
