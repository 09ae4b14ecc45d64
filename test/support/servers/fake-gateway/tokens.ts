// Whether a gateway accepts a token; the reason never reaches the caller.
import { jwtVerify } from 'jose';
import type { Answer, Rules } from './generations.ts';

export interface Credentials {
  secret: string;
  issuer: string;
  audience: string;
  /** E-mails of its users. */
  users: readonly string[];
  /** Tokens that it issued itself and accepts as they are. */
  durableTokens: readonly string[];
  now: () => Date;
}

const REFUSED: Answer = { status: 401, body: { detail: 'Invalid authentication credentials' } };

/** Undefined when the caller is authorized. */
export async function tokenRefusal(
  authorization: string | undefined,
  rules: Rules,
  { secret, issuer, audience, users, durableTokens, now }: Credentials,
): Promise<Answer | undefined> {
  if (authorization === undefined) return rules.answerWithoutToken;
  if (!authorization.startsWith('Bearer ')) {
    return { status: 403, body: { detail: 'CSRF validation failed', code: 'CSRF_TOKEN_INVALID' } };
  }
  const token = authorization.slice('Bearer '.length);
  if (durableTokens.includes(token)) return undefined;
  const isStrict = rules.audience === 'required';
  try {
    const { payload } = await jwtVerify(token, new TextEncoder().encode(secret), {
      algorithms: ['HS256'],
      currentDate: now(),
      ...(isStrict ? { audience, issuer } : {}),
      ...(rules.needsExpiryAndId ? { requiredClaims: ['exp', 'jti'] } : {}),
    });
    if (!isStrict && payload.aud !== undefined) return REFUSED;
    if (rules.failsOnNullTeams && payload.teams === null) return { status: 500, body: 'Internal Server Error' };
    if (rules.needsUser && !users.includes(payload.sub ?? '')) return REFUSED;
    return undefined;
  } catch {
    return REFUSED;
  }
}
