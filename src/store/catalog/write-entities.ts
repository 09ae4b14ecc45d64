// Saves, publishes, blocks and removes entities, on both engines.
import { type Selectable, sql } from 'kysely';
import type { Entity } from '../../catalog/entity.ts';
import type { CatalogStore, PublishedEntity, PublishOutcome, SaveOutcome } from '../../catalog/store.ts';
import type { Db, Dialect } from '../dialects/dialect.ts';
import { blockedEvent, savedEvents } from '../events/entity-events.ts';
import {
  type Admission,
  ALLOWED,
  type Candidate,
  FLAG_COLUMNS,
  type FlagColumns,
  haveSameFlags,
} from '../governance/admission.ts';
import { forgetIndexesThatList } from '../remotes/forget-indexes.ts';
import { mayReplace } from '../remotes/ownership.ts';
import type { Revision } from '../revision.ts';
import type { EntityTable } from '../tables.ts';
import { MAPPING, type NewEntityRow, rowFromEntity, trustFromText } from './entity-row.ts';
import { lockEntities, lockRemote } from './lock-entities.ts';

/** Columns that `upsert` updates by its own rules. */
const OWN_RULE_ON_UPDATE = ['uid', 'created_at', 'updated_at', 'source_url'];

export type WritingEntities = Pick<CatalogStore, 'save' | 'publish' | 'saveInline' | 'remove' | 'setBlock'>;

export function writeEntities(
  dialect: Dialect,
  revision: Revision,
  admission: Pick<Admission, 'forWriting'>,
): WritingEntities {
  const { insertRows, isOneOf } = dialect;
  return {
    async save(entities, at) {
      if (entities.length === 0) return [];
      return revision.change(async (tx) => {
        const admit = await admission.forWriting(tx);
        const stored = await storedOf(tx, entities);
        const outcomes = new Map(entities.map((entity) => [entity.uid, outcomeOf(entity, stored.get(entity.uid))]));
        const changed = entities.filter(({ uid }) => outcomes.get(uid) !== 'unchanged');
        const flags = await admit(changed.map((entity) => candidateOf(entity, { at, stored: stored.get(entity.uid) })));
        if (changed.length > 0)
          await upsert(
            tx,
            changed.map((entity) => ({ ...rowFromEntity(entity, at), ...(flags.get(entity.uid) ?? ALLOWED) })),
          );
        const newsOf = (entity: Entity) =>
          savedEvents(
            { uid: entity.uid, outcome: outcomes.get(entity.uid), flags: flags.get(entity.uid) },
            stored.get(entity.uid),
          );
        return {
          result: entities.map(({ uid }) => outcomes.get(uid) ?? 'unchanged'),
          isChange: changed.length > 0,
          entities: changed.map(({ uid }) => uid),
          events: () => changed.flatMap(newsOf),
        };
      });
    },

    async publish(remote, published, at, { whileStored = false, onlyNew = false } = {}) {
      if (published.length === 0) return [];
      return revision.change(async (tx) => {
        const admit = await admission.forWriting(tx);
        if (whileStored) {
          const uids = published.map(({ entity }) => entity.uid);
          await lockEntities(tx, uids, dialect);
          if (!(await lockRemote(tx, remote, dialect))) return { result: uids.map(() => 'not owned'), isChange: false };
        }
        const stored = await storedOf(
          tx,
          published.map(({ entity }) => entity),
        );
        const judged = published.map((each) => judge(remote, each, stored.get(each.entity.uid)));
        const incoming = judged.filter(({ isWritten }) => isWritten);
        const flags = await admit(
          incoming.map(({ entity }) => ({
            ...candidateOf(entity, { at, stored: stored.get(entity.uid) }),
            madeBy: remote,
            ownerUrl: remote,
          })),
        );
        const flagsOf = ({ uid }: Entity) => flags.get(uid) ?? ALLOWED;
        const rows = incoming.map(({ entity, manifestUrl }) => ({
          ...rowFromEntity(entity, at),
          ...flagsOf(entity),
          owner_url: remote,
          made_of: manifestUrl,
        }));
        const written = rows.length > 0 ? await upsert(tx, rows, { onlyNew }) : new Set<string>();
        const result = judged.map(({ entity, outcome }): PublishOutcome => {
          if (written.has(entity.uid)) return outcome;
          return outcome === 'created' || outcome === 'changed' ? 'not owned' : 'unchanged';
        });
        const isNews = ({ entity, isSeen }: (typeof judged)[number]) =>
          isSeen || !haveSameFlags(flagsOf(entity), stored.get(entity.uid) ?? ALLOWED);
        const entities = judged.flatMap((each) =>
          written.has(each.entity.uid) && isNews(each) ? each.entity.uid : [],
        );
        const newsOf = ({ entity: { uid }, outcome }: (typeof judged)[number]) =>
          written.has(uid) ? savedEvents({ uid, outcome, flags: flags.get(uid), remote }, stored.get(uid)) : [];
        return { result, isChange: entities.length > 0, entities, events: () => judged.flatMap(newsOf) };
      });
    },

    async saveInline(entity, at) {
      return revision.change(async (tx) => {
        const admit = await admission.forWriting(tx);
        const before = (await storedOf(tx, [entity])).get(entity.uid);
        const outcome = outcomeOf(entity, before);
        const isChange = outcome !== 'unchanged';
        const candidate = { ...candidateOf(entity, { at, stored: before }), madeBy: null };
        const flags = (await admit(isChange ? [candidate] : [])).get(entity.uid);
        if (isChange) {
          const row = { ...rowFromEntity(entity, at), ...(flags ?? ALLOWED), made_of: null };
          await upsert(tx, [row], { keepsAddress: outcome !== 'changed' });
        }
        // The entity was just installed, so it stays visible even if no remote lists it.
        const revived = await tx
          .updateTable('entity')
          .set({ missing_since: null })
          .where('uid', '=', entity.uid)
          .where('missing_since', 'is not', null)
          .returning('uid')
          .execute();
        const isSeen = isChange || revived.length > 0;
        const events = () => (isChange ? savedEvents({ uid: entity.uid, outcome, flags }, before) : []);
        return { result: outcome, isChange: isSeen, entities: isSeen ? [entity.uid] : [], events };
      });
    },

    async remove(uid) {
      return revision.change(async (tx) => {
        await lockEntities(tx, [uid], dialect);
        const { numDeletedRows } = await tx
          .deleteFrom('entity')
          .where('uid', '=', uid)
          .where('blocked_at', 'is', null)
          .executeTakeFirst();
        const isGone = numDeletedRows > 0n;
        if (isGone) await forgetIndexesThatList(tx, [uid], dialect);
        return { result: isGone, isChange: isGone, entities: [uid] };
      });
    },

    async setBlock(uid, block) {
      return revision.change(async (tx) => {
        const before = await tx
          .selectFrom('entity')
          .select('blocked_at')
          .where('uid', '=', uid)
          .modifyEnd(dialect.forUpdate)
          .executeTakeFirst();
        const row = await tx
          .updateTable('entity')
          .set(({ fn, ref, val }) =>
            block
              ? {
                  blocked_at: fn.coalesce(ref('blocked_at'), val(block.at.toISOString())),
                  blocked_reason: block.reason ?? ref('blocked_reason'),
                }
              : { blocked_at: null, blocked_reason: null },
          )
          .where('uid', '=', uid)
          .returning(['blocked_reason', 'owner_url'])
          .executeTakeFirst();
        const events = () => (row && block && before?.blocked_at === null ? [blockedEvent(uid, row)] : []);
        return { result: row !== undefined, isChange: row !== undefined, entities: [uid], events };
      });
    },
  };

  /** Rows from a remote replace only the rows they are allowed to. Returns the uids that were written. */
  async function upsert(
    tx: Db,
    rows: readonly NewEntityRow[],
    { keepsAddress = true, onlyNew = false }: { keepsAddress?: boolean; onlyNew?: boolean } = {},
  ): Promise<Set<string>> {
    const narrow = rows.map(({ manifest: _, ...row }) => row);
    const columns = Object.keys(narrow[0] ?? {});
    const assignments = columns
      .filter((column) => !OWN_RULE_ON_UPDATE.includes(column))
      .map((column) => sql`${sql.ref(column)} = ${sql.ref(`excluded.${column}`)}`);
    const address = keepsAddress ? sql`coalesce(excluded.source_url, entity.source_url)` : sql`excluded.source_url`;
    const ifChanged = (kept: string) =>
      sql`case when excluded.manifest_digest = entity.manifest_digest then ${sql.ref(`entity.${kept}`)} else excluded.updated_at end`;
    // The first column is the uid, so PostgreSQL locks the rows in the same order as `lockEntities`.
    const { rows: written } = await sql<{ uid: string }>`
      ${insertRows('entity', columns, narrow)}
      on conflict (uid) do update set ${sql.join(assignments)}, source_url = ${address},
        updated_at = ${ifChanged('updated_at')}, changed_at = ${ifChanged('changed_at')},
        trust = case when excluded.brings = entity.brings then entity.trust end
      ${onlyNew ? sql`where false` : columns.includes('owner_url') ? sql`where ${mayReplace}` : sql``}
      returning uid
    `.execute(tx);
    const uids = new Set(written.map(({ uid }) => uid));
    await saveManifests(
      tx,
      rows.filter(({ uid }) => uids.has(uid)),
    );
    return uids;
  }

  async function saveManifests(tx: Db, rows: readonly NewEntityRow[]): Promise<void> {
    const texts = rows.map(({ uid, manifest }) => ({ uid, text: manifest }));
    await sql`
      ${insertRows('manifest', ['uid', 'text'], texts)}
      on conflict (uid) do update set text = excluded.text
    `.execute(tx);
  }

  async function storedOf(tx: Db, entities: readonly Entity[]): Promise<Map<string, StoredState>> {
    const uids = entities.map(({ uid }) => uid);
    const rows = await tx
      .selectFrom('entity')
      .select(['uid', 'manifest_digest', 'source_url', 'mapping', 'owner_url', 'made_of', 'created_at'])
      .select([...FLAG_COLUMNS, 'brings', 'trust'])
      .where(isOneOf('uid', uids))
      .execute();
    return new Map(rows.map((row) => [row.uid, row]));
  }
}

type StoredState = Pick<
  Selectable<EntityTable>,
  | 'manifest_digest'
  | 'source_url'
  | 'mapping'
  | 'owner_url'
  | 'made_of'
  | 'created_at'
  | keyof FlagColumns
  | 'brings'
  | 'trust'
>;

/** The entity as a save would store it if its remote does not change. */
function candidateOf(entity: Entity, { at, stored }: { at: Date; stored: StoredState | undefined }): Candidate {
  const { uid, type, name, slug, quality, publishedAt, isRegistrable, facts } = entity;
  return {
    ...{ uid, type, name, slug, quality, publishedAt, isRegistrable, ...facts },
    createdAt: stored?.created_at ?? at.toISOString(),
    trust: stored?.brings === facts.brings ? trustFromText(stored.trust) : null,
    madeBy: stored?.made_of == null ? null : stored.owner_url,
    ownerUrl: stored?.owner_url ?? null,
  };
}

function outcomeOf({ manifestDigest, sourceUrl }: Entity, row: StoredState | undefined): SaveOutcome {
  if (!row) return 'created';
  if (row.manifest_digest !== manifestDigest) return 'changed';
  const isSame = row.mapping === MAPPING && (sourceUrl ?? row.source_url) === row.source_url;
  return isSame ? 'unchanged' : 'moved';
}

/** Compares a remote's manifest with the stored row; the database decides whether it may be written. */
function judge(remote: string, { entity, manifestUrl }: PublishedEntity, row: StoredState | undefined) {
  const outcome = outcomeOf(entity, row);
  const isSeen = outcome !== 'unchanged' || row?.owner_url !== remote;
  return { entity, manifestUrl, outcome, isSeen, isWritten: isSeen || row?.made_of !== manifestUrl };
}
