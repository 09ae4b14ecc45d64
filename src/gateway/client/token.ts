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

export type TokenSource = () => Promise<string | undefined>;

const LIFE_SEC = 600;
/** Replaced well before the gateway would reject it. */
const KEPT_MS = 300_000;

export function createTokenSource(
  { token, jwtSecret, subject, issuer, audience }: TokenSettings,
  now: Clock,
): TokenSource {
  let made: { token: string; at: number } | undefined;

  async function mint(secret: string): Promise<string> {
    const { SignJWT } = await import('jose');
    const issuedAt = Math.floor(now().getTime() / 1000);
    return new SignJWT()
      .setProtectedHeader({ alg: 'HS256', typ: 'JWT' })
      .setSubject(subject)
      .setIssuer(issuer)
      .setAudience(audience)
      .setIssuedAt(issuedAt)
      .setExpirationTime(issuedAt + LIFE_SEC)
      .setJti(randomUUID())
      .sign(new TextEncoder().encode(secret));
  }

  return async () => {
    if (token || !jwtSecret) return token;
    const at = now().getTime();
    if (!made || at - made.at >= KEPT_MS) made = { token: await mint(jwtSecret), at };
    return made.token;
  };
}
