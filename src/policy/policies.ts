// Shows, changes and tests the policy in force, and applies it to the catalog.
import pLimit from 'p-limit';
import type { Entity } from '../catalog/entity.ts';
import { signersOf } from '../catalog/trust-signals.ts';
import type { EntityUid } from '../catalog/uid.ts';
import { HubError } from '../errors.ts';
import { jsonDigest } from '../lib/json-digest.ts';
import { shownAddress } from '../lib/secrets/secret-address.ts';
import type { Clock } from '../lib/world.ts';
import { decisionsFor, installRefusal, policyFrom, type Standing, standingOf, verdictOf } from './admission.ts';
import { factsOf } from './conditions.ts';
import type { PolicyChange, PolicyState, PolicyTest } from './contract.ts';
import { countChanges } from './count-changes.ts';
import type { CompiledPolicy } from './decide.ts';
import { ACTIONS } from './document.ts';
import type { ApprovalState, PolicyStore, PolicySubject, StoredPolicy } from './store.ts';
import { policyWarnings } from './warnings.ts';

/** How long the rules are cached: another hub on the same database may change them. */
const FRESH_MS = 1_000;
const PAGE = 1_000;

export class Policies {
  private readonly store: PolicyStore;
  private readonly now: Clock;
  private readonly oneAtATime = pLimit(1);
  private compiled: { digest: string | null; policy: CompiledPolicy } = { digest: null, policy: policyFrom(null) };
  private read: { stored: Promise<StoredPolicy>; at: number } | undefined;

  constructor({ store, now }: { store: PolicyStore; now: Clock }) {
    this.store = store;
    this.now = now;
  }

  async state(): Promise<Omit<PolicyState, 'source' | 'file_error'>> {
    const stored = await this.store.read();
    const { text, digest, changed_at, changed_by, isApplied: applied } = stored;
    return { text, digest, changed_at, changed_by, applied, warnings: policyWarnings(this.policyOf(stored).document) };
  }

  /** @throws HubError `invalid_policy` */
  async change(text: string, { dryRun, by }: { dryRun: boolean; by: string }): Promise<PolicyChange> {
    const { store, now } = this;
    const after = policyFrom(text);
    const digest = jsonDigest(text);
    const before = this.policyOf(await store.read());
    const counted = await countChanges({ before, after, now: now() }, allSubjects(store), store);
    if (!dryRun) {
      await store.write({ text, digest, at: now(), by });
      this.read = undefined;
      await this.apply({ evenIfApplied: false });
      this.read = undefined;
    }
    return { dry_run: dryRun, digest, warnings: policyWarnings(after.document), ...counted };
  }

  /** Without a text, tests the policy in force. @throws HubError `entity_not_found`, `invalid_policy` */
  async test(uid: EntityUid, text?: string): Promise<Omit<PolicyTest, 'blocked_at'>> {
    const { store } = this;
    const subject = await store.subject(uid);
    if (!subject) throw new HubError('entity_not_found', `No entity '${uid}' is in the catalog.`);
    const policy = text === undefined ? this.policyOf(await store.read()) : policyFrom(text);
    const approval = await store.approvalOf(subject);
    const at = this.now();
    return { id: uid, decisions: explained(policy, subject, { approval, at }), facts: shownFacts(subject, at) };
  }

  async inForce(): Promise<CompiledPolicy> {
    return this.policyOf(await this.recentlyStored());
  }

  /** The rules' decisions about an entity in the catalog; empty if they allow everything. */
  async standing(uid: EntityUid): Promise<Standing> {
    const stored = await this.recentlyStored();
    if (stored.digest === null && !stored.isAnyRemoteRestricted) return {};
    const subject = await this.store.subject(uid);
    if (!subject) return {};
    const approval = await this.store.approvalOf(subject);
    return standingOf(subject, decisionsFor(this.policyOf(stored), subject, this.now()), approval);
  }

  /** Explains why the manifest in a request may not be installed. */
  async refusalOf(entity: Entity): Promise<string | undefined> {
    const { store, now } = this;
    const stored = await this.recentlyStored();
    if (stored.digest === null) return undefined;
    const { uid, type, name, slug, quality, publishedAt, isRegistrable, facts } = entity;
    const known = await store.subject(uid);
    const isInCatalog = known?.brings === facts.brings;
    const subject: PolicySubject = {
      ...{ uid, type, name, slug, quality, publishedAt, isRegistrable, ...facts },
      createdAt: known?.createdAt ?? now().toISOString(),
      trust: isInCatalog ? known.trust : null,
      remote: null,
      registers: 'all',
    };
    const { install } = decisionsFor(this.policyOf(stored), subject, now());
    return installRefusal(uid, install, { approval: await store.approvalOf(subject), isInCatalog });
  }

  /**
   * Updates the flags of all entities to the rules in force, unless that is done. With `evenIfApplied`, repeats it for rules
   * about age, whose result changes with time. Returns the number of changed entities.
   */
  apply({ evenIfApplied, signal }: { evenIfApplied: boolean; signal?: AbortSignal }): Promise<number> {
    return this.oneAtATime(async () => {
      const stored = await this.store.read();
      if (stored.isApplied && !(evenIfApplied && this.policyOf(stored).dependsOnAge)) return 0;
      return readmitAll(this.store, stored, signal);
    });
  }

  private recentlyStored(): Promise<StoredPolicy> {
    if (this.read && performance.now() - this.read.at <= FRESH_MS) return this.read.stored;
    const reading = { stored: this.store.read(), at: performance.now() };
    this.read = reading;
    reading.stored.catch(() => {
      if (this.read === reading) this.read = undefined;
    });
    return reading.stored;
  }

  private policyOf({ text, digest }: StoredPolicy): CompiledPolicy {
    if (this.compiled.digest !== digest) this.compiled = { digest, policy: policyFrom(text) };
    return this.compiled.policy;
  }
}

async function* allSubjects(store: PolicyStore): AsyncGenerator<PolicySubject[]> {
  for (let after: EntityUid | undefined = ''; after !== undefined; ) {
    const page: PolicySubject[] = await store.subjects({ after, limit: PAGE });
    if (page.length > 0) yield page;
    after = page.at(-1)?.uid;
  }
}

/** Returns the number of changed entities. */
async function readmitAll(store: PolicyStore, { version }: StoredPolicy, signal?: AbortSignal): Promise<number> {
  let changed = 0;
  for (let after: EntityUid | undefined = ''; after !== undefined; ) {
    if (signal?.aborted) return changed;
    const page = await store.outdated({ after, limit: PAGE });
    if (page.uids.length > 0) changed += await store.readmit(page.uids);
    after = page.last;
  }
  await store.markApplied(version);
  return changed;
}

function explained(
  policy: CompiledPolicy,
  subject: PolicySubject,
  { approval, at }: { approval: ApprovalState; at: Date },
): PolicyTest['decisions'] {
  const decisions = decisionsFor(policy, subject, at);
  return ACTIONS.map((action) => {
    const decision = decisions[action];
    const { outcome, rule, label } = decision;
    const result = verdictOf(decision, approval);
    const isIdle = action === 'register' && !subject.isRegistrable;
    const why = `${policy.explain(decision, subject, at)}${isIdle ? NEVER_REGISTERED : ''}`;
    return { action, outcome, result, rule, decided_by: label, why };
  });
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
