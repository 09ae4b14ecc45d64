// Applies the current policy inside the transactions that write entities.
import type { Selectable } from 'kysely';
import { sql } from 'kysely';
import { isEarlierVersion } from '../../catalog/entity.ts';
import type { EntityType, EntityUid } from '../../catalog/uid.ts';
import type { Clock } from '../../lib/world.ts';
import type { RegisterMode } from '../../policy/contract.ts';
import type { AdmissionFlags, AdmissionRules, ApprovalState, PolicySubject } from '../../policy/store.ts';
import { factsFromText, trustFromText } from '../catalog/entity-row.ts';
import type { Db, Queries } from '../dialects/dialect.ts';
import type { EntityTable } from '../tables.ts';

export interface Admission {
  /**
   * Locks the rules until the transaction ends. Call it first in every transaction that writes entities; the fixed order
   * prevents deadlocks.
   */
  forWriting(tx: Db): Promise<Admit>;
  /** Takes no lock. */
  forReading(db: Db): Promise<Admit>;
  subjectsOf(db: Db, candidates: readonly Candidate[]): Promise<PolicySubject[]>;
}

/** Returns the flags of these entities; entities without flags are allowed everything. */
export type Admit = (candidates: readonly Candidate[]) => Promise<ReadonlyMap<EntityUid, FlagColumns>>;

/** `madeBy` is the remote that the content comes from, `ownerUrl` the remote that owns the entity. */
export type Candidate = Omit<PolicySubject, 'remote' | 'registers'> & {
  madeBy: string | null;
  ownerUrl: string | null;
};

export const FLAG_COLUMNS = ['is_hidden', 'is_held', 'is_install_refused', 'needs_approval'] as const;
export type FlagColumns = Pick<Selectable<EntityTable>, (typeof FLAG_COLUMNS)[number]>;

export const SUBJECT_COLUMNS = [
  'uid',
  'type',
  'name',
  'slug',
  'quality',
  'published_at',
  'created_at',
  'is_registrable',
  'owner_url',
  'made_of',
  'missing_since',
  'facts',
  ...FLAG_COLUMNS,
  'trust',
] as const satisfies (keyof EntityTable)[];

export type SubjectRow = Pick<Selectable<EntityTable>, (typeof SUBJECT_COLUMNS)[number]>;

/** Admits everything, for stores without a policy. */
export const NO_RULES: Pick<Admission, 'forWriting'> = { forWriting: async () => async () => new Map() };

export interface AdmissionDependencies {
  /** Parses the text of a policy into rules; null means that the hub has none. */
  rulesOf: (text: string | null) => AdmissionRules;
  now: Clock;
}

export function createAdmission(dialect: Queries, { rulesOf, now }: AdmissionDependencies): Admission {
  let known: { digest: string | null; rules: AdmissionRules } = { digest: null, rules: rulesOf(null) };

  async function rulesIn(db: Db, digest: string | null): Promise<AdmissionRules> {
    if (known.digest === digest) return known.rules;
    const { text } = await db.selectFrom('policy').select('text').executeTakeFirstOrThrow();
    known = { digest, rules: rulesOf(text) };
    return known.rules;
  }

  async function open(db: Db, lock: Queries['forShare']): Promise<Admit> {
    const { digest, restricted } = await db
      .selectFrom('policy')
      .select('digest')
      .select(sql<number>`(select count(*) from remote where register <> 'all')`.as('restricted'))
      .modifyEnd(lock)
      .executeTakeFirstOrThrow();
    if (digest === null && Number(restricted) === 0) return async () => NO_FLAGS;
    const rules = await rulesIn(db, digest);
    return (candidates) => judge(db, candidates, rules);
  }

  async function judge(db: Db, candidates: readonly Candidate[], rules: AdmissionRules) {
    const subjects = await subjectsOf(db, candidates);
    const at = now();
    const judged = subjects.map((subject) => ({ subject, flags: rules.flagsWithoutApproval(subject, at) }));
    const asking = judged.filter(({ flags }) => flags === undefined).map(({ subject }) => subject);
    const approvalOf = await approvalsOf(db, asking, dialect);
    return new Map(
      judged.map(({ subject, flags }) => [
        subject.uid,
        columnsOf(flags ?? rules.flags(subject, approvalOf(subject), at)),
      ]),
    );
  }

  async function subjectsOf(db: Db, candidates: readonly Candidate[]): Promise<PolicySubject[]> {
    const urls = [...new Set(candidates.flatMap(({ ownerUrl }) => ownerUrl ?? []))];
    const isNamed = dialect.isOneOf('url', urls);
    const rows =
      urls.length === 0
        ? []
        : await db.selectFrom('remote').select(['url', 'name', 'register']).where(isNamed).execute();
    const remotes = new Map(rows.map((row) => [row.url, row]));
    return candidates.map(({ madeBy, ownerUrl, ...subject }) => ({
      ...subject,
      remote: madeBy === null ? null : { url: madeBy, name: remotes.get(madeBy)?.name ?? null },
      registers: (remotes.get(ownerUrl ?? '')?.register ?? 'all') as RegisterMode,
    }));
  }

  return { forWriting: (tx) => open(tx, dialect.forShare), forReading: (db) => open(db, sql``), subjectsOf };
}

/** Without rules, the columns keep their defaults. */
const NO_FLAGS: ReadonlyMap<EntityUid, FlagColumns> = new Map();
export const ALLOWED: FlagColumns = { is_hidden: 0, is_held: 0, is_install_refused: 0, needs_approval: 0 };

function columnsOf({ isHidden, isHeld, isInstallRefused, needsApproval }: AdmissionFlags): FlagColumns {
  return {
    is_hidden: isHidden ? 1 : 0,
    is_held: isHeld ? 1 : 0,
    is_install_refused: isInstallRefused ? 1 : 0,
    needs_approval: needsApproval ? 1 : 0,
  };
}

export function haveSameFlags(one: FlagColumns, other: FlagColumns): boolean {
  return FLAG_COLUMNS.every((flag) => one[flag] === other[flag]);
}

export function candidateFromRow(row: SubjectRow): Candidate {
  return {
    uid: row.uid,
    type: row.type as EntityType,
    name: row.name,
    slug: row.slug,
    quality: row.quality,
    publishedAt: row.published_at,
    createdAt: row.created_at,
    isRegistrable: row.is_registrable === 1,
    ...factsFromText(row.facts),
    trust: trustFromText(row.trust),
    // A manifest sent with an install does not come from the remote that owns the entity.
    madeBy: row.made_of === null ? null : row.owner_url,
    ownerUrl: row.owner_url,
  };
}

/** The decisions about each of these entities and about their names. */
export async function approvalsOf(
  db: Db,
  subjects: readonly PolicySubject[],
  { isOneOf }: Pick<Queries, 'isOneOf'>,
): Promise<(subject: PolicySubject) => ApprovalState> {
  if (subjects.length === 0) return () => ({ own: undefined, isNameApproved: false });
  const rows = await db
    .selectFrom('approval')
    .select(['uid', 'brings', 'type', 'slug', 'remote_url', 'decision', 'reason'])
    .where(isOneOf('slug', [...new Set(subjects.map(({ slug }) => slug))]))
    .where('decision', 'in', ['approved', 'rejected'])
    .execute();
  const bySlug = Map.groupBy(rows, ({ slug }) => slug);
  return ({ uid, brings, type, slug, remote }) => {
    const ofName = (bySlug.get(slug) ?? []).filter((row) => row.type === type);
    const own = ofName.find((row) => row.uid === uid && row.brings === brings);
    return {
      own: own?.decision as ApprovalState['own'],
      reason: own?.reason ?? null,
      // An approval does not apply to another remote that lists the same name, to earlier versions, or to other content.
      isNameApproved: ofName.some(
        (row) =>
          row.decision === 'approved' && row.remote_url === (remote?.url ?? null) && isEarlierVersion(row.uid, uid),
      ),
    };
  };
}

/**
 * Marks the rules for re-application after one of their inputs changed; without a policy, only if `always` is set.
 * Call it first in the transaction, like `forWriting`.
 */
export async function changeRules(tx: Db, { always }: { always: boolean }): Promise<void> {
  await tx
    .updateTable('policy')
    .set(({ eb }) => ({ version: eb('version', '+', 1) }))
    .$if(!always, (query) => query.where('digest', 'is not', null))
    .execute();
}
