// Sign-in with OpenID Connect: bearer tokens that a configured issuer has signed.
import {
  createRemoteJWKSet,
  customFetch,
  decodeJwt,
  decodeProtectedHeader,
  errors,
  type FetchImplementation,
  type JWTPayload,
  jwtVerify,
} from 'jose';
import { HubError } from '../errors.ts';
import type { Fetch, Logger } from '../lib/world.ts';
import { ROLES, type Role } from './contract.ts';

export interface OidcSettings {
  readonly issuer: string;
  readonly audience: string;
  /** The claim that names roles or groups; dots lead into objects. */
  readonly roleClaim: string;
  /** Values of the claim → roles. Without any, the names of the roles stand for themselves. */
  readonly roles: Readonly<Record<string, Role>>;
}

interface SignedIn {
  name: string;
  role: Role;
}

export type CheckJsonWebToken = (token: string) => Promise<SignedIn>;

/** Only signatures with a public key: with a shared secret, or none, anybody could sign. */
const ALGORITHMS = ['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512', 'ES256', 'ES384', 'ES512', 'EdDSA'];
const MOST_BYTES = 1_000_000;
const TIMEOUT_MS = 5_000;
const CLOCK_TOLERANCE_SEC = 30;

/** The issuer is asked when the first token arrives, and again for keys that are not known. */
export function createJsonWebTokens(
  { issuer, audience, roleClaim, roles }: OidcSettings,
  { fetch, log }: { fetch: Fetch; log: Logger },
): CheckJsonWebToken {
  let keys: Promise<ReturnType<typeof createRemoteJWKSet>> | undefined;

  async function findKeys() {
    const { body, status } = await fetch({
      url: `${issuer}/.well-known/openid-configuration`,
      maxBytes: MOST_BYTES,
      timeoutMs: TIMEOUT_MS,
    });
    if (status !== 200) throw new Error(`its configuration answers ${status}`);
    const document: { issuer?: unknown; jwks_uri?: unknown } = JSON.parse(body.toString('utf8'));
    if (String(document.issuer).replace(/\/+$/, '') !== issuer)
      throw new Error('its configuration names another issuer');
    return createRemoteJWKSet(new URL(String(document.jwks_uri)), { [customFetch]: asWebFetch(fetch) });
  }

  async function openKeys() {
    keys ??= findKeys();
    try {
      return await keys;
    } catch (error) {
      keys = undefined;
      throw unavailable(error);
    }
  }

  function unavailable(error: unknown): HubError {
    log.warn({ error }, `The issuer of sign-ins, ${issuer}, cannot be asked`);
    return new HubError('overloaded', 'The token cannot be checked: its issuer does not answer. Try again later.', {
      cause: error,
    });
  }

  return async (token) => {
    if (!isMeantFor(issuer, token))
      throw new HubError('unauthorized', `The token is not accepted: it is not of ${issuer}.`);
    const known = await openKeys();
    const options = {
      issuer: [issuer, `${issuer}/`],
      audience,
      algorithms: ALGORITHMS,
      clockTolerance: CLOCK_TOLERANCE_SEC,
    };
    const { payload } = await jwtVerify(token, known, { ...options, requiredClaims: ['exp', 'sub'] }).catch((error) => {
      if (error instanceof errors.JOSEError && !(error instanceof errors.JWKSTimeout)) throw refused(error);
      throw unavailable(error);
    });
    const role = highestRole(valuesOf(payload, roleClaim), roles);
    if (!role)
      throw new HubError('forbidden', `The token names no role of this hub in its claim '${roleClaim}' (OIDC_ROLES).`);
    return { name: nameOf(payload), role };
  };
}

/** Looked at before the issuer is asked for its keys, so that texts of any kind do not make the hub ask it. */
function isMeantFor(issuer: string, token: string): boolean {
  try {
    const { alg = '' } = decodeProtectedHeader(token);
    return ALGORITHMS.includes(alg) && decodeJwt(token).iss?.replace(/\/+$/, '') === issuer;
  } catch {
    return false;
  }
}

function refused(error: errors.JOSEError): HubError {
  const why = error instanceof errors.JWTExpired ? 'it has expired' : error.message.replace(/\.$/, '');
  return new HubError('unauthorized', `The token is not accepted: ${why}.`, { cause: error });
}

function nameOf({ email, preferred_username: username, sub }: JWTPayload): string {
  const name = [email, username, sub].find((each) => typeof each === 'string' && each !== '');
  return String(name).slice(0, 200);
}

function valuesOf(payload: JWTPayload, claim: string): string[] {
  const direct = payload[claim];
  const found =
    direct ??
    claim.split('.').reduce<unknown>((value, name) => (value as Record<string, unknown> | undefined)?.[name], payload);
  return [found].flat().filter((value) => typeof value === 'string');
}

function highestRole(values: readonly string[], roles: OidcSettings['roles']): Role | undefined {
  const areNamed = Object.keys(roles).length > 0;
  const named = values.map((value) => (areNamed ? roles[value] : value));
  return ROLES.findLast((role) => named.includes(role));
}

/** The hub's own requests: with its limits, proxies and certificates. */
function asWebFetch(fetch: Fetch): FetchImplementation {
  return async (url, { headers }) => {
    const reply = await fetch({
      url,
      headers: Object.fromEntries(headers),
      maxBytes: MOST_BYTES,
      timeoutMs: TIMEOUT_MS,
    });
    // Not an error of jose: the issuer is in trouble, and not the token.
    if (reply.status !== 200) throw new Error(`its keys answer ${reply.status}`);
    return new Response(new Uint8Array(reply.body));
  };
}
