// The policy and approval operations of the hub: use cases, the policy file, and background work.
import type { Caller } from '../access/contract.ts';
import type { Catalog } from '../catalog/catalog.ts';
import type { VersionOptions } from '../catalog/contract.ts';
import type { Entity } from '../catalog/entity.ts';
import { HubError } from '../errors.ts';
import type { World } from '../lib/world.ts';
import { createApprovals } from '../policy/approvals.ts';
import type { ApprovalDecision, PolicyChange, PolicyState, PolicyTest } from '../policy/contract.ts';
import { Policies } from '../policy/policies.ts';
import { openPolicyFile, type PolicyFile } from '../policy/policy-file.ts';
import type { ApprovalStore, PolicyStore } from '../policy/store.ts';

export type HubPolicy = ReturnType<typeof createHubPolicy>;

export interface HubPolicyDependencies {
  policyFile: string | undefined;
  store: PolicyStore;
  approvals: ApprovalStore;
  catalog: Pick<Catalog, 'get' | 'manifest'>;
  /** Removes from the gateway what belongs to deleted, blocked or forbidden entities. */
  clearGateway: () => Promise<{ note?: string }>;
  /** Registers an approved entity; the next sync retries what fails. */
  register: (uid: string, signal: AbortSignal) => Promise<unknown>;
  /** Resolves when every entity has facts. */
  whenFactsAreReady: Promise<unknown>;
  /** Records a change of the policy in the audit log. */
  recordChange: (caller: Caller, change: () => Promise<PolicyChange>) => Promise<PolicyChange>;
  world: Pick<World, 'now' | 'log'>;
}

/** The caller for changes made by the policy file. */
const FILE: Caller = { name: 'POLICY_FILE', kind: 'setting', role: 'admin', scope: [], isKnown: true, via: 'file' };

/** Entities age while the hub runs, so rules about age are applied again. */
const FIRST_LOOK_MS = 60_000;
const LOOK_EVERY_MS = 3_600_000;

const NO_EFFECT =
  'Neither a rule nor its remote requires approval, so the entity stays available. To keep it out, block it.';

export function createHubPolicy(dependencies: HubPolicyDependencies) {
  const { store, catalog, clearGateway, register, world } = dependencies;
  const { now, log } = world;
  const policies = new Policies({ store, now });
  const queue = createApprovals({ approvals: dependencies.approvals, subjects: store, policies, catalog, now });
  const stopping = new AbortController();
  const { signal } = stopping;
  const underWay = new Set<Promise<unknown>>();
  const timers: NodeJS.Timeout[] = [];
  let file: PolicyFile | undefined;

  function inBackground(what: string, work: Promise<unknown>): void {
    const done = work.catch((error) => {
      if (!signal.aborted) log.error({ error }, `${what} failed`);
    });
    underWay.add(done);
    void done.finally(() => underWay.delete(done));
  }

  async function applyAgain(options: { evenIfApplied: boolean }): Promise<{ note?: string }> {
    const changed = await policies.apply({ ...options, signal });
    return changed > 0 ? clearGateway() : {};
  }

  /** Reads the policy file and starts background work. @throws StartError if the file is invalid and no earlier policy exists. */
  async function start(): Promise<void> {
    const { policyFile: path } = dependencies;
    const onChange = () => inBackground('Removing held entities from the gateway', clearGateway());
    const change = (text: string) =>
      dependencies.recordChange(FILE, () => policies.change(text, { dryRun: false, by: FILE.name }));
    if (path !== undefined) file = await openPolicyFile({ path, state: () => policies.state(), change, log, onChange });
    inBackground(
      'Applying the policy',
      dependencies.whenFactsAreReady.then(() => applyAgain({ evenIfApplied: false })),
    );
    const lookAgain = () => inBackground('Applying the policy', applyAgain({ evenIfApplied: true }));
    timers.push(setTimeout(lookAgain, FIRST_LOOK_MS).unref(), setInterval(lookAgain, LOOK_EVERY_MS).unref());
  }

  return {
    start,
    refusalOf: (entity: Entity) => policies.refusalOf(entity),
    /** Call it when an input of the rules changed; returns a note about what is still in the gateway. */
    reapply: () => applyAgain({ evenIfApplied: false }),

    async getPolicy(): Promise<PolicyState> {
      const state = await policies.state();
      // Another hub on the same database may have applied another policy.
      const text = file?.text();
      const isFromFile = file && (text === undefined ? state.changed_by === FILE.name : state.text === text);
      const source = isFromFile ? 'file' : state.text === null ? 'none' : 'api';
      return { ...state, source, file_error: file?.error() ?? null };
    },

    async changePolicy(text: string, options: { dryRun: boolean; by: string }): Promise<PolicyChange> {
      if (file && !options.dryRun)
        throw new HubError('policy_from_file', 'This hub reads its policy from POLICY_FILE: change that file.');
      const change = await policies.change(text, options);
      return options.dryRun || change.affected === 0 ? change : { ...change, ...(await clearGateway()) };
    },

    async testPolicy({ id, text }: { id: string; text?: string }): Promise<PolicyTest> {
      const record = await catalog.get(id);
      return { ...(await policies.test(record.id, text)), blocked_at: record.blocked_at };
    },

    /** The entity with the result of the rules; a block comes before them. */
    async getEntity(id: string, options?: VersionOptions) {
      const record = await catalog.get(id, options);
      return record.blocked_at ? record : { ...record, ...(await policies.standing(record.id)) };
    },

    listApprovals: queue.list,
    getApproval: queue.review,
    async decideApproval(id: string, decision: ApprovalDecision & { by: string }) {
      const decided = await queue.decide(id, decision);
      if (decision.decision === 'reject' && decided.asked_by.length === 0) return { ...decided, note: NO_EFFECT };
      if (decision.decision !== 'approve') return { ...decided, ...(await clearGateway()) };
      inBackground('Registering an approved entity', register(decided.id, signal));
      return decided;
    },

    async close() {
      stopping.abort();
      file?.close();
      for (const timer of timers) clearTimeout(timer);
      await Promise.all(underWay);
    },
  };
}
