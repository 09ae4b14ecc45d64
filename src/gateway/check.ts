// Whether the gateway can be used, for whoever sets it up.
import type { GatewayClient } from './client.ts';
import type { GatewayCheck } from './contract.ts';

/** A read that needs the token: nothing is changed by it. */
export async function checkGateway(client: GatewayClient | undefined, signal?: AbortSignal): Promise<GatewayCheck> {
  if (!client) return { outcome: 'not configured' };
  const reply = await client.send({ method: 'GET', path: '/gateways?limit=1', signal });
  if (reply.kind === 'ok') return { outcome: 'ok' };
  if (reply.kind !== 'refused') return { outcome: 'down', error: `The gateway ${reply.error}.` };
  const outcome = reply.status === 401 || reply.status === 403 ? 'unauthorized' : 'down';
  return { outcome, error: `The gateway answered ${reply.status}: ${reply.error}` };
}
