// The public types of the catalog.
import { z } from 'zod';
import { LIFECYCLE_STATUSES } from './manifest.ts';
import { ENTITY_TYPES } from './uid.ts';

const Timestamp = z.iso.datetime();
const JsonRecord = z.record(z.string(), z.unknown());

/** `absent`: the registry has no signature. `not_checked`: no check was requested, or the registry did not respond. */
export const TRUST_STATES = ['verified', 'failed', 'absent', 'not_checked'] as const;
export type TrustState = (typeof TRUST_STATES)[number];

const TRUST_SIGNALS = ['npm_provenance', 'pypi_attestation', 'image_signature', 'other', 'namespace'] as const;

const TrustSignal = z.object({
  signal: z.enum(TRUST_SIGNALS),
  artifact: z.string().nullable().describe('What it is about; null for the entity as a whole.'),
  state: z.enum(TRUST_STATES),
  detail: z.string().describe('A sentence that says what was found, or why nothing was found.'),
  digest: z.string().nullable().describe('The digest that was checked.'),
  source: z
    .object({
      repository: z.string().nullable().describe('Without the scheme: `github.com/acme/tool`.'),
      commit: z.string().nullable(),
      workflow: z.string().nullable().describe('The program that built it, as an address.'),
      identity: z.string().describe('Who signed: a workflow or an email address.'),
      issuer: z.string().describe('Who vouches for the identity.'),
    })
    .nullable()
    .describe('From the certificate of the signature; only if the signature is verified.'),
});
export type TrustSignal = z.infer<typeof TrustSignal>;

export const Trust = z
  .object({
    state: z.enum(TRUST_STATES).describe('State of the weakest artifact; `absent` if the entity installs nothing.'),
    checked_at: Timestamp.nullable().describe('Null if the current content has not been checked.'),
    signals: z.array(TrustSignal),
  })
  .meta({ id: 'Trust' });
export type Trust = z.infer<typeof Trust>;

const ENTITY_SUMMARY = {
  id: z.string().describe('`<type>:<slug>@<version>`'),
  uid: z.string().describe('The same as `id`.'),
  type: z.enum(ENTITY_TYPES),
  name: z.string(),
  version: z.string(),
  title: z.string().nullable(),
  summary: z.string(),
  capabilities: z.array(z.string()),
  frameworks: z.array(z.string()),
  providers: z.array(z.string()),
  tags: z.array(z.string()),
  status: z.enum(LIFECYCLE_STATUSES),
  source_url: z.string().nullable().describe('Address of the manifest it came from.'),
  manifest_url: z.string().describe('Where to read the manifest: `source_url`, or the hub itself.'),
  gateway_registered_at: Timestamp.nullable().describe('Null means pending.'),
  gateway_error: z.string().nullable(),
  missing_since: Timestamp.nullable().describe('When the last remote stopped listing it.'),
  missing_reason: z.string().nullable().describe('Why its registry took it down, in the words of that registry.'),
  changed_at: Timestamp.nullable().describe(
    'When the content of this version last changed after it was first published.',
  ),
  blocked_at: Timestamp.nullable().describe('Time at which an operator blocked it.'),
  blocked_reason: z.string().nullable(),
  remote: z.string().nullable().describe('Address of the remote it belongs to.'),
  prerelease: z.boolean(),
  score_quality: z.number().min(0).max(1),
  score_recency: z.number().min(0).max(1),
  published_at: Timestamp.nullable(),
  created_at: Timestamp,
  updated_at: Timestamp,
};

/** A list entry. */
export const EntitySummary = z.object(ENTITY_SUMMARY).meta({ id: 'EntitySummary' });
export type EntitySummary = z.infer<typeof EntitySummary>;

/** A complete entity. */
export const EntityRecord = z
  .object({
    ...ENTITY_SUMMARY,
    description: z.string(),
    license: z.string().nullable(),
    homepage: z.string().nullable(),
    readme: z.string().nullable(),
    schema_version: z.number().int().nullable(),
    artifacts: z.array(JsonRecord),
    adapters: z.array(JsonRecord),
    compatibility: JsonRecord,
    links: z.record(z.string(), z.string()),
    lifecycle: z.object({ status: z.enum(LIFECYCLE_STATUSES), reason: z.string().nullable() }),
    provenance: JsonRecord,
    mcp_registration: JsonRecord.nullable(),
    quality: z
      .array(z.object({ reason: z.string(), weight: z.number(), met: z.boolean() }))
      .describe('The parts of `score_quality`.'),
    versions: z
      .array(
        z.object({
          id: z.string(),
          version: z.string(),
          status: z.enum(LIFECYCLE_STATUSES),
          prerelease: z.boolean().default(false),
          blocked: z.boolean().default(false),
          hidden: z.boolean().default(false),
          missing: z.boolean().default(false).describe('The remotes that listed it no longer do.'),
        }),
      )
      .describe('All versions of this type and name, newest first.'),
    hidden_by: z.string().optional().describe('The rule of the policy that keeps it out of searches and lists.'),
    held_by: z
      .string()
      .optional()
      .describe('The rule, or the setting of its remote, that keeps it out of the gateway.'),
    approval: z
      .object({ state: z.enum(['pending', 'approved', 'rejected']), reason: z.string().nullable() })
      .optional()
      .describe(
        'Present if the policy, or the setting of its remote, requires approval; with the reason, if it was rejected.',
      ),
    trust: Trust.describe('What is known about the origin of its artifacts.'),
    install_refusal: z
      .string()
      .optional()
      .describe('A sentence that says why the policy does not allow it to be installed.'),
    listed_by: z
      .array(z.string())
      .default([])
      .describe('Remotes that list it; the first one owns it, and its manifest is the one that is shown.'),
    remote_name: z.string().nullable().default(null).describe('Name of the remote it belongs to.'),
  })
  .meta({ id: 'EntityRecord' });
export type EntityRecord = z.infer<typeof EntityRecord>;

/** An entity after it was blocked. */
export const BlockedEntity = EntityRecord.extend({
  note: z.string().optional().describe('What is still in the gateway, and why.'),
}).meta({ id: 'BlockedEntity' });
export type BlockedEntity = z.infer<typeof BlockedEntity>;

export const EntityRemoved = z
  .object({
    removed: z.literal(true),
    uid: z.string(),
    listed_by: z
      .array(z.string())
      .describe('Remotes that still list it: their next ingest brings it back. Block an entity to keep it out.'),
    note: z.string().optional().describe('What is still in the gateway, and why.'),
  })
  .meta({ id: 'EntityRemoved' });
export type EntityRemoved = z.infer<typeof EntityRemoved>;

export interface VersionOptions {
  /** For an id without a version: returns the newest version even if it is a pre-release. */
  prerelease?: boolean;
}

/** Which entities a list shows: all but blocked and hidden ones, those that no remote lists, blocked ones, or hidden ones. */
export const CATALOG_STATES = ['any', 'missing', 'blocked', 'hidden'] as const;

export const CATALOG_SORTS = ['updated_at', 'created_at', 'name', 'quality'] as const;

export interface CatalogQuery {
  type?: (typeof ENTITY_TYPES)[number];
  /** All words must occur in the name, title, summary or tags. */
  text: string;
  /** Only ids with this prefix, sorted by id regardless of `sort`; case-sensitive. */
  idPrefix?: string;
  /** Default: `any`. */
  state?: (typeof CATALOG_STATES)[number];
  sort: (typeof CATALOG_SORTS)[number];
  limit: number;
  offset: number;
}

export const CatalogPage = z
  .object({
    items: z.array(EntitySummary),
    total: z.number().int(),
    limit: z.number().int(),
    offset: z.number().int(),
  })
  .meta({ id: 'CatalogPage' });
export type CatalogPage = z.infer<typeof CatalogPage>;
