// Determines which remote owns an entity: the one that provided it first, unless another that lists it has a higher priority.
import { type RawBuilder, sql } from 'kysely';
import { PUBLISHED } from '../../registry/contract.ts';
import type { Db, Queries } from '../dialects/dialect.ts';

/** A disabled remote ranks below all others, regardless of its priority. */
const rank = sql<number>`case remote.is_enabled when 1 then remote.priority else -1001 end`;

/** The remote that should own an entity now; null when no stored remote lists it. */
const rightfulOwner = sql<string | null>`(
  select member.remote_url from remote_member as member join remote on remote.url = member.remote_url
  where member.uid = entity.uid and member.missing_since is null
  order by
    ${rank} desc,
    case when member.remote_url = entity.owner_url then 0 else 1 end,
    remote.created_at,
    member.remote_url
  limit 1
)`;

/** An index that is not a remote ranks below all remotes. */
const UNLISTED = sql.lit(-1002);

/** Whether an incoming row of `insert into entity … on conflict` may replace the stored one; never one published to this hub. */
export const mayReplace = sql<boolean>`(
  entity.owner_url is null or entity.owner_url = excluded.owner_url
  or entity.owner_url <> ${sql.lit(PUBLISHED)} and coalesce((select ${rank} from remote where url = excluded.owner_url), ${UNLISTED})
   > coalesce((select ${rank} from remote where url = entity.owner_url), ${UNLISTED})
)`;

/** Whether a stored remote has a manifest of the entity, even one that is marked as missing. */
export const isKnownToRemotes = sql<boolean>`exists (
  select 1 from remote_member as member join remote on remote.url = member.remote_url where member.uid = entity.uid
)`;

interface LeftEntities {
  /** Uids that no remote lists now; they are marked as missing. */
  missing: string[];
  /** How many now belong to another remote, whose next ingest rebuilds them. */
  passedOn: number;
}

/** Handles entities for which the remote no longer lists a manifest. */
export async function leaveEntities(
  tx: Db,
  uids: readonly string[],
  { remote, at, isOneOf }: { remote: string; at: Date } & Pick<Queries, 'isOneOf'>,
): Promise<LeftEntities> {
  if (uids.length === 0) return { missing: [], passedOn: 0 };
  const { rows: missing } = await sql<{ uid: string }>`
    update entity set missing_since = ${at.toISOString()}, missing_reason = null
    where ${isOneOf('uid', uids)} and missing_since is null and (owner_url = ${remote} or owner_url is null)
      and ${rightfulOwner} is null
    returning uid
  `.execute(tx);
  const { rows: owners } = await sql<{ owner_url: string | null }>`
    update entity set owner_url = ${rightfulOwner}, made_of = null
    where ${isOneOf('uid', uids)} and owner_url = ${remote}
    returning owner_url
  `.execute(tx);
  const passedOn = owners.filter(({ owner_url }) => owner_url !== null && owner_url !== remote).length;
  return { missing: missing.map(({ uid }) => uid), passedOn };
}

/** Uids that other remotes list too. */
export async function sharedUids(tx: Db, remote: string): Promise<string[]> {
  const { rows } = await sql<{ uid: string }>`
    select uid from remote_member where remote_url = ${remote} and missing_since is null
    intersect select uid from remote_member where remote_url <> ${remote} and missing_since is null
  `.execute(tx);
  return rows.map(({ uid }) => uid);
}

/** Gives these entities to the remotes that should own them now, whose next ingest rebuilds them. Returns how many changed. */
export async function reassign(tx: Db, which: RawBuilder<boolean>): Promise<number> {
  const { rows } = await sql<{ uid: string }>`
    update entity set owner_url = ${rightfulOwner}, made_of = null
    where ${which} and owner_url is distinct from ${sql.lit(PUBLISHED)} and owner_url is distinct from ${rightfulOwner}
    returning uid
  `.execute(tx);
  return rows.length;
}
