// Writes entities inside a transaction: compares them with the stored rows, and replaces those that may be replaced.
import { type Selectable, sql } from 'kysely';
import type { Entity } from '../../catalog/entity.ts';
import type { PublishedEntity, PublishOutcome, SaveOutcome } from '../../catalog/store.ts';
import type { NewEvent } from '../../events/store.ts';
import type { Db, Queries } from '../dialects/dialect.ts';
import { savedEvents } from '../events/entity-events.ts';
import {
  type Admit,
  ALLOWED,
  type Candidate,
  FLAG_COLUMNS,
  type FlagColumns,
  haveSameFlags,
} from '../governance/admission.ts';
import { mayReplace } from '../remotes/ownership.ts';
import type { EntityTable } from '../tables.ts';
import { MAPPING, type NewEntityRow, rowFromEntity, trustFromText } from './entity-row.ts';

type Sql = Pick<Queries, 'insertRows' | 'isOneOf' | 'forUpdate'>;

export type StoredState = Pick<
  Selectable<EntityTable>,
  | 'manifest_digest'
  | 'source_url'
  | 'mapping'
  | 'owner_url'
  | 'made_of'
  | 'missing_since'
  | 'created_at'
  | keyof FlagColumns
  | 'brings'
  | 'trust'
>;

const STATE_COLUMNS = [
  'uid',
  'manifest_digest',
  'source_url',
  'mapping',
  'owner_url',
  'made_of',
  'missing_since',
  'created_at',
  ...FLAG_COLUMNS,
  'brings',
  'trust',
] as const;

/** The stored entities among these. */
export async function storedStates(
  tx: Db,
  uids: readonly string[],
  { isOneOf }: Pick<Queries, 'isOneOf'>,
): Promise<Map<string, StoredState>> {
  const rows = await tx.selectFrom('entity').select(STATE_COLUMNS).where(isOneOf('uid', uids)).execute();
  return new Map(rows.map((row) => [row.uid, row]));
}

export interface Publication {
  remote: string;
  /** Their uids are distinct. */
  published: readonly PublishedEntity[];
  at: Date;
  admit: Admit;
  stored: ReadonlyMap<string, StoredState>;
  onlyNew?: boolean;
}

export interface Published {
  outcomes: PublishOutcome[];
  written: ReadonlySet<string>;
  /** Entities that were added, or that callers see differently now. */
  news: string[];
  events(): NewEvent[];
}

/** Writes the entities of a remote that are new, or that differ from the stored ones and belong to it. */
export async function publishEntities(
  tx: Db,
  { remote, published, at, admit, stored, onlyNew = false }: Publication,
  dialect: Sql,
): Promise<Published> {
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
  const written = rows.length > 0 ? await upsertEntities(tx, rows, dialect, { onlyNew }) : new Set<string>();
  const isNews = ({ entity, isSeen }: (typeof judged)[number]) =>
    written.has(entity.uid) && (isSeen || !haveSameFlags(flagsOf(entity), stored.get(entity.uid) ?? ALLOWED));
  const newsOf = ({ entity: { uid }, outcome }: (typeof judged)[number]) =>
    written.has(uid) ? savedEvents({ uid, outcome, flags: flags.get(uid), remote }, stored.get(uid)) : [];
  return {
    outcomes: judged.map(({ entity, outcome }) => {
      if (written.has(entity.uid)) return outcome;
      return outcome === 'created' || outcome === 'changed' ? 'not owned' : 'unchanged';
    }),
    written,
    news: judged.filter(isNews).map(({ entity }) => entity.uid),
    events: () => judged.flatMap(newsOf),
  };
}

/** Rows from a remote replace only the rows they are allowed to. Returns the uids that were written. */
export async function upsertEntities(
  tx: Db,
  rows: readonly NewEntityRow[],
  { insertRows }: Pick<Sql, 'insertRows'>,
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
  const texts = rows.filter(({ uid }) => uids.has(uid)).map(({ uid, manifest }) => ({ uid, text: manifest }));
  await sql`
    ${insertRows('manifest', ['uid', 'text'], texts)}
    on conflict (uid) do update set text = excluded.text
  `.execute(tx);
  return uids;
}

/** Columns that an update sets by its own rules. */
const OWN_RULE_ON_UPDATE = ['uid', 'created_at', 'updated_at', 'source_url'];

/** The entity as a save would store it if its remote does not change. */
export function candidateOf(entity: Entity, { at, stored }: { at: Date; stored: StoredState | undefined }): Candidate {
  const { uid, type, name, slug, quality, publishedAt, isRegistrable, facts } = entity;
  return {
    ...{ uid, type, name, slug, quality, publishedAt, isRegistrable, ...facts },
    createdAt: stored?.created_at ?? at.toISOString(),
    trust: stored?.brings === facts.brings ? trustFromText(stored.trust) : null,
    madeBy: stored?.made_of == null ? null : stored.owner_url,
    ownerUrl: stored?.owner_url ?? null,
  };
}

export function outcomeOf({ manifestDigest, sourceUrl }: Entity, row: StoredState | undefined): SaveOutcome {
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
