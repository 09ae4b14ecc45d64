// Who may do what in a hub: roles, tokens and the audit log.
import { z } from 'zod';
import { ROLES, type Role } from './roles.ts';

export { ROLES, type Role };

const RoleName = z
  .enum(ROLES, { error: `must be one of ${ROLES.join(', ')}` })
  .describe(
    '`reader`: searches and reads. `installer`: also installs. `publisher`: also publishes servers. `operator`: also changes remotes, entities, registrations and views, approves, and checks signatures. `admin`: also changes the policy, webhooks and tokens, and reads the audit log.',
  )
  .meta({ examples: ['installer'] });

/** Names that the hub itself uses in records. */
const RESERVED_NAMES = ['api_token', 'policy_file', 'anonymous', 'anybody'];

const TokenName = z
  .string()
  .trim()
  .regex(/^[\w.@-]{1,64}$/, 'must have 1 to 64 characters: letters, digits, and . _ @ -')
  .refine((name) => !RESERVED_NAMES.includes(name.toLowerCase()), 'is reserved for the hub: choose another name')
  .meta({ examples: ['build-server'] });

const ScopePattern = z
  .string()
  .trim()
  .regex(/^\S{1,200}$/, 'must be a name, or a pattern with * and ?, without spaces')
  .meta({ examples: ['com.acme/*'] });

export const NewToken = z.object({
  name: TokenName.describe('What the token is for. The audit log shows it.'),
  role: RoleName,
  scope: z
    .array(ScopePattern)
    .max(100)
    .default([])
    .describe(
      'Names of entities that the token may install, publish or change, without type and version, or patterns with `*` and `?`; case is ignored. Without a scope: all.',
    ),
  expires_in_days: z
    .number()
    .int()
    .min(1)
    .max(3650)
    .nullish()
    .describe('Without it, the token is valid until it is removed.')
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
const ENTRY_POINTS = ['http', 'mcp', 'command line', 'file'] as const;
export type EntryPoint = (typeof ENTRY_POINTS)[number];

/** `setting`: API_TOKEN or POLICY_FILE. */
const CALLER_KINDS = ['setting', 'token', 'sign-in', 'machine user', 'anybody'] as const;

const CallerKind = z
  .enum(CALLER_KINDS)
  .describe(
    'Kind of caller: a `token`, a person (`sign-in`), a user of the command line (`machine user`), a `setting` of the hub such as API_TOKEN, or a caller without credentials (`anybody`).',
  );

export const Identity = z
  .object({
    name: z.string().describe('Name of the token or the person; `anonymous` for callers without a token.'),
    kind: CallerKind,
    role: RoleName,
    scope: z.array(z.string()).describe('Names of entities that the caller may change; empty means all.'),
  })
  .meta({ id: 'Identity' });
export type Identity = z.infer<typeof Identity>;

export interface Caller {
  /** The name of the token, of the signed-in person, or of the machine user. */
  name: string;
  kind: (typeof CALLER_KINDS)[number];
  /** The issuer's id of a signed-in person. Names may change, and two people may share one. */
  id?: string | undefined;
  role: Role;
  /** Names or name patterns of entities that it may change; empty means all. */
  scope: readonly string[];
  /** False for callers that sent no credentials. */
  isKnown: boolean;
  via: EntryPoint;
  /** The network address of the request. */
  address?: string;
}

export const AUDIT_OUTCOMES = ['started', 'ok', 'failed', 'refused'] as const;

export const AuditEntry = z
  .object({
    id: z.string(),
    at: z.string(),
    caller: z.string().describe('Name of the token, the signed-in person, or the user of the machine.'),
    caller_kind: CallerKind,
    caller_id: z.string().nullable().describe('The subject of a signed-in person, as its issuer names it.'),
    role: RoleName,
    via: z.enum(ENTRY_POINTS).describe('`file`: POLICY_FILE changed.'),
    address: z.string().nullable().describe('Where the request came from.'),
    operation: z.string().describe('Such as `install`, `blockEntity` or `createToken`.'),
    subject: z.string().describe('What was changed: an entity, a remote, a token.'),
    detail: z.string().nullable().describe('Further details of the request: a reason, a role, a scope, settings.'),
    outcome: z
      .enum(AUDIT_OUTCOMES)
      .describe(
        '`started`: in progress, or the hub stopped before it was done. `refused`: not allowed by role or scope.',
      ),
    result: z.string().nullable().describe('The result: counts, or the error code.'),
    ended_at: z.string().nullable(),
  })
  .meta({ id: 'AuditEntry' });
export type AuditEntry = z.infer<typeof AuditEntry>;

export const AuditPage = z
  .object({
    items: z.array(AuditEntry).describe('Newest first.'),
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
