// Shows, changes and tests the policy in force, and applies it to the catalog.
import type { Entity } from '../catalog/entity.ts';
import { signersOf } from '../catalog/trust-signals.ts';
import type { EntityUid } from '../catalog/uid.ts';
import { HubError } from '../errors.ts';
import { jsonDigest } from '../lib/json-digest.ts';
import { shownAddress } from '../lib/secrets/secret-address.ts';
import type { Clock } from '../lib/world.ts';
import { actionsFor, decisionsFor, installRefusal, policyFrom, verdictOf } from './admission.ts';
import { factsOf } from './conditions.ts';
import type { PolicyChange, PolicyState, PolicyTest } from './contract.ts';
import { countChanges } from './count-changes.ts';
import type { CompiledPolicy } from './decide.ts';
import { ACTIONS } from './document.ts';
import type { PolicyStore, PolicySubject, StoredPolicy } from './store.ts';
import { policyWarnings } from './warnings.ts';

export interface Policies {
  state(): Promise<Omit<PolicyState, 'source' | 'file_error'>>;
  /** @throws HubError `invalid_policy` */
  change(text: string, options: { dryRun: boolean; by: string }): Promise<PolicyChange>;
  /** Without a text, tests the policy in force. @throws HubError `entity_not_found`, `invalid_policy` */
  test(uid: EntityUid, text?: string): Promise<Omit<PolicyTest, 'blocked_at'>>;
  inForce(): Promise<CompiledPolicy>;
  /** The rules' decisions about an entity in the catalog; empty if they allow everything. */
  standing(uid: EntityUid): Promise<Standing>;
  /** Explains why the manifest in a request may not be installed. */
  refusalOf(entity: Entity): Promise<string | undefined>;
  /**
   * Updates the flags of all entities to the rules in force, unless that is done. With `evenIfApplied`, repeats it for rules
   * about age, whose result changes with time. Returns the number of changed entities.
   */
  apply(options: { evenIfApplied: boolean; signal?: AbortSignal }): Promise<number>;
}

interface Standing {
  hidden_by?: string;
  held_by?: string;
  install_refusal?: string;
  approval?: { state: 'pending' | 'approved' | 'rejected'; reason: string | null };
}

/** How long the rules are cached: another hub on the same database may change them. */
const FRESH_MS = 1_000;
const PAGE = 1_000;

export function createPolicies({ store, now }: { store: PolicyStore; now: Clock }): Policies {
  let compiled: { digest: string | null; policy: CompiledPolicy } = { digest: null, policy: policyFrom(null) };
  let read: { stored: Promise<StoredPolicy>; at: number } | undefined;
  let applying: Promise<unknown> = Promise.resolve();

  function recentlyStored(): Promise<StoredPolicy> {
    if (!read || performance.now() - read.at > FRESH_MS) read = { stored: store.read(), at: performance.now() };
    const reading = read;
    reading.stored.catch(() => {
      if (read === reading) read = undefined;
    });
    return reading.stored;
  }

  function policyOf({ text, digest }: StoredPolicy): CompiledPolicy {
    if (compiled.digest !== digest) compiled = { digest, policy: policyFrom(text) };
    return compiled.policy;
  }

  async function* allSubjects(): AsyncGenerator<PolicySubject[]> {
    for (let after: EntityUid | undefined = ''; after !== undefined; ) {
      const page: PolicySubject[] = await store.subjects({ after, limit: PAGE });
      if (page.length > 0) yield page;
      after = page.at(-1)?.uid;
    }
  }

  async function applyNow({ evenIfApplied, signal }: Parameters<Policies['apply']>[0]): Promise<number> {
    const stored = await store.read();
    if (stored.isApplied && !(evenIfApplied && policyOf(stored).dependsOnAge)) return 0;
    let changed = 0;
    for (let after: EntityUid | undefined = ''; after !== undefined; ) {
      if (signal?.aborted) return changed;
      const page = await store.outdated({ after, limit: PAGE });
      if (page.uids.length > 0) changed += await store.readmit(page.uids);
      after = page.last;
    }
    await store.markApplied(stored.version);
    return changed;
  }

  const apply: Policies['apply'] = (options) => {
    const turn = applying.then(() => applyNow(options));
    applying = turn.catch(() => {});
    return turn;
  };

  async function subjectOf(uid: EntityUid): Promise<PolicySubject> {
    const subject = await store.subject(uid);
    if (!subject) throw new HubError('entity_not_found', `No entity '${uid}' is in the catalog.`);
    return subject;
  }

  return {
    apply,
    inForce: async () => policyOf(await recentlyStored()),

    async state() {
      const stored = await store.read();
      return {
        text: stored.text,
        digest: stored.digest,
        changed_at: stored.changed_at,
        changed_by: stored.changed_by,
        applied: stored.isApplied,
        warnings: policyWarnings(policyOf(stored).document),
      };
    },

    async change(text, { dryRun, by }) {
      const policy = policyFrom(text);
      const digest = jsonDigest(text);
      const counted = await countChanges(
        { before: policyOf(await store.read()), after: policy, now: now() },
        allSubjects(),
        store,
      );
      if (!dryRun) {
        await store.write({ text, digest, at: now(), by });
        read = undefined;
        await apply({ evenIfApplied: false });
        read = undefined;
      }
      return { dry_run: dryRun, digest, warnings: policyWarnings(policy.document), ...counted };
    },

    async test(uid, text) {
      const subject = await subjectOf(uid);
      const policy = text === undefined ? policyOf(await store.read()) : policyFrom(text);
      const approval = await store.approvalOf(subject);
      const at = now();
      const decisions = decisionsFor(policy, subject, at);
      return {
        id: uid,
        decisions: ACTIONS.map((action) => {
          const decision = decisions[action];
          const { outcome, rule, label } = decision;
          const result = verdictOf(decision, approval);
          const isIdle = action === 'register' && !subject.isRegistrable;
          const why = `${policy.explain(decision, subject, at)}${isIdle ? NEVER_REGISTERED : ''}`;
          return { action, outcome, result, rule, decided_by: label, why };
        }),
        facts: shownFacts(subject, at),
      };
    },

    async standing(uid) {
      const stored = await recentlyStored();
      if (stored.digest === null && !stored.isAnyRemoteRestricted) return {};
      const subject = await store.subject(uid);
      if (!subject) return {};
      const approval = await store.approvalOf(subject);
      const decisions = decisionsFor(policyOf(stored), subject, now());
      const { search, install, register } = decisions;
      const actions = actionsFor(subject);
      const refused = actions.filter((action) => verdictOf(decisions[action], approval) !== 'allowed');
      const refusal = installRefusal(uid, install, { approval });
      const asking = actions.filter((action) => decisions[action].outcome === 'require_approval');
      const given = asking.some((action) => refused.includes(action)) ? 'pending' : 'approved';
      const state = approval.own === 'rejected' ? approval.own : given;
      return {
        ...(refused.includes('search') ? { hidden_by: search.label } : {}),
        ...(refused.includes('register') ? { held_by: register.label } : {}),
        ...(refusal === undefined ? {} : { install_refusal: refusal }),
        // The reason of an approval is for reviewers.
        ...(asking.length > 0
          ? { approval: { state, reason: (state === 'rejected' && approval.reason) || null } }
          : {}),
      };
    },

    async refusalOf(entity) {
      const stored = await recentlyStored();
      if (stored.digest === null) return undefined;
      const { uid, type, name, slug, quality, publishedAt, isRegistrable, facts } = entity;
      const known = await store.subject(uid);
      const subject: PolicySubject = {
        ...{ uid, type, name, slug, quality, publishedAt, isRegistrable, ...facts },
        createdAt: known?.createdAt ?? now().toISOString(),
        trust: known?.brings === facts.brings ? known.trust : null,
        remote: null,
        registers: 'all',
      };
      const { install } = decisionsFor(policyOf(stored), subject, now());
      return installRefusal(uid, install, {
        approval: await store.approvalOf(subject),
        isInCatalog: known?.brings === facts.brings,
      });
    },
  };
}

const NEVER_REGISTERED =
  ' That has no effect: the entity cannot be registered as it is, for example because it has no address that a gateway can connect to, or is an agent.';

function shownFacts(subject: PolicySubject, at: Date): PolicyTest['facts'] {
  const { type, name, publisher, remote, transports, artifacts, license, quality } = subject;
  const { ageDays, hasDigests, trust } = factsOf(subject, at);
  return {
    ...{ type, name, publisher, transports, artifacts, license, quality },
    remote: remote && (remote.name ?? shownAddress(remote.url)),
    age_days: Math.floor(ageDays),
    digest: hasDigests ?? null,
    signature: trust === 'verified',
    trust,
    signed_by: signersOf(subject.trust),
  };
}
