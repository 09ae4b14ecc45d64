// The queue of entities that need approval: lists, reviews and decides them.
import type { Catalog } from '../catalog/catalog.ts';
import type { EntityRecord } from '../catalog/contract.ts';
import { parseReference } from '../catalog/uid.ts';
import { HubError, invalidRequest, unlessNotFound } from '../errors.ts';
import { asObject, storableText } from '../lib/json.ts';
import { shownAddress } from '../lib/secrets/secret-address.ts';
import type { Clock } from '../lib/world.ts';
import { actionsFor, decisionsFor, verdictOf } from './admission.ts';
import type { ApprovalDecision, ApprovalItem, ApprovalPage, ApprovalQuery, ApprovalReview } from './contract.ts';
import { Reviewed } from './contract.ts';
import type { Policies } from './policies.ts';
import { changesBetween, reviewOf } from './review.ts';
import type { ApprovalStore, NewDecision, PolicyStore, PolicySubject, StoredDecision } from './store.ts';

export interface Approvals {
  /** Oldest first. */
  list(query: ApprovalQuery): Promise<ApprovalPage>;
  /** An id without a version means the newest one. @throws HubError `entity_not_found` */
  review(id: string): Promise<ApprovalReview>;
  /** @throws HubError `entity_not_found`, `invalid_request`, `decision_conflict` */
  decide(id: string, decision: ApprovalDecision & { by: string }): Promise<ApprovalItem>;
}

export interface ApprovalDependencies {
  approvals: ApprovalStore;
  subjects: Pick<PolicyStore, 'subject' | 'approvalOf'>;
  policies: Pick<Policies, 'inForce'>;
  catalog: Pick<Catalog, 'get' | 'manifest'>;
  now: Clock;
}

interface Found {
  record: EntityRecord;
  subject: PolicySubject;
}

const DIGEST = /^sha256:[0-9a-f]{64}$/;
const DECISIONS = { approve: 'approved', reject: 'rejected', revoke: 'revoked' } as const;

export function createApprovals({ approvals, subjects, policies, catalog, now }: ApprovalDependencies): Approvals {
  async function find(id: string): Promise<Found> {
    const record = await catalog.get(id);
    const subject = await subjects.subject(record.id);
    if (!subject) throw new HubError('entity_not_found', `No entity '${id}' is in the catalog.`);
    return { record, subject };
  }

  async function itemOf({ record, subject }: Found): Promise<ApprovalItem> {
    const policy = await policies.inForce();
    const approval = await subjects.approvalOf(subject);
    const decisions = decisionsFor(policy, subject, now());
    const asking = actionsFor(subject).filter((action) => decisions[action].outcome === 'require_approval');
    const decision = await approvals.decisionOn(subject);
    return {
      id: record.id,
      type: record.type,
      name: record.name,
      version: record.version,
      title: record.title,
      summary: record.summary,
      digest: subject.brings,
      needs_approval: asking.some((action) => verdictOf(decisions[action], approval) === 'pending'),
      asked_by: asking.map((action) => ({
        action,
        decided_by: decisions[action].label,
        approval: decisions[action].approval,
      })),
      publisher: subject.publisher,
      license: subject.license,
      remote: subject.remote && (subject.remote.name ?? shownAddress(subject.remote.url)),
      published_at: subject.publishedAt,
      decision: decision ? shownDecision(decision) : null,
    };
  }

  async function contentFor({ record, subject }: Found): Promise<Reviewed> {
    const document = asObject(JSON.parse((await catalog.manifest(record.id)).text));
    return reviewOf(subject, record, document);
  }

  return {
    async list({ state, limit, offset }) {
      const { uids, total } = await approvals.list({ state, limit, offset });
      const items: ApprovalItem[] = [];
      for (const uid of uids) {
        // The entity may have been removed since it was listed.
        const found = await find(uid).catch(unlessNotFound);
        if (found) items.push(await itemOf(found));
      }
      return { items, total, limit, offset };
    },

    async review(id) {
      const found = await find(id);
      const { record, subject } = found;
      const reviewed = await contentFor(found);
      const last = await approvals.lastApproval(subject);
      return {
        ...(await itemOf(found)),
        ...reviewed,
        description: record.description,
        source_url: record.source_url,
        manifest_url: record.manifest_url,
        homepage: record.homepage,
        repository: record.links.repository ?? null,
        quality: record.score_quality,
        trust: record.trust,
        since: last
          ? {
              id: last.uid,
              decided_by: last.decided_by,
              decided_at: last.decided_at,
              changes: changesBetween(Reviewed.parse(JSON.parse(last.reviewed)), reviewed, {
                isSameContent: last.brings === subject.brings,
              }),
            }
          : null,
      };
    },

    async decide(id, { decision, reason = '', digest, by }) {
      if (parseReference(id)?.version === undefined)
        throw invalidRequest(
          'id',
          'must include the version: a decision applies to one version, and a newer one may appear at any time',
        );
      if (decision === 'approve' && !digest)
        throw invalidRequest(
          'digest',
          'is needed to approve: send the digest that GET /approvals/{id} shows beside the content',
        );
      if (decision === 'reject' && reason.trim() === '')
        throw invalidRequest('reason', 'is needed to reject: say what its publisher or the next reviewer should know');
      const found = await find(id);
      const { record, subject } = found;
      if (digest !== undefined && !DIGEST.test(digest))
        throw invalidRequest('digest', "must be 'sha256:' and 64 hexadecimal digits, as GET /approvals/{id} shows it");
      const asked = Object.values(decisionsFor(await policies.inForce(), subject, now()));
      const made: NewDecision = {
        decision: DECISIONS[decision],
        reason: storableText(reason).trim() || null,
        decided_by: by,
        decided_at: now().toISOString(),
        brings: digest ?? subject.brings,
        reviewed: JSON.stringify(await contentFor(found)),
        coversName: asked.some(({ outcome, approval }) => outcome === 'require_approval' && approval === 'name'),
      };
      const outcome = await approvals.decide(subject, made);
      if (outcome.outcome === 'changed')
        throw conflict(`The content of '${record.id}' has changed since it was reviewed: review it again.`);
      if (outcome.outcome === 'nothing to revoke')
        throw conflict(`Nothing was decided about '${record.id}', so there is nothing to revoke.`);
      if (outcome.outcome === 'decided otherwise') throw conflict(otherwise(record.id, outcome.by));
      return itemOf(found);
    },
  };
}

function shownDecision({ decision, reason, decided_by, decided_at }: StoredDecision): ApprovalItem['decision'] {
  return { decision, reason, decided_by, decided_at };
}

function otherwise(id: string, { decision, decided_by, decided_at, reason }: StoredDecision): string {
  const why = reason ? ` (${reason.replace(/[.\s]+$/, '')})` : '';
  return `Someone has already decided: '${id}' was ${decision} by ${decided_by} on ${decided_at.slice(0, 16).replace('T', ' at ')}${why}. Revoke that decision first to decide differently.`;
}

function conflict(message: string): HubError {
  return new HubError('decision_conflict', message);
}
