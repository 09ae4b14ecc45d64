// Keeps the registry entries in sync with the entities they are built from.
import { createHash } from 'node:crypto';
import { type ExpressionBuilder, type Selectable, sql } from 'kysely';
import { parseReference } from '../../catalog/uid.ts';
import type { JsonObject } from '../../lib/json.ts';
import { keyText, PUBLISHED, type ServerKey } from '../../registry/contract.ts';
import type { AboutEntry, RegistryTables, ServerMapping } from '../../registry/store.ts';
import { changesAfter } from '../changes.ts';
import type { Db, Dialect, NewRow } from '../dialects/dialect.ts';
import type { Revision } from '../revision.ts';
import type { RegistryServerTable, Tables } from '../tables.ts';

type Row = Selectable<RegistryServerTable>;
type Changed = Row & { document?: { server: string; about: string } };
type Member = ServerKey &
  Pick<
    Selectable<Tables['entity']>,
    'uid' | 'created_at' | 'is_held' | 'is_install_refused' | 'needs_approval' | 'owner_url'
  > & {
    text: string;
  };

/** The range of server ids. */
const SERVERS = { first: 'mcp_server:', end: 'mcp_server;' };
const WITHDRAWN = 'This hub no longer lists it.';

export function createRegistryTables(dialect: Dialect, revision: Revision, mapping: ServerMapping): RegistryTables {
  const { read, write, isOneOf } = dialect;

  async function update(tx: Db, uids: readonly string[], now: Date): Promise<void> {
    const { keys, reasons } = await moveMembers(tx, uids);
    if (keys.size === 0) return;
    const names = [...new Set([...keys.values()].map(({ name }) => name))];
    const rows = await tx.selectFrom('registry_server').selectAll().where(isOneOf('name', names)).execute();
    const stored = new Map(rows.map((row) => [keyText(row), row]));
    const published = await publishedVersions(tx, names);
    const members = Map.groupBy(await membersOf(tx, [...keys.values()]), keyText);
    const at = await nextMoment(tx, now);
    const changed = [...keys.values()].flatMap((key) => {
      const all = members.get(keyText(key)) ?? [];
      const isPublished = published.get(key.name)?.has(key.version) === true;
      const [before, reason] = [stored.get(keyText(key)), reasons.get(keyText(key))];
      return entryOf(key, { members: ofOwner(all, isPublished), before, at, reason }) ?? [];
    });
    for (const row of changed) stored.set(keyText(row), row);
    const moved = markLatest([...stored.values()], { latest: mapping.latest, published });
    await saveEntries(tx, [...new Map([...changed, ...moved].map((row) => [keyText(row), row])).values()]);
    if (changed.length > 0) await tx.updateTable('registry_state').set({ changed_at: at }).execute();
  }

  /** Returns the entries that these entities belonged to or belong to now, and why registries took them down. */
  async function moveMembers(
    tx: Db,
    uids: readonly string[],
  ): Promise<{ keys: Map<string, ServerKey>; reasons: Map<string, string> }> {
    const before = await tx.selectFrom('registry_member').selectAll().where(isOneOf('uid', uids)).execute();
    const manifests = await tx
      .selectFrom('entity')
      .innerJoin('manifest', 'manifest.uid', 'entity.uid')
      .select(['entity.uid', 'manifest.text', 'blocked_at', 'missing_since', 'missing_reason', 'is_hidden'])
      .where(isOneOf('entity.uid', uids))
      .execute();
    const now = manifests.flatMap(({ uid, text, blocked_at, missing_since, missing_reason, is_hidden }) => {
      const key = mapping.keyOf(JSON.parse(text) as JsonObject);
      const isShown = blocked_at === null && missing_since === null && is_hidden === 0;
      const reason = missing_since && missing_reason;
      return key ? [{ member: { uid, ...key }, isShown, reason }] : [];
    });
    if (before.length > 0) await tx.deleteFrom('registry_member').where(isOneOf('uid', uids)).execute();
    const shown = now.filter(({ isShown }) => isShown).map(({ member }) => member);
    await insert(tx, 'registry_member', shown);
    const all = [...before, ...now.map(({ member }) => member), ...uids.flatMap(publishedKey)];
    return {
      keys: new Map(all.map(({ name, version }) => [keyText({ name, version }), { name, version }])),
      reasons: new Map(now.flatMap(({ member, reason }) => (reason ? [[keyText(member), reason]] : []))),
    };
  }

  /** The versions published here, by name, whether or not they are shown. */
  async function publishedVersions(tx: Db, names: readonly string[]): Promise<Map<string, Set<string>>> {
    const rows = await tx
      .selectFrom('entity')
      .select(['name', 'version'])
      .where('type', '=', 'mcp_server')
      .where(isOneOf('name', names))
      .where('owner_url', '=', PUBLISHED)
      .execute();
    const byName = Map.groupBy(rows, ({ name }) => name);
    return new Map([...byName].map(([name, own]) => [name, new Set(own.map(({ version }) => version))]));
  }

  function membersOf(tx: Db, keys: readonly ServerKey[]): Promise<Member[]> {
    return tx
      .selectFrom('registry_member as member')
      .innerJoin('entity', 'entity.uid', 'member.uid')
      .innerJoin('manifest', 'manifest.uid', 'member.uid')
      .select(['member.uid', 'member.name', 'member.version', 'entity.created_at', 'manifest.text'])
      .select(['entity.is_held', 'entity.is_install_refused', 'entity.needs_approval', 'entity.owner_url'])
      .where(isOneOf('member.name', [...new Set(keys.map(({ name }) => name))]))
      .where(isOneOf('member.version', [...new Set(keys.map(({ version }) => version))]))
      .orderBy('member.uid')
      .execute();
  }

  /** Undefined when the entry does not change. */
  function entryOf(
    key: ServerKey,
    {
      members,
      before,
      at,
      reason,
    }: { members: readonly Member[]; before: Row | undefined; at: string; reason: string | undefined },
  ): Changed | undefined {
    const [first, ...others] = members.map(({ text }) => JSON.parse(text) as JsonObject);
    if (!first) return before && before.status !== 'deleted' ? withdrawn(before, at, reason) : undefined;
    const { server, status, statusMessage, words, ...dates } = mapping.listed(key, [first, ...others]);
    const about: AboutEntry = { ids: members.map(({ uid }) => uid), ...words };
    const document = { server: JSON.stringify(server), about: JSON.stringify(about) };
    const published = dates.publishedAt ?? before?.published_at ?? members[0]?.created_at ?? at;
    const isApproved = members.every((each) => each.is_held + each.is_install_refused + each.needs_approval === 0);
    const digest = digestOf([document, status, statusMessage, published, isApproved]);
    if (before?.digest === digest) return undefined;
    const newlyChangedAt = dates.statusChangedAt ?? (before === undefined ? published : at);
    const changedAt = before?.status === status ? before.status_changed_at : newlyChangedAt;
    return {
      ...key,
      name_key: key.name.toLowerCase(),
      status,
      status_message: statusMessage,
      status_changed_at: changedAt,
      published_at: published,
      updated_at: at,
      is_latest: before?.is_latest ?? 0,
      is_approved: isApproved ? 1 : 0,
      was_approved: isApproved ? 1 : (before?.was_approved ?? 0),
      is_latest_approved: before?.is_latest_approved ?? 0,
      digest,
      document,
    };
  }

  async function saveEntries(tx: Db, rows: readonly Changed[]): Promise<void> {
    const documents = rows.flatMap(({ name, version, document }) => (document ? { name, version, ...document } : []));
    await insert(
      tx,
      'registry_server',
      rows.map(({ document: _, ...row }) => row),
    );
    await insert(tx, 'registry_document', documents);
  }

  /** Replaces existing rows. */
  async function insert(
    tx: Db,
    table: 'registry_member' | 'registry_server' | 'registry_document',
    rows: readonly NewRow[],
  ): Promise<void> {
    if (rows.length === 0) return;
    const columns = Object.keys(rows[0] ?? {});
    const assignments = columns.map((column) => sql`${sql.ref(column)} = ${sql.ref(`excluded.${column}`)}`);
    const key = table === 'registry_member' ? sql`uid` : sql`name, version`;
    await sql`
      ${dialect.insertRows(table, columns, rows)}
      on conflict (${key}) do update set ${sql.join(assignments)}
    `.execute(tx);
  }

  return {
    revision: () => revision.current(),

    async shown() {
      const { revision: shown } = await dialect.lookup
        .selectFrom('registry_state')
        .select('revision')
        .executeTakeFirstOrThrow();
      return shown ?? undefined;
    },

    async setShown(shown) {
      const { revision: before } = await read.selectFrom('registry_state').select('revision').executeTakeFirstOrThrow();
      // The entries were just built, but the planner's statistics still describe empty tables.
      if (before === null) await dialect.analyze?.(write, ['registry_server', 'registry_document', 'registry_member']);
      await write.updateTable('registry_state').set({ revision: shown }).execute();
    },

    async changesAfter(after) {
      const changes = await changesAfter(after, { read, revision }, ['uid']);
      return changes && { revision: changes.revision, uids: changes.uids.filter(isServer) };
    },

    async serversAfter(uid, limit) {
      // A range of the primary key: filtering by type could make the database sort all servers for each page.
      const range = ({ eb, and }: ExpressionBuilder<Tables, 'entity' | 'registry_member'>) =>
        and([eb('uid', '>', uid === '' ? SERVERS.first : uid), eb('uid', '<', SERVERS.end)]);
      const [there, listed] = await Promise.all([
        read.selectFrom('entity').select('uid').where(range).orderBy('uid').limit(limit).execute(),
        read.selectFrom('registry_member').select('uid').where(range).orderBy('uid').limit(limit).execute(),
      ]);
      const uids = new Set([...there, ...listed].map((row) => row.uid));
      return [...uids].toSorted(byBytes).slice(0, limit);
    },

    update: (uids, now) => write.transaction().execute((tx) => update(tx, uids, now)),
  };
}

/** The id of a published entity contains its name and version; if it was removed while hidden, only the id identifies the entry. */
function publishedKey(uid: string): ServerKey[] {
  const { slug, version } = parseReference(uid) ?? {};
  return slug !== undefined && version !== undefined ? [{ name: slug, version }] : [];
}

/** An entry is built only from its owner's manifests: the publisher's, or those of the remote that listed it first. */
function ofOwner(members: readonly Member[], isPublished: boolean): Member[] {
  const [first] = members.toSorted((one, other) => byBytes(one.created_at, other.created_at));
  const owner = isPublished ? PUBLISHED : first?.owner_url;
  return members.filter(({ owner_url }) => owner_url === owner);
}

function withdrawn(row: Row, at: string, reason = WITHDRAWN): Changed {
  const change = { status: 'deleted', status_message: reason, status_changed_at: at, updated_at: at };
  return { ...row, ...change, digest: '' };
}

/** Returns the rows whose marks differ; this does not count as a change. The latest version of a published name is a published one. */
function markLatest(
  rows: Changed[],
  { latest, published }: Pick<ServerMapping, 'latest'> & { published: ReadonlyMap<string, ReadonlySet<string>> },
): Changed[] {
  const byName = Map.groupBy(rows, ({ name }) => name);
  return [...byName].flatMap(([name, versions]) => {
    const own = published.get(name);
    const listed = versions.filter(({ status, version }) => status !== 'deleted' && (own?.has(version) ?? true));
    const latestOf = (rows: readonly Row[]) =>
      latest(rows.map((row) => ({ version: row.version, publishedAt: row.published_at })))?.version;
    const best = latestOf(listed);
    const bestApproved = latestOf(listed.filter(({ is_approved }) => is_approved === 1));
    return versions.flatMap((row) => {
      const is_latest = row.version === best ? 1 : 0;
      const is_latest_approved = row.version === bestApproved ? 1 : 0;
      const isSame = row.is_latest === is_latest && row.is_latest_approved === is_latest_approved;
      return isSame ? [] : [{ ...row, is_latest, is_latest_approved }];
    });
  });
}

/** Later than every previous change, so that clients asking for changes since a time miss nothing. */
async function nextMoment(tx: Db, now: Date): Promise<string> {
  const { changed_at } = await tx.selectFrom('registry_state').select('changed_at').executeTakeFirstOrThrow();
  const last = changed_at === null ? 0 : Date.parse(changed_at) + 1;
  return new Date(Math.max(now.getTime(), last)).toISOString();
}

function isServer(uid: string): boolean {
  return uid.startsWith(SERVERS.first);
}

function digestOf(value: unknown): string {
  return createHash('sha256').update(JSON.stringify(value)).digest('base64url');
}

function byBytes(one: string, other: string): number {
  return Buffer.compare(Buffer.from(one), Buffer.from(other));
}
