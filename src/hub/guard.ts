// The hub for one caller: checks the role and scope for each operation, and records operations that change something.
import type { Audit, AuditedChange, ChangeOutcome } from '../access/audit.ts';
import { assertRole } from '../access/authenticate.ts';
import type { Caller, Role } from '../access/contract.ts';
import { parseReference } from '../catalog/uid.ts';
import { HubError } from '../errors.ts';
import { compileGlob } from '../lib/glob.ts';
import { asText } from '../lib/json.ts';
import { asked, ended, listed, subjectOfRemote, subjectOfToken } from './audit-words.ts';
import type { HubOperations } from './operations.ts';

interface Rule<A extends unknown[], R> {
  role: Role;
  /** A higher role, if this call needs one. */
  higherRole?: (...args: A) => Role | undefined;
  /** The subject of the change; undefined for calls that only read. */
  changes?: (...args: A) => string | undefined;
  /** Further details of the request, for the audit log. */
  detail?: (...args: A) => string | undefined;
  /** The outcome, for the audit log; by default, `ok` unless an error is thrown. */
  outcome?: (result: R) => ChangeOutcome;
  /** The id or name of the changed entity, for tokens with a limited scope. */
  entity?: (...args: A) => string;
}

type Operation = keyof HubOperations;
type Rules = { [K in Operation]: Rule<Parameters<HubOperations[K]>, Awaited<ReturnType<HubOperations[K]>>> };

const reads = { role: 'reader' } as const;
const ofEntity = { role: 'operator', changes: (uid: string) => uid, entity: (uid: string) => uid } as const;
const ofRemote = { role: 'operator', changes: (reference: string) => subjectOfRemote(reference) } as const;

/** A new operation does not compile until it has a rule. */
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
  publishServer: {
    role: 'publisher',
    changes: ({ name, version }) => serverId({ name: asText(name) ?? '', version: asText(version) ?? '' }),
    entity: ({ name }) => asText(name) ?? '',
  },
  setServerStatus: {
    role: 'publisher',
    changes: serverId,
    detail: ({ status, statusMessage }) => asked.status(status, statusMessage),
    entity: ({ name }) => name,
  },
  listViews: reads,
  saveView: { role: 'operator', changes: ({ name }) => name },
  removeView: { role: 'operator', changes: (name) => name },
  listRemotes: reads,
  ingestStatus: reads,
  registrationHistory: reads,
  whoAmI: reads,
  diagnose: { role: 'operator' },
  listRejections: { role: 'operator' },
  listPending: { role: 'operator' },
  install: {
    role: 'installer',
    // The manifest is first saved in the catalog.
    higherRole: ({ manifest }) => (manifest ? 'operator' : undefined),
    changes: ({ id, target, dry_run }) => (dry_run ? undefined : `${id} into ${target}`),
    detail: asked.install,
    outcome: ended.install,
    entity: requestedEntity,
  },
  removeEntity: ofEntity,
  blockEntity: { ...ofEntity, detail: (_uid, reason) => asked.reason(reason) },
  unblockEntity: ofEntity,
  checkTrust: ofEntity,
  removePending: { ...ofEntity, outcome: ended.removal },
  removeManyPending: {
    role: 'operator',
    changes: ({ uids, all, error_only }) =>
      all && !uids?.length ? `all${error_only ? ' with an error' : ''}` : listed(uids ?? []),
    outcome: ended.bulkRemoval,
  },
  addRemote: { ...ofRemote, detail: (_url, settings) => asked.remote(settings) },
  changeRemote: { ...ofRemote, detail: (_reference, settings) => asked.remote(settings) },
  removeRemote: {
    ...ofRemote,
    detail: (_reference, options) => asked.removal(options),
    outcome: ended.remoteRemoval,
  },
  ingest: {
    role: 'operator',
    changes: (reference) => (reference ? subjectOfRemote(reference) : 'all remotes'),
    outcome: ended.ingest,
  },
  syncRemotes: { role: 'operator', changes: () => 'all remotes', outcome: ended.sync },
  getPolicy: { role: 'operator' },
  testPolicy: { role: 'operator' },
  listApprovals: { role: 'operator' },
  getApproval: { role: 'operator' },
  decideApproval: {
    role: 'operator',
    changes: (id) => id,
    detail: (_id, decision) => asked.decision(decision),
    entity: (id) => id,
  },
  changePolicy: {
    role: 'admin',
    changes: (_text, options) => (options?.dryRun ? undefined : 'the policy'),
    outcome: ended.policy,
  },
  listTokens: { role: 'admin' },
  createToken: { role: 'admin', changes: ({ name }) => subjectOfToken(name), detail: asked.token },
  revokeToken: { role: 'admin', changes: subjectOfToken },
  listAudit: { role: 'admin' },
  listWebhooks: { role: 'admin' },
  listDeliveries: { role: 'admin' },
  addWebhook: { role: 'admin', changes: ({ name }) => name, detail: asked.webhook },
  removeWebhook: { role: 'admin', changes: (name) => name },
  testWebhook: { role: 'admin', changes: (name) => name, outcome: ended.webhookTest },
};

function serverId({ name, version }: { name: string; version?: string }): string {
  return `mcp_server:${name}${version ? `@${version}` : ''}`;
}

export function roleFor(operation: Operation): Role {
  return RULES[operation].role;
}

/** Checks the minimum role of an operation. @throws HubError `unauthorized`, `forbidden` */
export async function permit(
  caller: Caller,
  { operation, subject }: { operation: Operation; subject: string },
  audit: Pick<Audit, 'recordRefusal'>,
): Promise<void> {
  await recordingRefusals(caller, { operation, subject }, audit, () => assertRole(caller, roleFor(operation)));
}

export function guardHub(
  hub: HubOperations,
  caller: Caller,
  audit: Pick<Audit, 'record' | 'recordRefusal'>,
): HubOperations {
  const guarded = Object.entries(RULES).map(([operation, rule]) => {
    const { role, higherRole, changes, detail, outcome, entity } = rule as Rule<unknown[], unknown>;
    const work = hub[operation as Operation] as (...args: unknown[]) => Promise<unknown>;
    const guardedWork = async (...args: unknown[]) => {
      const subject = changes?.(...args);
      const change = { operation, subject: subject ?? '', detail: detail?.(...args) };
      await recordingRefusals(caller, change, audit, () => {
        assertRole(caller, higherRole?.(...args) ?? role);
        if (subject !== undefined) assertScope(caller, entity?.(...args));
      });
      return subject === undefined ? work(...args) : audit.record(caller, change, () => work(...args), outcome);
    };
    return [operation, guardedWork];
  });
  return Object.fromEntries(guarded) as HubOperations;
}

/** Refusals of callers without a token are not recorded, because anyone can cause them. */
async function recordingRefusals(
  caller: Caller,
  change: AuditedChange,
  audit: Pick<Audit, 'recordRefusal'>,
  check: () => void,
): Promise<void> {
  try {
    check();
  } catch (error) {
    if (error instanceof HubError && error.code === 'forbidden') await audit.recordRefusal(caller, change);
    throw error;
  }
}

function requestedEntity({ id, version }: { id: string; version?: string | null | undefined }): string {
  return version && parseReference(id)?.version === undefined ? `${id}@${version}` : id;
}

/** @throws HubError `forbidden` */
function assertScope({ name, scope }: Caller, entity: string | undefined): void {
  if (scope.length === 0) return;
  const slug = entity && (parseReference(entity)?.slug ?? entity).toLowerCase();
  const isCovered = (pattern: string) => slug !== undefined && compileGlob(pattern)(slug);
  if (!scope.some(isCovered))
    throw new HubError(
      'forbidden',
      `The token '${name}' may only install, publish or change entities in its scope: ${scope.join(', ')}. The scope refers to the part of an id between ':' and '@'.`,
    );
}
