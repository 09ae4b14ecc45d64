// The public types of policies and approvals.
import { z } from 'zod';
import { TRUST_STATES, Trust } from '../catalog/contract.ts';
import { ENTITY_TYPES } from '../catalog/uid.ts';
import { ACTIONS, LARGEST_POLICY, OUTCOMES } from './document.ts';

const Timestamp = z.iso.datetime();
const Count = z.number().int().min(0);

/** Which entities of a remote may be registered: all that the policy allows, only approved ones, or none. */
export const REGISTER_MODES = ['all', 'approved', 'none'] as const;
export type RegisterMode = (typeof REGISTER_MODES)[number];

export const PolicyState = z
  .object({
    text: z.string().nullable().describe('YAML or JSON as it was written; null if the hub has no policy.'),
    digest: z.string().nullable(),
    source: z.enum(['none', 'file', 'api']).describe('`file`: it can only be changed in POLICY_FILE.'),
    changed_at: Timestamp.nullable(),
    changed_by: z.string().nullable(),
    applied: z.boolean().describe('Whether the last change has been applied to every entity.'),
    warnings: z
      .array(z.string())
      .describe('Rules that have no effect, or probably not the effect that their author intended.'),
    file_error: z
      .string()
      .nullable()
      .describe('Why POLICY_FILE cannot be used as it is now; the earlier policy stays in force.'),
  })
  .meta({ id: 'PolicyState' });
export type PolicyState = z.infer<typeof PolicyState>;

/** Strict: a misspelled `dry_run` must not apply a policy. */
export const NewPolicy = z.strictObject({
  text: z
    .string()
    .max(LARGEST_POLICY)
    .describe('The policy, as YAML or JSON')
    .meta({ examples: ['version: 1\ndefault: { register: require_approval }\n'] }),
  dry_run: z.boolean().default(false).describe('Only check it, and count what it would change'),
});

const OutcomeName = z.enum(OUTCOMES);

export const PolicyChange = z
  .object({
    dry_run: z.boolean(),
    digest: z.string(),
    warnings: z.array(z.string()),
    entities: Count.describe('Entities that were checked.'),
    affected: Count.describe(
      'Entities for which something changes, including those that earlier approvals with `approval: name` cover.',
    ),
    changes: z.array(z.object({ action: z.enum(ACTIONS), from: OutcomeName, to: OutcomeName, count: Count })),
    note: z.string().optional().describe('What is still in the gateway, and why.'),
  })
  .meta({ id: 'PolicyChange' });
export type PolicyChange = z.infer<typeof PolicyChange>;

export const PolicyTestRequest = z.object({
  id: z
    .string()
    .min(1)
    .describe('Without a version, the newest stable one')
    .meta({ examples: ['mcp_server:postgres-reader@1.10.0'] }),
  text: z.string().max(LARGEST_POLICY).optional().describe('A policy to test; default: the one in force'),
});

const PolicyDecision = z.object({
  action: z.enum(ACTIONS),
  outcome: OutcomeName.describe('What the policy says.'),
  result: z
    .enum(['allowed', 'refused', 'pending'])
    .describe('The effect, with existing approvals taken into account; `pending`: waits for approval.'),
  rule: z.number().int().nullable().describe('Counted from 1; null when no rule decided.'),
  decided_by: z.string().describe('The rule with its name, the default, or the settings of the remote.'),
  why: z.string(),
});

export const PolicyTest = z
  .object({
    id: z.string(),
    decisions: z.array(PolicyDecision),
    blocked_at: Timestamp.nullable()
      .default(null)
      .describe('When an operator blocked it; a block overrides the policy.'),
    facts: z
      .object({
        type: z.enum(ENTITY_TYPES),
        name: z.string(),
        publisher: z.string().nullable(),
        remote: z.string().nullable().describe('Null if its content does not come from a remote.'),
        transports: z.array(z.string()),
        artifacts: z.array(z.string()),
        license: z.string().nullable(),
        quality: z.number(),
        age_days: z.number().int(),
        digest: z.boolean().nullable().describe('Null when it installs nothing.'),
        signature: z.boolean().describe('Whether every artifact has a verified signature.'),
        trust: z.enum(TRUST_STATES).default('not_checked'),
        signed_by: z.array(z.string()).default([]).describe('Empty unless every artifact has a verified signature.'),
      })
      .describe('The facts that the rules were applied to.'),
  })
  .meta({ id: 'PolicyTest' });
export type PolicyTest = z.infer<typeof PolicyTest>;

export const APPROVAL_STATES = ['pending', 'approved', 'rejected'] as const;
export type ApprovalListState = (typeof APPROVAL_STATES)[number];

const MadeDecision = z.object({
  decision: z.enum(['approved', 'rejected', 'revoked']),
  reason: z.string().nullable(),
  decided_by: z.string(),
  decided_at: Timestamp,
});

const APPROVAL_ITEM = {
  id: z.string(),
  type: z.enum(ENTITY_TYPES),
  name: z.string(),
  version: z.string(),
  title: z.string().nullable(),
  summary: z.string(),
  digest: z.string().describe('Digest of the content of the entity; a decision applies to this content.'),
  needs_approval: z.boolean(),
  asked_by: z
    .array(z.object({ action: z.enum(ACTIONS), decided_by: z.string(), approval: z.enum(['version', 'name']) }))
    .describe('What requires approval: for each action, the rule or the setting of the remote.'),
  publisher: z.string().nullable(),
  license: z.string().nullable(),
  remote: z.string().nullable(),
  published_at: Timestamp.nullable(),
  decision: MadeDecision.nullable(),
};

const ApprovalItem = z.object(APPROVAL_ITEM).meta({ id: 'ApprovalItem' });
export type ApprovalItem = z.infer<typeof ApprovalItem>;

export const ApprovalPage = z
  .object({ items: z.array(ApprovalItem), total: Count, limit: Count, offset: Count })
  .meta({ id: 'ApprovalPage' });
export type ApprovalPage = z.infer<typeof ApprovalPage>;

export interface ApprovalQuery {
  state: ApprovalListState;
  limit: number;
  offset: number;
}

/** The subject of an approval: everything that reaches the entity's users. */
export const Reviewed = z.object({
  publisher: z.string().nullable(),
  license: z.string().nullable(),
  transports: z.array(z.string()),
  launch: z.string().nullable().describe('The address to connect to, or the command to run.'),
  artifacts: z.array(z.object({ kind: z.string(), what: z.string(), digest: z.string().nullable() })),
  variables: z.array(z.object({ name: z.string(), required: z.boolean(), description: z.string().nullable() })),
  content: z
    .array(z.object({ path: z.string(), value: z.string() }))
    .optional()
    .describe(
      'The values that its digest covers: all addresses, commands, packages and headers, then up to 300 others. Secrets are hidden, and values of more than 300 characters are cut.',
    ),
});
export type Reviewed = z.infer<typeof Reviewed>;

export const ApprovalReview = z
  .object({
    ...APPROVAL_ITEM,
    ...Reviewed.shape,
    description: z.string(),
    source_url: z.string().nullable(),
    manifest_url: z.string(),
    homepage: z.string().nullable(),
    repository: z.string().nullable(),
    quality: z.number(),
    trust: Trust.describe('What is known about the origin of its artifacts.'),
    since: z
      .object({
        id: z.string(),
        decided_by: z.string(),
        decided_at: Timestamp,
        changes: z.array(z.object({ what: z.string(), before: z.string(), after: z.string() })),
      })
      .nullable()
      .describe('Differences from the last approved version; null if there is none.'),
  })
  .meta({ id: 'ApprovalReview' });
export type ApprovalReview = z.infer<typeof ApprovalReview>;

export const ApprovalDecision = z.object({
  decision: z.enum(['approve', 'reject', 'revoke']).meta({ examples: ['approve'] }),
  reason: z
    .string()
    .max(2000)
    .optional()
    .describe('For a rejection, what its publisher or the next reviewer should know'),
  digest: z
    .string()
    .optional()
    .describe(
      'Digest of the content that was reviewed; required to approve. If the content has changed since, the request is refused',
    )
    .meta({ examples: ['sha256:8a5bca387cc7972b57b6cdb7bbd5275f9016cf8ec4c5ab7dfbab70cc81dbe6ef'] }),
});
export type ApprovalDecision = z.infer<typeof ApprovalDecision>;

export const ApprovalDecided = ApprovalItem.extend({
  note: z.string().optional().describe('What is still in the gateway and why, or why a rejection has no effect.'),
}).meta({ id: 'ApprovalDecided' });
export type ApprovalDecided = z.infer<typeof ApprovalDecided>;
