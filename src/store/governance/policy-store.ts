// Stores the policy and applies it to entities, on both engines.
import { sql } from 'kysely';
import type { NewEvent } from '../../events/store.ts';
import type { PolicyStore } from '../../policy/store.ts';
import { lockEntities } from '../catalog/lock-entities.ts';
import type { Db, Dialect } from '../dialects/dialect.ts';
import { flagEvents } from '../events/entity-events.ts';
import type { Revision } from '../revision.ts';
import {
  type Admission,
  ALLOWED,
  approvalsOf,
  candidateFromRow,
  FLAG_COLUMNS,
  type FlagColumns,
  haveSameFlags,
  SUBJECT_COLUMNS,
  type SubjectRow,
} from './admission.ts';

export function createPolicyStore(dialect: Dialect, revision: Revision, admission: Admission): PolicyStore {
  const { lookup, read, write } = dialect;

  function page(after: string, limit: number): Promise<SubjectRow[]> {
    return read
      .selectFrom('entity')
      .select(SUBJECT_COLUMNS)
      .where('uid', '>', after)
      .orderBy('uid')
      .limit(limit)
      .execute();
  }

  return {
    async read() {
      const { applied_version, restricted, ...policy } = await lookup
        .selectFrom('policy')
        .select(['text', 'digest', 'changed_at', 'changed_by', 'version', 'applied_version'])
        .select(sql<number>`(select count(*) from remote where register <> 'all')`.as('restricted'))
        .executeTakeFirstOrThrow();
      return {
        ...policy,
        isApplied: policy.version === applied_version,
        isAnyRemoteRestricted: Number(restricted) > 0,
      };
    },

    async write({ text, digest, at, by }) {
      await write
        .updateTable('policy')
        .set(({ eb }) => ({
          ...{ text, digest, changed_at: at.toISOString(), changed_by: by },
          version: eb('version', '+', 1),
        }))
        .execute();
    },

    async markApplied(version) {
      await write.updateTable('policy').set({ applied_version: version }).where('version', '=', version).execute();
    },

    async subjects({ after, limit }) {
      return admission.subjectsOf(read, (await page(after, limit)).map(candidateFromRow));
    },

    async subject(uid) {
      const rows = await lookup.selectFrom('entity').select(SUBJECT_COLUMNS).where('uid', '=', uid).execute();
      return (await admission.subjectsOf(lookup, rows.map(candidateFromRow)))[0];
    },

    approvalOf: async (subject) => (await approvalsOf(lookup, [subject], dialect))(subject),
    approvalsOf: (subjects) => approvalsOf(read, subjects, dialect),

    async outdated({ after, limit }) {
      const rows = await page(after, limit);
      const admit = await admission.forReading(read);
      const flags = await admit(rows.map(candidateFromRow));
      const uids = rows.filter((row) => !haveSameFlags(row, wantedFlags(row, flags))).map(({ uid }) => uid);
      return { uids, last: rows.at(-1)?.uid };
    },

    readmit: (uids) =>
      revision.change(async (tx) => {
        const { changed, events } = await readmit(tx, uids, { dialect, admission });
        return { result: changed.length, isChange: changed.length > 0, entities: changed, events };
      }),
  };
}

/** Sets the flags of these entities from the current rules and approvals. `changed` contains the uids whose flags differ now. */
export async function readmit(
  tx: Db,
  uids: readonly string[],
  { dialect, admission }: { dialect: Dialect; admission: Admission },
): Promise<{ changed: string[]; events: () => NewEvent[] }> {
  const { isOneOf, rowsFromJson } = dialect;
  const admit = await admission.forWriting(tx);
  await lockEntities(tx, uids, dialect);
  const rows = await tx.selectFrom('entity').select(SUBJECT_COLUMNS).where(isOneOf('uid', uids)).execute();
  const flags = await admit(rows.map(candidateFromRow));
  const changed = rows.flatMap((row) => {
    const wanted = wantedFlags(row, flags);
    return haveSameFlags(row, wanted) ? [] : [{ row, wanted }];
  });
  const flagRows = changed.map(({ row, wanted }) => ({ uid: row.uid, ...wanted }));
  if (changed.length > 0) await writeFlags(tx, flagRows, rowsFromJson);
  return {
    changed: flagRows.map(({ uid }) => uid),
    events: () => changed.flatMap(({ row, wanted }) => flagEvents(row, wanted, { id: row.uid, remote: row.owner_url })),
  };
}

/**
 * An entity left behind by its remote stays held: the setting that held it was removed with the remote, and no other remote
 * provides its content.
 */
function wantedFlags(row: SubjectRow, flags: ReadonlyMap<string, FlagColumns>): FlagColumns {
  const wanted = flags.get(row.uid) ?? ALLOWED;
  const isLeft = row.missing_since !== null || (row.owner_url !== null && row.made_of === null);
  return isLeft && row.is_held === 1 ? { ...wanted, is_held: 1 } : wanted;
}

async function writeFlags(
  tx: Db,
  rows: readonly (FlagColumns & { uid: string })[],
  rowsFromJson: Dialect['rowsFromJson'],
): Promise<void> {
  const assignments = FLAG_COLUMNS.map((flag) => sql`${sql.ref(flag)} = ${sql.ref(`incoming.${flag}`)}`);
  await sql`
    update entity set ${sql.join(assignments)}
    from ${rowsFromJson('entity', ['uid', ...FLAG_COLUMNS], JSON.stringify(rows))} as incoming
    where entity.uid = incoming.uid
  `.execute(tx);
}
