// Sign-in with OpenID Connect: verifies bearer tokens signed by the configured issuer.
import {
  createRemoteJWKSet,
  customFetch,
  decodeJwt,
  decodeProtectedHeader,
  errors,
  type JWTPayload,
  jwtVerify,
} from 'jose';
import { HubError } from '../errors.ts';
import type { Clock, Fetch, Logger } from '../lib/world.ts';
import { ROLES, type Role } from './contract.ts';

export interface OidcSettings {
  readonly issuer: string;
  readonly audience: string;
  /** The claim with roles or groups; dots separate nested keys. */
  readonly roleClaim: string;
  /** Maps claim values to roles. If empty, the values must be role names. */
  readonly roles: Readonly<Record<string, Role>>;
}

interface SignedIn {
  name: string;
  /** The subject, which never changes. */
  id: string;
  role: Role;
}

/** Undefined for anything but a signed token of the issuer. @throws HubError `unauthorized`, `forbidden`, `issuer_unavailable` */
export type CheckJsonWebToken = (token: string) => Promise<SignedIn | undefined>;

/** Only public-key signatures are accepted: with a shared secret or no signature, others could forge tokens. */
const ALGORITHMS = ['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512', 'ES256', 'ES384', 'ES512', 'EdDSA'];
const MOST_BYTES = 1_000_000;
const TIMEOUT_MS = 5_000;
/** How long no request is sent to an issuer after a failure. */
const PAUSE_AFTER_FAILURE_MS = 30_000;
const CLOCK_TOLERANCE_SEC = 30;

/** The issuer is queried when the first token arrives, and again for unknown keys. */
export function createJsonWebTokens(
  { issuer, audience, roleClaim, roles }: OidcSettings,
  { fetch: ask, now, log }: { fetch: Fetch; now: Clock; log: Logger },
): CheckJsonWebToken {
  const fetch = oncePerFailure(ask, now);
  let keys: Promise<ReturnType<typeof createRemoteJWKSet>> | undefined;

  async function findKeys() {
    const address = await fetch(`${issuer}/.well-known/openid-configuration`, (text) => {
      const document: { issuer?: unknown; jwks_uri?: unknown } = JSON.parse(text);
      if (String(document.issuer).replace(/\/+$/, '') !== issuer)
        throw new Error('its configuration names another issuer');
      return new URL(String(document.jwks_uri));
    });
    const keySet = (url: string) =>
      fetch(url, (text) => {
        JSON.parse(text);
        return new Response(text);
      });
    return createRemoteJWKSet(address, { [customFetch]: keySet });
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
    log.warn({ error }, `The sign-in issuer ${issuer} cannot be reached`);
    return new HubError(
      'issuer_unavailable',
      'The token cannot be checked, because its issuer does not respond correctly. Try again in a minute.',
      { cause: error },
    );
  }

  return async (token) => {
    if (!isMeantFor(issuer, token)) return undefined;
    const known = await openKeys();
    const options = {
      issuer: [issuer, `${issuer}/`],
      audience,
      algorithms: ALGORITHMS,
      clockTolerance: CLOCK_TOLERANCE_SEC,
    };
    const { payload } = await jwtVerify(token, known, { ...options, requiredClaims: ['exp', 'sub'] }).catch((error) => {
      if (error instanceof errors.JOSEError && !isFaultOfIssuer(error)) throw refused(error);
      throw unavailable(error);
    });
    const role = highestRole(valuesOf(payload, roleClaim), roles);
    if (!role)
      throw new HubError('forbidden', `The token has no role of this hub in its claim '${roleClaim}' (OIDC_ROLES).`);
    return { name: nameOf(payload), id: String(payload.sub), role };
  };
}

/** Checked before the issuer's keys are requested, so that arbitrary strings do not cause requests. */
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

/** An unverified email address proves nothing. Some issuers write the flag as a string. */
function nameOf({ email, email_verified: isVerified, preferred_username: username, sub }: JWTPayload): string {
  const name = [String(isVerified) === 'false' ? undefined : email, username, sub].find(
    (each) => typeof each === 'string' && each !== '',
  );
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

function isFaultOfIssuer(error: errors.JOSEError): boolean {
  return error instanceof errors.JWKSTimeout || error instanceof errors.JWKSInvalid;
}

/**
 * Fetches with the hub's own limits, proxies and certificates. A failing issuer is queried only once in a while, not for
 * each token that arrives.
 */
function oncePerFailure(ask: Fetch, now: Clock) {
  const failures = new Map<string, { error: unknown; at: number }>();
  return async <T>(url: string, read: (text: string) => T): Promise<T> => {
    const failed = failures.get(url);
    if (failed && now().getTime() - failed.at < PAUSE_AFTER_FAILURE_MS) throw failed.error;
    try {
      const { body, status } = await ask({ url, maxBytes: MOST_BYTES, timeoutMs: TIMEOUT_MS });
      if (status !== 200) throw new Error(`${url} answers ${status}`);
      const found = read(body.toString('utf8'));
      failures.delete(url);
      return found;
    } catch (error) {
      failures.set(url, { error, at: now().getTime() });
      throw error;
    }
  };
}
