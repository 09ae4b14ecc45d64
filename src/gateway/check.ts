// Checks whether the gateway can be used, for operators who set it up.
import { isJsonObject } from '../lib/json.ts';
import type { GatewayReply } from './client/answer.ts';
import type { GatewayClient } from './client/client.ts';

/** `error` is a sentence. */
export type GatewayCheck =
  /** `version` is absent if the gateway does not report it. */
  | { outcome: 'ok'; version?: string }
  | { outcome: 'not configured' }
  | { outcome: 'unauthorized' | 'down'; error: string };

/** Sends read requests that need the token, so that nothing changes. */
export async function checkGateway(
  client: Pick<GatewayClient, 'send'> | undefined,
  signal?: AbortSignal,
): Promise<GatewayCheck> {
  if (!client) return { outcome: 'not configured' };
  const reply = await client.send({ method: 'GET', path: '/gateways?limit=1', signal });
  if (reply.kind === 'ok') return { outcome: 'ok', ...versionIn(await client.send(VERSION_CALL)) };
  if (reply.kind !== 'refused') return { outcome: 'down', error: `The gateway ${reply.error}.` };
  const outcome = reply.status === 401 || reply.status === 403 ? 'unauthorized' : 'down';
  return { outcome, error: `The gateway answered ${reply.status}: ${reply.error}` };
}

const VERSION_CALL = { method: 'GET', path: '/version' } as const;

/** A token without the right to read the version is not an error. */
function versionIn(reply: GatewayReply): { version?: string } {
  const body = reply.kind === 'ok' ? reply.body : undefined;
  const app = isJsonObject(body) ? body.app : undefined;
  const version = isJsonObject(app) ? app.version : undefined;
  return typeof version === 'string' ? { version } : {};
}
