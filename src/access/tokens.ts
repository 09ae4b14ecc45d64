// Creates, lists and revokes tokens. The hub stores only their digests.
import { createHash, randomBytes } from 'node:crypto';
import { HubError } from '../errors.ts';
import { checkedInput } from '../lib/checked-input.ts';
import type { Clock } from '../lib/world.ts';
import { type AccessToken, NewToken, type TokenCreated, type TokenList, type TokenRevoked } from './contract.ts';
import type { StoredToken, TokenStore } from './store.ts';

export interface Tokens {
  /** @throws HubError `invalid_request`, `name_taken` */
  create(token: NewToken, createdBy: string): Promise<TokenCreated>;
  list(): Promise<TokenList>;
  /** @throws HubError `token_not_found` */
  revoke(name: string): Promise<TokenRevoked>;
  /** Undefined for a token that is unknown, revoked or expired. */
  find(secret: string): Promise<StoredToken | undefined>;
}

/** Lets people and secret scanners recognize a token. */
const PREFIX = 'hub_';
const DAY_MS = 86_400_000;

export function createTokens(store: TokenStore, now: Clock): Tokens {
  const isExpired = ({ expires_at }: StoredToken) => expires_at !== null && expires_at <= now().toISOString();

  const shown = (token: StoredToken): AccessToken => ({ ...token, expired: isExpired(token) });

  return {
    async create(given, createdBy) {
      const { name, role, scope, expires_in_days: days } = checkedInput(NewToken, given);
      const at = now();
      const token: StoredToken = {
        name,
        role,
        scope,
        created_at: at.toISOString(),
        created_by: createdBy,
        expires_at: days ? new Date(at.getTime() + days * DAY_MS).toISOString() : null,
      };
      const secret = `${PREFIX}${randomBytes(32).toString('base64url')}`;
      if (!(await store.add(token, digestOf(secret))))
        throw new HubError(
          'name_taken',
          `A token named '${name}' already exists: choose another name, or remove it first.`,
        );
      return { ...shown(token), token: secret };
    },

    list: async () => ({ items: (await store.list()).map(shown) }),

    async revoke(name) {
      if (!(await store.remove(name))) throw new HubError('token_not_found', `No token is named '${name}'.`);
      return { revoked: true, name };
    },

    async find(secret) {
      if (!secret.startsWith(PREFIX)) return undefined;
      const token = await store.find(digestOf(secret));
      return token && !isExpired(token) ? token : undefined;
    },
  };
}

/** A single round is enough, because the secret is random and cannot be guessed. */
function digestOf(secret: string): string {
  return createHash('sha256').update(secret).digest('hex');
}
