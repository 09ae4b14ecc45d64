// The hub for one caller: each operation needs a role, stays within the caller's scope, and is recorded if it changes something.
import type { Audit } from './access/audit.ts';
import { assertRole } from './access/authenticate.ts';
import type { Caller, Role } from './access/contract.ts';
import { parseReference } from './catalog/uid.ts';
import { HubError } from './errors.ts';
import type { HubOperations } from './hub-operations.ts';
import { shownAddress } from './lib/secret-address.ts';

interface Rule<A extends unknown[]> {
  role: Role;
  /** A higher role that some calls need. */
  higherRole?: (...args: A) => Role | undefined;
  /** What is changed; operations without it, and calls for which it returns undefined, only read. */
  changes?: (...args: A) => string | undefined;
  /** The subject is the id of an entity, so a token may be limited to it. */
  isOfEntity?: true;
}

type Rules = { [K in keyof HubOperations]: Rule<Parameters<HubOperations[K]>> };

const reads = { role: 'reader' } as const;
const ofEntity = { role: 'operator', changes: (uid: string) => uid, isOfEntity: true } as const;
const ofRemote = { role: 'operator', changes: (reference: string) => shownAddress(reference) } as const;
const MOST_NAMED = 20;

/** A new operation does not compile until it says who may use it. */
const RULES: Rules = {
  health: reads,
  config: reads,
  listCatalog: reads,
  search: reads,
  getEntity: reads,
  getManifest: reads,
  listServers: reads,
  listServerVersions: reads,
  getServer: reads,
  listRemotes: reads,
  ingestStatus: reads,
  whoAmI: reads,
  diagnose: { role: 'operator' },
  listRejections: { role: 'operator' },
  listPending: { role: 'operator' },
  install: {
    role: 'installer',
    // The manifest is saved in the catalog first.
    higherRole: ({ manifest }) => (manifest ? 'operator' : undefined),
    changes: ({ id, target, dry_run }) => (dry_run ? undefined : `${id} into ${target}`),
    isOfEntity: true,
  },
  removeEntity: ofEntity,
  blockEntity: ofEntity,
  unblockEntity: ofEntity,
  removePending: ofEntity,
  removeManyPending: {
    role: 'operator',
    changes: ({ uids, all }) => (all ? 'all' : `${uids?.length ?? 0}: ${uids?.slice(0, MOST_NAMED).join(', ')}`),
  },
  addRemote: ofRemote,
  changeRemote: ofRemote,
  removeRemote: ofRemote,
  ingest: { role: 'operator', changes: (reference) => (reference ? shownAddress(reference) : 'all remotes') },
  syncRemotes: { role: 'operator', changes: () => 'all remotes' },
  getPolicy: { role: 'operator' },
  testPolicy: { role: 'operator' },
  listApprovals: { role: 'operator' },
  getApproval: { role: 'operator' },
  decideApproval: { role: 'operator', changes: (id, { decision }) => `${id} (${decision})`, isOfEntity: true },
  changePolicy: { role: 'admin', changes: (_text, options) => (options?.dryRun ? undefined : 'the policy') },
  listTokens: { role: 'admin' },
  createToken: { role: 'admin', changes: ({ name, role }) => `${name} (${role})` },
  revokeToken: { role: 'admin', changes: (name) => name },
  listAudit: { role: 'admin' },
};

export function roleFor(operation: keyof HubOperations): Role {
  return RULES[operation].role;
}

export function guardHub(hub: HubOperations, caller: Caller, audit: Pick<Audit, 'record'>): HubOperations {
  const guarded = Object.entries(RULES).map(([operation, rule]) => {
    const { role, higherRole, changes, isOfEntity } = rule as Rule<unknown[]>;
    const work = hub[operation as keyof HubOperations] as (...args: unknown[]) => Promise<unknown>;
    const guardedWork = async (...args: unknown[]) => {
      assertRole(caller, higherRole?.(...args) ?? role);
      const subject = changes?.(...args);
      if (subject === undefined) return work(...args);
      assertScope(caller, isOfEntity ? entityOf(args) : undefined);
      const record = (outcome: 'ok' | 'failed', detail: string | null) =>
        audit.record(caller, { operation, subject, outcome, detail });
      try {
        const result = await work(...args);
        await (isFailure(result) ? record('failed', 'see the report') : record('ok', null));
        return result;
      } catch (error) {
        // Not the message: it may quote an address with a secret.
        await record('failed', error instanceof HubError ? error.code : 'internal_error');
        throw error;
      }
    };
    return [operation, guardedWork];
  });
  return Object.fromEntries(guarded) as HubOperations;
}

/** The first argument: an id, or a request that has one and perhaps a version beside it. */
function entityOf([first]: unknown[]): string {
  if (typeof first === 'string') return first;
  const { id, version } = first as { id: string; version?: string | null };
  return version && parseReference(id)?.version === undefined ? `${id}@${version}` : id;
}

/** @throws HubError `forbidden` */
function assertScope({ name, scope }: Caller, entity: string | undefined): void {
  if (scope.length === 0) return;
  const slug = entity && (parseReference(entity)?.slug ?? entity);
  const isCovered = (pattern: string) =>
    slug !== undefined && (pattern.endsWith('*') ? slug.startsWith(pattern.slice(0, -1)) : slug === pattern);
  if (!scope.some(isCovered))
    throw new HubError(
      'forbidden',
      `The token '${name}' may only install or change entities in its scope: ${scope.join(', ')}.`,
    );
}

function isFailure(result: unknown): boolean {
  return typeof result === 'object' && result !== null && 'ok' in result && result.ok === false;
}
