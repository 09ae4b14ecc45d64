// Who may do what in a hub: roles, tokens, and the log of what was done.
import { z } from 'zod';
import { ROLES, type Role } from './roles.ts';

export { ROLES, type Role };

const RoleName = z
  .enum(ROLES, { error: `must be one of ${ROLES.join(', ')}` })
  .describe(
    '`reader`: searches and reads. `installer`: also installs. `operator`: also changes remotes, entities and registrations. `admin`: also manages tokens and reads the audit log.',
  )
  .meta({ examples: ['installer'] });

const TokenName = z
  .string()
  .trim()
  .regex(/^[\w.@-]{1,64}$/, 'must have 1 to 64 letters, digits, and . _ @ -')
  .meta({ examples: ['build-server'] });

/** A name, or how names begin with `*` behind it. */
const ScopePattern = z
  .string()
  .trim()
  .regex(/^[^\s*]{1,200}\*?$|^\*$/, 'must be a name, or the beginning of names followed by *')
  .meta({ examples: ['com.acme/*'] });

export const NewToken = z.object({
  name: TokenName.describe('What the token is for. The audit log shows it.'),
  role: RoleName,
  scope: z
    .array(ScopePattern)
    .max(100)
    .default([])
    .describe(
      'Names of entities that the token may install or change, without type and version; `*` at the end means all that begin so. Without a scope: all.',
    ),
  expires_in_days: z
    .number()
    .int()
    .min(1)
    .max(3650)
    .nullish()
    .describe('Without it, the token is valid until it is revoked.')
    .meta({ examples: [90] }),
});
export type NewToken = z.infer<typeof NewToken>;

export const AccessToken = z
  .object({
    name: z.string(),
    role: RoleName,
    scope: z.array(z.string()),
    created_at: z.string(),
    created_by: z.string(),
    expires_at: z.string().nullable(),
    expired: z.boolean(),
  })
  .meta({ id: 'AccessToken' });
export type AccessToken = z.infer<typeof AccessToken>;

export const TokenCreated = AccessToken.extend({
  token: z.string().describe('The token itself. It is shown only once: the hub keeps a digest of it.'),
}).meta({ id: 'TokenCreated' });
export type TokenCreated = z.infer<typeof TokenCreated>;

export const TokenList = z.object({ items: z.array(AccessToken) }).meta({ id: 'TokenList' });
export type TokenList = z.infer<typeof TokenList>;

export const TokenRevoked = z.object({ revoked: z.literal(true), name: z.string() }).meta({ id: 'TokenRevoked' });
export type TokenRevoked = z.infer<typeof TokenRevoked>;

/** How a request reached the hub. */
export type Door = 'http' | 'mcp' | 'command line';

export const Identity = z
  .object({
    name: z.string().describe('Of the token or the person; `anybody` for callers without a token.'),
    role: RoleName,
    scope: z.array(z.string()).describe('Names of entities that the caller may change; empty means all.'),
  })
  .meta({ id: 'Identity' });
export type Identity = z.infer<typeof Identity>;

export interface Caller {
  /** Of the token, the signed-in person, or the user of the machine. */
  name: string;
  role: Role;
  /** Names of entities that it may change; empty means all. */
  scope: readonly string[];
  /** False for callers that sent no credentials. */
  isKnown: boolean;
  via: Door;
  /** Where the request came from on the network. */
  address?: string;
}

export const AuditEntry = z
  .object({
    id: z.string(),
    at: z.string(),
    caller: z.string().describe('Name of the token, the signed-in person, or the user of the machine.'),
    role: RoleName,
    via: z.string().describe('`http`, `mcp` or `command line`.'),
    address: z.string().nullable().describe('Where the request came from.'),
    operation: z.string().describe('Such as `install`, `blockEntity` or `createToken`.'),
    subject: z.string().describe('What was changed: an entity, a remote, a token.'),
    outcome: z.enum(['ok', 'failed']),
    detail: z.string().nullable().describe('Why it failed, or what else there is to know.'),
  })
  .meta({ id: 'AuditEntry' });
export type AuditEntry = z.infer<typeof AuditEntry>;

export const AuditPage = z
  .object({
    items: z.array(AuditEntry).describe('The newest first.'),
    next: z.string().nullable().describe('`before` of the next page; null on the last one.'),
  })
  .meta({ id: 'AuditPage' });
export type AuditPage = z.infer<typeof AuditPage>;

export interface AuditQuery {
  limit: number;
  /** Only entries before the one with this id. */
  before?: string;
  caller?: string;
  operation?: string;
  subject?: string;
  outcome?: AuditEntry['outcome'];
  /** ISO 8601. */
  since?: string;
  until?: string;
}
