// Explains a refusal in the gateway's own words, with the likely cause.
import { isIP } from 'node:net';
import { isLoopbackHost } from '../../lib/net/address.ts';

/** A 422 has no reason by default, so the cause is inferred from the request. */
export function explain({ status, error }: { status: number; error: string }, url = ''): string {
  const cause = likelyCause(status, error, url);
  return `The gateway answered ${status}: ${withoutPeriod(error)}.${cause ? ` ${cause}` : ''}`;
}

function likelyCause(status: number, error: string, url: string): string | undefined {
  if (status >= 300 && status < 400) return 'It redirects: MCP_GATEWAY_URL must be the address it redirects to.';
  if (status === 401) {
    return 'The token is not accepted: check MCP_GATEWAY_TOKEN, or JWT_SECRET_KEY and GATEWAY_ADMIN_EMAIL.';
  }
  if (status === 403) return 'The token does not allow this: use an administrator’s token.';
  if (status === 413) return 'The content is larger than the gateway accepts.';
  if (status === 422) return causeOfInvalid(url);
  return status >= 500 ? unreachable(error, url) : undefined;
}

function causeOfInvalid(url: string): string {
  if (url === '')
    return 'Likely cause: a text in it contains characters, or a template contains expressions, that gateways refuse.';
  if (isLocal(url)) {
    return 'Gateways refuse loopback and private addresses unless SSRF_ALLOW_LOCALHOST or SSRF_ALLOW_PRIVATE_NETWORKS is set there.';
  }
  return 'Likely cause: the gateway cannot resolve the host name, or the name resolves to a private address.';
}

function unreachable(error: string, url: string): string | undefined {
  if (/401 Unauthorized/.test(error)) {
    return 'The server requires credentials. Register it in the gateway yourself, with its credentials; the hub then finds it there. Or put auth_type and auth_token into its registration, where everyone who reads the catalog sees them.';
  }
  if (/Redirect response/.test(error)) {
    return 'The gateway does not follow redirects: register the address that the server redirects to.';
  }
  if (isLoopbackHost(hostOf(url))) return 'Seen from the gateway, localhost is the gateway’s own machine or container.';
  return undefined;
}

const PRIVATE_IPV4 = /^(127|10|169\.254|192\.168|172\.(1[6-9]|2\d|3[01])|100\.(6[4-9]|[7-9]\d|1[01]\d|12[0-7]))\./;

function isLocal(url: string): boolean {
  const host = hostOf(url);
  return isLoopbackHost(host) || /\.(local|internal)$/.test(host) || (isIP(host) === 4 && PRIVATE_IPV4.test(host));
}

function hostOf(url: string): string {
  return URL.canParse(url) ? new URL(url).hostname : '';
}

function withoutPeriod(sentence: string): string {
  return sentence.replace(/[.\s]+$/, '');
}
