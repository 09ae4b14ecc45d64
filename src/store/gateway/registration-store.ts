// Stores registrations, on both engines.
import { type ExpressionBuilder, type ExpressionWrapper, type Selectable, type SqlBool, sql } from 'kysely';
import { parseReference } from '../../catalog/uid.ts';
import type { RemovalRefusal } from '../../gateway/contract.ts';
import type { DueQuery, RegistrableEntity, RegistrationRecord, RegistrationStore } from '../../gateway/store.ts';
import { foldText } from '../catalog/entity-row.ts';
import { lockEntities } from '../catalog/lock-entities.ts';
import type { Db, Dialect } from '../dialects/dialect.ts';
import { failedEvent } from '../events/entity-events.ts';
import { likePattern } from '../like.ts';
import { forgetIndexesThatList } from '../remotes/forget-indexes.ts';
import { isKnownToRemotes } from '../remotes/ownership.ts';
import type { Revision } from '../revision.ts';
import type { EntityTable, Tables } from '../tables.ts';
import { countByDay, historyOf } from './registration-days.ts';
import { replaceItems } from './registration-items.ts';
import {
  heldItem,
  PENDING_COLUMNS,
  pendingServer,
  REGISTRABLE_COLUMNS,
  recordRow,
  registrable,
} from './registration-row.ts';

/** How far the clocks of hubs on one database may differ. */
const CLOCK_LEEWAY_MS = 600_000;

type EntityExpression = ExpressionBuilder<Tables, 'entity'>;
type Condition = ExpressionWrapper<Tables, 'entity', SqlBool>;

/** Servers removed per transaction; each transaction has its own revision. */
const REMOVED_AT_ONCE = 2_000;

export function createRegistrationStore(dialect: Dialect, revision: Revision): RegistrationStore {
  const { read, rowsFromJson, isOneOf } = dialect;
  return {
    async pending(query) {
      const { errorOnly, text, registrable: isRegistrable } = query;
      const matching = withWords(errorOnly ? failedEntities(read) : pendingEntities(read), text).$if(
        isRegistrable !== undefined,
        (entities) => entities.where('is_registrable', '=', isRegistrable ? 1 : 0),
      );
      const count = ({ fn }: EntityExpression) => fn.countAll().as('total');
      const [rows, all, failedUpdates, unregistrable] = await Promise.all([
        matching
          .select(PENDING_COLUMNS)
          .orderBy('created_at', 'desc')
          .orderBy('uid', 'desc')
          .limit(query.limit)
          .offset(query.offset)
          .execute(),
        matching.select(count).executeTakeFirstOrThrow(),
        errorOnly
          ? matching.where('gateway_registered_at', 'is not', null).select(count).executeTakeFirstOrThrow()
          : { total: 0 },
        pendingEntities(read).where('is_registrable', '=', 0).select(count).executeTakeFirstOrThrow(),
      ]);
      return {
        servers: rows.map(pendingServer),
        total: Number(all.total),
        failedUpdates: Number(failedUpdates.total),
        unregistrable: Number(unregistrable.total),
      };
    },

    history: (days) => historyOf(read, days),

    async due({ limit, after, ...query }) {
      const rows = await dueEntities(read, query)
        .select(REGISTRABLE_COLUMNS)
        .where('uid', '>', after)
        .orderBy('uid')
        .limit(limit)
        .execute();
      return withItems(rows);
    },

    async countDue(query) {
      const counted = dueEntities(read, query).select(({ fn }) => fn.countAll().as('total'));
      return Number((await counted.executeTakeFirstOrThrow()).total);
    },

    async get(uid) {
      const rows = await read.selectFrom('entity').select(REGISTRABLE_COLUMNS).where('uid', '=', uid).execute();
      return (await withItems(rows))[0];
    },

    async record(records) {
      if (records.length === 0) return new Set();
      const rows = records.map(recordRow);
      const columns = Object.keys(rows[0] ?? {});
      return revision.change(async (tx) => {
        await lockEntities(
          tx,
          records.map(({ uid }) => uid),
          dialect,
        );
        // Items are stored even for an entity that was removed: the gateway has them, so they must be cleaned up.
        const asked = records.flatMap(({ uid, items }) => (items ? [{ uid, items }] : []));
        await replaceItems(tx, asked, dialect);
        const failedBefore = await errorsOf(tx, records);
        const { rows: updated } = await sql<{ uid: string }>`
          update entity set
            gateway_registered_at = coalesce(incoming.gateway_registered_at, entity.gateway_registered_at),
            gateway_error = incoming.gateway_error,
            gateway_digest = incoming.gateway_digest,
            gateway_tried_at = incoming.gateway_tried_at,
            gateway_next_try_at = incoming.gateway_next_try_at,
            gateway_tries = incoming.gateway_tries
          from ${rowsFromJson('entity', columns, JSON.stringify(rows))} as incoming
          where entity.uid = incoming.uid and entity.blocked_at is null and entity.is_held = 0
          returning entity.uid
        `.execute(tx);
        const recorded = new Set(updated.map(({ uid }) => uid));
        await countByDay(
          tx,
          records.filter(({ uid }) => recorded.has(uid)),
        );
        const isNews = ({ uid, error }: RegistrationRecord) =>
          recorded.has(uid) && error !== null && failedBefore.get(uid) !== error;
        const events = () => records.filter(isNews).map(failedEvent);
        // After a failed attempt, an entity is found as before.
        const found = records.filter(({ uid, error }) => recorded.has(uid) && error === null).map(({ uid }) => uid);
        return { result: recorded, isChange: recorded.size > 0, entities: found, events };
      });
    },

    async remove(uid) {
      const { removed, skipped } = await removeMany({ uids: [uid], errorOnly: false });
      return removed.includes(uid) ? 'removed' : (skipped.get(uid) as RemovalRefusal);
    },

    removeMany,
  };

  async function removeMany({ uids, errorOnly }: Parameters<RegistrationStore['removeMany']>[0]) {
    const removed: string[] = [];
    const skipped = new Map<string, string>();
    for await (const some of uids ? inChunks(uids) : pendingInChunks(errorOnly)) {
      const outcome = await removeSome(some, errorOnly);
      for (const uid of outcome.removed) removed.push(uid);
      if (uids) for (const [uid, reason] of outcome.skipped) skipped.set(uid, reason);
    }
    return { removed, skipped };
  }

  function* inChunks(uids: readonly string[]): Generator<readonly string[]> {
    for (let start = 0; start < uids.length; start += REMOVED_AT_ONCE) yield uids.slice(start, start + REMOVED_AT_ONCE);
  }

  async function* pendingInChunks(errorOnly: boolean): AsyncGenerator<readonly string[]> {
    for (let after: string | undefined = ''; after !== undefined; ) {
      const rows: { uid: string }[] = await pendingEntities(read)
        .select('uid')
        .$if(errorOnly, (query) => query.where('gateway_error', 'is not', null))
        .where('uid', '>', after)
        .orderBy('uid')
        .limit(REMOVED_AT_ONCE)
        .execute();
      after = rows.at(-1)?.uid;
      if (after !== undefined) yield rows.map(({ uid }) => uid);
    }
  }

  /** Deletes the servers that are still pending, then looks up why the others were not deleted. */
  async function removeSome(uids: readonly string[], errorOnly: boolean) {
    const candidates = uids.filter(isUid);
    return revision.change(async (tx) => {
      await lockEntities(tx, candidates, dialect);
      await forgetIndexesThatList(tx, candidates, dialect);
      const rows = await tx
        .deleteFrom('entity')
        .where(isOneOf('uid', candidates))
        .where('type', '=', 'mcp_server')
        .where('gateway_registered_at', 'is', null)
        .where('blocked_at', 'is', null)
        .$if(errorOnly, (query) => query.where('gateway_error', 'is not', null))
        .returning('uid')
        .execute();
      const gone = new Set(rows.map(({ uid }) => uid));
      const staying = uids.filter((uid) => !gone.has(uid));
      const skipped = await refusals(tx, staying, errorOnly ? 'no gateway_error' : 'not found');
      const removed = candidates.filter((uid) => gone.has(uid));
      return { result: { removed, skipped }, isChange: gone.size > 0, entities: [...gone] };
    });
  }

  /** `pending` is the reason for pending servers that were not removed. */
  async function refusals(tx: Db, uids: readonly string[], pending: string): Promise<[uid: string, reason: string][]> {
    const rows = await tx
      .selectFrom('entity')
      .select(['uid', 'type', 'gateway_registered_at', 'blocked_at'])
      .where(isOneOf('uid', uids.filter(isUid)))
      .execute();
    const byUid = new Map(rows.map((row) => [row.uid, row]));
    return uids.map((uid) => [uid, refusal(byUid.get(uid)) ?? pending]);
  }

  async function errorsOf(tx: Db, records: readonly RegistrationRecord[]): Promise<Map<string, string | null>> {
    const failed = records.flatMap(({ uid, error }) => (error === null ? [] : uid));
    if (failed.length === 0) return new Map();
    const rows = await tx.selectFrom('entity').select(['uid', 'gateway_error']).where(isOneOf('uid', failed)).execute();
    return new Map(rows.map((row) => [row.uid, row.gateway_error]));
  }

  async function withItems(rows: readonly Parameters<typeof registrable>[0][]): Promise<RegistrableEntity[]> {
    const uids = rows.map(({ uid }) => uid);
    const items = await read.selectFrom('gateway_item').selectAll().where(isOneOf('uid', uids)).execute();
    const byUid = Map.groupBy(items, ({ uid }) => uid);
    return rows.map((row) => registrable(row, (byUid.get(row.uid) ?? []).map(heldItem)));
  }
}

/** Other strings may contain characters that the database rejects. */
function isUid(text: string): boolean {
  return parseReference(text) !== undefined;
}

function refusal(
  row: Pick<Selectable<EntityTable>, 'type' | 'gateway_registered_at' | 'blocked_at'> | undefined,
): RemovalRefusal | undefined {
  if (!row) return 'not found';
  if (row.type !== 'mcp_server') return 'not an mcp_server';
  if (row.blocked_at !== null) return 'blocked';
  return row.gateway_registered_at === null ? undefined : 'already registered';
}

function pendingEntities(db: Db) {
  return admittedServers(db).where('gateway_registered_at', 'is', null);
}

/** Includes registered servers whose update failed. */
function failedEntities(db: Db) {
  return admittedServers(db).where('gateway_error', 'is not', null);
}

/** Neither blocked nor held back. */
function admittedServers(db: Db) {
  return db
    .selectFrom('entity')
    .where('type', '=', 'mcp_server')
    .where('blocked_at', 'is', null)
    .where('is_held', '=', 0);
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

function dueEntities(db: Db, { now, effort }: DueQuery) {
  return (
    db
      .selectFrom('entity')
      .where('type', '=', 'mcp_server')
      .$if(effort === 'background', (query) => query.where('missing_since', 'is', null))
      // What its remote has withdrawn, for example as malware; servers of removed remotes are tried.
      .$if(effort === 'explicit', (query) =>
        query.where(sql<boolean>`(missing_since is null or not ${isKnownToRemotes})`),
      )
      .where((eb) => isDue(eb, { now, effort }))
  );
}

/** The manifest changed since the last try, or it failed and the effort includes it. Never for a blocked or held entity. */
function isDue(eb: EntityExpression, { now, effort }: Pick<DueQuery, 'now' | 'effort'>): Condition {
  const hasChanged = eb.or([eb('gateway_digest', 'is', null), eb('gateway_digest', '!=', eb.ref('manifest_digest'))]);
  const hasFailed = eb.or([eb('gateway_registered_at', 'is', null), eb('gateway_error', 'is not', null)]);
  // Written by a hub with a wrong clock, so the time of the next try is meaningless.
  const isFromTheFuture = eb.and([
    eb('gateway_next_try_at', 'is not', null),
    eb('gateway_tried_at', '>', new Date(now.getTime() + CLOCK_LEEWAY_MS).toISOString()),
  ]);
  const triedAgain = {
    background: eb.and([hasFailed, eb.or([eb('gateway_next_try_at', '<=', now.toISOString()), isFromTheFuture])]),
    explicit: eb.and([hasFailed, eb('is_registrable', '=', 1)]),
    force: hasFailed,
  };
  return eb.and([eb('blocked_at', 'is', null), eb('is_held', '=', 0), eb.or([hasChanged, triedAgain[effort]])]);
}
