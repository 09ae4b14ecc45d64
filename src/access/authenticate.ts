// Identifies a caller by its bearer token.
import { HubError } from '../errors.ts';
import type { Caller } from './contract.ts';
import type { CheckJsonWebToken } from './json-web-tokens.ts';
import { isAtLeast, type Role } from './roles.ts';
import type { Tokens } from './tokens.ts';
import { createWrongTokenLimit } from './wrong-token-limit.ts';

export interface Authentication {
  /** Whether the hub has neither API_TOKEN nor a token issuer: then everyone may do everything. */
  readonly isOpen: boolean;
  /** `bearer` is empty if the caller sent no token; `needed` is named in the refusal. @throws HubError `unauthorized`, `forbidden`, `rate_limited` */
  identify(bearer: string, address: string, needed?: Role): Promise<Identified>;
  /** Undefined without METRICS_TOKEN. @throws HubError `unauthorized`, `rate_limited` */
  readonly checkMetricsToken?: (bearer: string, address: string) => void;
}

export interface AuthenticationDependencies {
  apiToken: string | undefined;
  metricsToken: string | undefined;
  readsNeedToken: boolean;
  tokens: Pick<Tokens, 'find'>;
  checkJsonWebToken: CheckJsonWebToken | undefined;
}

type Identified = Pick<Caller, 'name' | 'kind' | 'id' | 'role' | 'scope' | 'isKnown'>;

const ANONYMOUS: Identified = { name: 'anonymous', kind: 'anybody', role: 'reader', scope: [], isKnown: false };

export function createAuthentication(dependencies: AuthenticationDependencies): Authentication {
  const { apiToken, metricsToken, readsNeedToken, tokens, checkJsonWebToken } = dependencies;
  const isOpen = apiToken === undefined && checkJsonWebToken === undefined;
  const attempts = createWrongTokenLimit();

  function checkMetricsToken(bearer: string, address: string): void {
    if (attempts.isRight(bearer, metricsToken ?? '', address)) return;
    throw bearer === '' ? needsMetricsToken() : attempts.refuse(bearer, address, needsMetricsToken());
  }

  return {
    isOpen,
    ...(metricsToken !== undefined && { checkMetricsToken }),
    async identify(bearer, address, needed = 'reader') {
      if (isOpen) return { ...ANONYMOUS, role: 'admin' };
      if (bearer === '' && readsNeedToken) throw needsToken(needed);
      if (bearer === '') return ANONYMOUS;
      if (apiToken !== undefined && attempts.isRight(bearer, apiToken, address))
        return { name: 'API_TOKEN', kind: 'setting', role: 'admin', scope: [], isKnown: true };
      const token = await tokens.find(bearer);
      if (token) return { name: token.name, kind: 'token', role: token.role, scope: token.scope, isKnown: true };
      // Its refusals are not counted: an outdated sign-in is not a guess, and signatures cannot be guessed.
      const signedIn = await checkJsonWebToken?.(bearer);
      if (signedIn) return { ...signedIn, kind: 'sign-in', scope: [], isKnown: true };
      throw attempts.refuse(bearer, address, notAccepted());
    },
  };
}

/** @throws HubError `unauthorized` for callers without a token, `forbidden` for others */
export function assertRole({ name, role, isKnown }: Pick<Caller, 'name' | 'role' | 'isKnown'>, needed: Role): void {
  if (isAtLeast(role, needed)) return;
  if (!isKnown) throw needsToken(needed);
  throw new HubError('forbidden', `This needs the role ${needed}, but '${name}' has the role ${role}.`);
}

/** For records with a single name: people and machine users cannot be confused with tokens, whose names have no spaces. */
export function recordedName({ name, kind }: Pick<Caller, 'name' | 'kind'>): string {
  if (kind === 'sign-in') return `${name} (signed in)`;
  return kind === 'machine user' ? `${name} (machine user)` : name;
}

function needsToken(role: Role): HubError {
  return new HubError(
    'unauthorized',
    `This needs the header 'Authorization: Bearer <token>' with the hub's API_TOKEN, or a token with the role ${role} or higher.`,
  );
}

function notAccepted(): HubError {
  return new HubError(
    'unauthorized',
    'The token is not accepted: it is wrong, expired or removed, or from another issuer.',
  );
}

function needsMetricsToken(): HubError {
  return new HubError(
    'unauthorized',
    "This route needs the header 'Authorization: Bearer <token>' with the hub's METRICS_TOKEN.",
  );
}
