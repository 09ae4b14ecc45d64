// Stores approvals and rejections, on both engines.
import { isEarlierVersion } from '../../catalog/entity.ts';
import type { ApprovalStore, DecisionOutcome, NewDecision, PolicySubject, StoredDecision } from '../../policy/store.ts';
import { lockEntities } from '../catalog/lock-entities.ts';
import type { Db, Dialect } from '../dialects/dialect.ts';
import type { Revision } from '../revision.ts';
import type { Admission } from './admission.ts';
import { readmit } from './policy-store.ts';

const DECISION_COLUMNS = ['uid', 'decision', 'reason', 'decided_by', 'decided_at', 'brings', 'reviewed'] as const;

export function createApprovalStore(dialect: Dialect, revision: Revision, admission: Admission): ApprovalStore {
  const { lookup, read } = dialect;
  return {
    async list({ state, limit, offset }) {
      const listed = state === 'pending' ? pendingEntities(read) : decidedEntities(read, state);
      const [rows, { total }] = await Promise.all([
        listed.select('entity.uid').orderBy('created_at').orderBy('entity.uid').limit(limit).offset(offset).execute(),
        listed.select(({ fn }) => fn.countAll().as('total')).executeTakeFirstOrThrow(),
      ]);
      return { uids: rows.map(({ uid }) => uid), total: Number(total) };
    },

    decisionOn: ({ uid, brings }) => decisionOn(lookup, { uid, brings }),

    async lastApproval({ type, slug }) {
      const row = await lookup
        .selectFrom('approval')
        .select(DECISION_COLUMNS)
        .where('type', '=', type)
        .where('slug', '=', slug)
        .where('decision', '=', 'approved')
        .orderBy('decided_at', 'desc')
        .limit(1)
        .executeTakeFirst();
      return row && decisionFromRow(row);
    },

    decide: (subject, decision) =>
      revision.change<DecisionOutcome>(async (tx) => {
        // All code locks in this order: the rules, then entities.
        await admission.forWriting(tx);
        const versions = await versionsOf(tx, subject);
        await lockEntities(tx, versions, dialect);
        const outcome = await record(tx, subject, { decision, isOneOf: dialect.isOneOf });
        if (outcome.outcome !== 'decided') return { result: outcome, isChange: false };
        const { changed, events } = await readmit(tx, versions, { dialect, admission });
        return { result: outcome, isChange: true, entities: [...new Set([subject.uid, ...changed])], events };
      }),
  };
}

function pendingEntities(db: Db) {
  return db
    .selectFrom('entity')
    .where('needs_approval', '=', 1)
    .where('blocked_at', 'is', null)
    .where('missing_since', 'is', null);
}

function decidedEntities(db: Db, decision: string) {
  return db
    .selectFrom('entity')
    .innerJoin('approval', (join) =>
      join.onRef('approval.uid', '=', 'entity.uid').onRef('approval.brings', '=', 'entity.brings'),
    )
    .where('decision', '=', decision);
}

async function versionsOf(tx: Db, { type, slug }: PolicySubject): Promise<string[]> {
  const rows = await tx.selectFrom('entity').select('uid').where('type', '=', type).where('slug', '=', slug).execute();
  return rows.map(({ uid }) => uid);
}

interface DecisionChange extends Pick<Dialect, 'isOneOf'> {
  decision: NewDecision;
}

/** The entity is locked, so the second of two concurrent decisions sees the first. */
async function record(tx: Db, subject: PolicySubject, change: DecisionChange): Promise<DecisionOutcome> {
  const { decision } = change;
  const { uid } = subject;
  const { coversName, ...made } = decision;
  const { brings } = made;
  const now = await tx.selectFrom('entity').select('brings').where('uid', '=', uid).executeTakeFirst();
  if (now?.brings !== brings) return { outcome: 'changed' };
  const before = await decisionOn(tx, { uid, brings });
  const isOpen = before === undefined || before.decision === 'revoked';
  if (made.decision === 'revoked' && isOpen) return withdraw(tx, subject, change);
  // Otherwise, the approval of an earlier version would keep it available.
  if (made.decision === 'revoked' && coversName && before?.decision === 'approved') await withdraw(tx, subject, change);
  if (made.decision !== 'revoked' && !isOpen) {
    if (before.decision !== made.decision) return { outcome: 'decided otherwise', by: before };
    // The first reviewer stays the one who decided.
    const reason = made.reason ?? before.reason;
    await tx.updateTable('approval').set({ reason }).where('uid', '=', uid).where('brings', '=', brings).execute();
    return { outcome: 'decided' };
  }
  const row = { uid, type: subject.type, slug: subject.slug, remote_url: subject.remote?.url ?? null, ...made };
  await tx
    .insertInto('approval')
    .values(row)
    .onConflict((conflict) => conflict.columns(['uid', 'brings']).doUpdateSet(row))
    .execute();
  return { outcome: 'decided' };
}

/** Revokes approvals of this version's other content and, if an approval covers the name, of earlier versions. */
async function withdraw(
  tx: Db,
  { uid, type, slug, remote }: PolicySubject,
  { decision: { decision, reason, decided_by, decided_at, coversName }, isOneOf }: DecisionChange,
): Promise<DecisionOutcome> {
  const approved = await tx
    .selectFrom('approval')
    .select('uid')
    .where('decision', '=', 'approved')
    .where('type', '=', type)
    .where('slug', '=', slug)
    .where('remote_url', remote ? '=' : 'is', remote?.url ?? null)
    .execute();
  const covering = approved.filter((row) => row.uid === uid || (coversName && isEarlierVersion(row.uid, uid)));
  if (covering.length === 0) return { outcome: 'nothing to revoke' };
  await tx
    .updateTable('approval')
    .set({ decision, reason, decided_by, decided_at })
    .where('decision', '=', 'approved')
    .where('remote_url', remote ? '=' : 'is', remote?.url ?? null)
    .where(isOneOf('uid', [...new Set(covering.map((row) => row.uid))]))
    .execute();
  return { outcome: 'decided' };
}

async function decisionOn(
  db: Db,
  { uid, brings }: { uid: string; brings: string },
): Promise<StoredDecision | undefined> {
  const row = await db
    .selectFrom('approval')
    .select(DECISION_COLUMNS)
    .where('uid', '=', uid)
    .where('brings', '=', brings)
    .executeTakeFirst();
  return row && decisionFromRow(row);
}

function decisionFromRow(row: Omit<StoredDecision, 'decision'> & { decision: string }): StoredDecision {
  return { ...row, decision: row.decision as StoredDecision['decision'] };
}
