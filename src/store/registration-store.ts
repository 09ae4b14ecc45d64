// The gateway's port on both engines.
import { type ExpressionBuilder, type ExpressionWrapper, type Selectable, type SqlBool, sql } from 'kysely';
import { parseReference } from '../catalog/uid.ts';
import type { RemovalRefusal } from '../gateway/contract.ts';
import type { DueQuery, RegistrationStore } from '../gateway/store.ts';
import type { Db, Dialect } from './dialects/dialect.ts';
import { foldText } from './entity-row.ts';
import { forgetIndexesThatList } from './forget-indexes.ts';
import { likePattern } from './like.ts';
import { lockEntities } from './lock-entities.ts';
import {
  PENDING_COLUMNS,
  pendingServer,
  RECORD_COLUMNS,
  REGISTRABLE_COLUMNS,
  recordRow,
  registrable,
} from './registration-row.ts';
import type { Revision } from './revision.ts';
import type { EntityTable, Tables } from './tables.ts';

type EntityExpression = ExpressionBuilder<Tables, 'entity'>;
type Condition = ExpressionWrapper<Tables, 'entity', SqlBool>;

export function createRegistrationStore(dialect: Dialect, revision: Revision): RegistrationStore {
  const { read, write, rowsFromJson, isOneOf } = dialect;
  return {
    async pending(query) {
      const { errorOnly, text } = query;
      const matching = withWords(errorOnly ? failedEntities(read) : pendingEntities(read), text);
      const [rows, { total }] = await Promise.all([
        matching
          .select(PENDING_COLUMNS)
          .orderBy('created_at', 'desc')
          .orderBy('uid', 'desc')
          .limit(query.limit)
          .offset(query.offset)
          .execute(),
        matching.select(({ fn }) => fn.countAll().as('total')).executeTakeFirstOrThrow(),
      ]);
      return { servers: rows.map(pendingServer), total: Number(total) };
    },

    async claimDue(claim) {
      for (;;) {
        const due = await dueEntities(write, claim)
          .select('uid')
          .where('uid', '>', claim.after)
          .orderBy('uid')
          .limit(claim.limit)
          .execute();
        if (due.length === 0) return [];
        const uids = due.map(({ uid }) => uid);
        const rows = await write.transaction().execute(async (tx) => {
          await lockEntities(tx, uids, dialect);
          return (
            tx
              .updateTable('entity')
              .set({ gateway_claimed_until: claim.until.toISOString() })
              .where(isOneOf('uid', uids))
              // Asked again by the update itself: another hub may have been faster, and may even be done with some.
              .where((eb) => isUnclaimed(eb, claim.now))
              .where((eb) => isDue(eb, claim))
              .returning([...REGISTRABLE_COLUMNS, ownName])
              .execute()
          );
        });
        if (rows.length > 0) return rows.map(registrable).toSorted((a, b) => (a.uid < b.uid ? -1 : 1));
      }
    },

    async countDue(query) {
      const counted = dueEntities(read, query).select(({ fn }) => fn.countAll().as('total'));
      return Number((await counted.executeTakeFirstOrThrow()).total);
    },

    async get(uid) {
      const row = await read
        .selectFrom('entity')
        .select([...REGISTRABLE_COLUMNS, ownName])
        .where('uid', '=', uid)
        .executeTakeFirst();
      return row && registrable(row);
    },

    async record(records) {
      if (records.length === 0) return new Set();
      const rows = JSON.stringify(records.map(recordRow));
      return revision.change(async (tx) => {
        await lockEntities(
          tx,
          records.map(({ uid }) => uid),
          dialect,
        );
        const { rows: updated } = await sql<{ uid: string }>`
          update entity set
            gateway_registered_at = coalesce(incoming.gateway_registered_at, entity.gateway_registered_at),
            gateway_error = incoming.gateway_error,
            gateway_name = case when incoming.gateway_error is null then incoming.gateway_name else entity.gateway_name end,
            gateway_digest = incoming.gateway_digest,
            gateway_tried_at = incoming.gateway_tried_at,
            gateway_next_try_at = incoming.gateway_next_try_at,
            gateway_tries = incoming.gateway_tries,
            gateway_claimed_until = null
          from ${rowsFromJson('entity', RECORD_COLUMNS, rows)} as incoming
          where entity.uid = incoming.uid
          returning entity.uid
        `.execute(tx);
        const recorded = new Set(updated.map(({ uid }) => uid));
        return { result: recorded, isChange: recorded.size > 0, entities: [...recorded] };
      });
    },

    async release(uids) {
      if (uids.length === 0) return;
      await write.transaction().execute(async (tx) => {
        await lockEntities(tx, uids, dialect);
        await tx.updateTable('entity').set({ gateway_claimed_until: null }).where(isOneOf('uid', uids)).execute();
      });
    },

    async remove(uid) {
      const { removed, skipped } = await removeMany({ uids: [uid], errorOnly: false });
      return removed.includes(uid) ? 'removed' : (skipped[uid] as RemovalRefusal);
    },

    removeMany,
  };

  /** What is still pending when it is deleted goes, and only then is asked why the others stay. */
  async function removeMany({ uids, errorOnly }: Parameters<RegistrationStore['removeMany']>[0]) {
    const named = uids?.filter(isUid);
    return revision.change(async (tx) => {
      const candidates = named ?? (await allPending(tx, errorOnly));
      await lockEntities(tx, candidates, dialect);
      await forgetIndexesThatList(tx, candidates, dialect);
      const rows = await tx
        .deleteFrom('entity')
        .where(isOneOf('uid', candidates))
        .where('type', '=', 'mcp_server')
        .where('gateway_registered_at', 'is', null)
        .$if(errorOnly, (query) => query.where('gateway_error', 'is not', null))
        .returning('uid')
        .execute();
      const gone = new Set(rows.map(({ uid }) => uid));
      const staying = uids?.filter((uid) => !gone.has(uid)) ?? [];
      const skipped = await refusals(tx, staying, errorOnly ? 'no gateway_error' : 'not found');
      const removed = candidates.filter((uid) => gone.has(uid));
      return { result: { removed, skipped }, isChange: gone.size > 0, entities: [...gone] };
    });
  }

  /** `pending`: what is said of those that are pending, and were not to be removed all the same. */
  async function refusals(tx: Db, uids: readonly string[], pending: string): Promise<Record<string, string>> {
    const rows = await tx
      .selectFrom('entity')
      .select(['uid', 'type', 'gateway_registered_at'])
      .where(isOneOf('uid', uids.filter(isUid)))
      .execute();
    const byUid = new Map(rows.map((row) => [row.uid, row]));
    return Object.fromEntries(uids.map((uid) => [uid, refusal(byUid.get(uid)) ?? pending]));
  }
}

/** What is none is in no database, and may hold signs that none takes. */
function isUid(text: string): boolean {
  return parseReference(text) !== undefined;
}

function refusal(
  row: Pick<Selectable<EntityTable>, 'type' | 'gateway_registered_at'> | undefined,
): RemovalRefusal | undefined {
  if (!row) return 'not found';
  if (row.type !== 'mcp_server') return 'not an mcp_server';
  return row.gateway_registered_at === null ? undefined : 'already registered';
}

function pendingEntities(db: Db) {
  return db.selectFrom('entity').where('type', '=', 'mcp_server').where('gateway_registered_at', 'is', null);
}

/** Also those that are registered, and whose update failed. */
function failedEntities(db: Db) {
  return db.selectFrom('entity').where('type', '=', 'mcp_server').where('gateway_error', 'is not', null);
}

function withWords(entities: ReturnType<typeof pendingEntities>, text: string) {
  const words = foldText(text).split(/\s+/).filter(Boolean).map(likePattern);
  return words.reduce(
    (query, word) =>
      query.where(
        sql<boolean>`(haystack like ${word} escape '\\' or lower(uid) like ${word} escape '\\' or lower(coalesce(gateway_error, '')) like ${word} escape '\\')`,
      ),
    entities,
  );
}

async function allPending(tx: Db, errorOnly: boolean): Promise<string[]> {
  const rows = await pendingEntities(tx)
    .select('uid')
    .$if(errorOnly, (query) => query.where('gateway_error', 'is not', null))
    .orderBy('uid')
    .execute();
  return rows.map(({ uid }) => uid);
}

function dueEntities(db: Db, { types, now, force }: DueQuery) {
  return db
    .selectFrom('entity')
    .where('type', 'in', [...types])
    .where('missing_since', 'is', null)
    .where('status', '!=', 'disabled')
    .where((eb) => isUnclaimed(eb, now))
    .where((eb) => isDue(eb, { now, force }));
}

function isUnclaimed(eb: EntityExpression, now: Date): Condition {
  return eb.or([eb('gateway_claimed_until', 'is', null), eb('gateway_claimed_until', '<', now.toISOString())]);
}

/** Its manifest is another than the one tried last, or it is not registered as it should be and has waited long enough. */
function isDue(eb: EntityExpression, { now, force }: Pick<DueQuery, 'now' | 'force'>): Condition {
  const hasChanged = eb.or([eb('gateway_digest', 'is', null), eb('gateway_digest', '!=', eb.ref('manifest_digest'))]);
  const isAmiss = eb.or([eb('gateway_registered_at', 'is', null), eb('gateway_error', 'is not', null)]);
  if (force) return eb.or([hasChanged, isAmiss]);
  return eb.or([hasChanged, eb.and([isAmiss, eb('gateway_next_try_at', '<=', now.toISOString())])]);
}

/** The name in the gateway, unless another entity of the type goes by it: then a change of one must not change the other's. */
function ownName({ selectFrom, ref, not, exists }: EntityExpression) {
  const others = selectFrom('entity as other')
    .select('other.uid')
    .whereRef('other.gateway_name', '=', ref('entity.gateway_name'))
    .whereRef('other.type', '=', ref('entity.type'))
    .whereRef('other.uid', '!=', ref('entity.uid'));
  return selectFrom('entity as own')
    .select('own.gateway_name')
    .whereRef('own.uid', '=', ref('entity.uid'))
    .where(not(exists(others)))
    .as('own_name');
}
