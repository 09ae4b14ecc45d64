// The bearer token for the gateway: the configured one, or one created from the gateway's secret.
import { randomUUID } from 'node:crypto';
import type { Clock } from '../../lib/world.ts';

export interface TokenSettings {
  token?: string;
  jwtSecret?: string;
  /** Email address of a user of the gateway. */
  subject: string;
  issuer: string;
  audience: string;
}

/** `old` is for gateways up to 0.6, which reject tokens with an audience. */
export type TokenGeneration = 'new' | 'old';
export type TokenSource = (generation: TokenGeneration) => Promise<string | undefined>;

const LIFE_SEC = 600;
/** Replaced well before the gateway would reject it. */
const KEPT_MS = 300_000;

export function createTokenSource(
  { token, jwtSecret, subject, issuer, audience }: TokenSettings,
  now: Clock,
): TokenSource {
  const made = new Map<string, { token: string; madeAt: number }>();

  async function mint(generation: TokenGeneration, secret: string): Promise<string> {
    const { SignJWT } = await import('jose');
    const issuedAt = Math.floor(now().getTime() / 1000);
    const claims = generation === 'old' ? { username: subject } : {};
    const jwt = new SignJWT(claims)
      .setProtectedHeader({ alg: 'HS256', typ: 'JWT' })
      .setSubject(subject)
      .setIssuer(issuer)
      .setIssuedAt(issuedAt)
      .setExpirationTime(issuedAt + LIFE_SEC)
      .setJti(randomUUID());
    if (generation === 'new') jwt.setAudience(audience);
    return jwt.sign(new TextEncoder().encode(secret));
  }

  return async (generation) => {
    if (token) return token;
    if (!jwtSecret) return undefined;
    const known = made.get(generation);
    if (known && now().getTime() - known.madeAt < KEPT_MS) return known.token;
    const fresh = { token: await mint(generation, jwtSecret), madeAt: now().getTime() };
    made.set(generation, fresh);
    return fresh.token;
  };
}
