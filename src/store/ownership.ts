// Which remote an entity belongs to: the one that brought it first, unless another that lists it has a higher priority.
import { type RawBuilder, sql } from 'kysely';
import type { Db } from './dialects/dialect.ts';

/** The remote that should own an entity now; null when no stored remote lists it. */
const rightfulOwner = sql<string | null>`(
  select member.remote_url from remote_member as member join remote on remote.url = member.remote_url
  where member.uid = entity.uid and member.missing_since is null
  order by
    remote.priority desc,
    case when member.remote_url = entity.owner_url then 0 else 1 end,
    remote.created_at,
    member.remote_url
  limit 1
)`;

/** Whether an incoming row of `insert into entity … on conflict` may replace the stored one. */
export const mayReplace = sql<boolean>`(
  entity.owner_url is null or entity.owner_url = excluded.owner_url
  or coalesce((select priority from remote where url = excluded.owner_url), 0)
   > coalesce((select priority from remote where url = entity.owner_url), 0)
)`;

/** A manifest that a remote had of each of these entities is gone: the next ingest of their owner makes them again. */
export async function passOn(tx: Db, remote: string, which: RawBuilder<boolean>): Promise<void> {
  await sql`
    update entity set owner_url = ${rightfulOwner}, made_of = null where ${which} and owner_url = ${remote}
  `.execute(tx);
}

/** Uids that a remote shares with others. */
export async function sharedUids(tx: Db, remote: string): Promise<string[]> {
  const { rows } = await sql<{ uid: string }>`
    select uid from remote_member where remote_url = ${remote} and missing_since is null
    intersect select uid from remote_member where remote_url <> ${remote} and missing_since is null
  `.execute(tx);
  return rows.map(({ uid }) => uid);
}

/** Priorities changed: some of these entities may belong to another remote now. */
export async function reassign(tx: Db, which: RawBuilder<boolean>): Promise<void> {
  await sql`
    update entity set owner_url = ${rightfulOwner}, made_of = null
    where ${which} and owner_url is distinct from ${rightfulOwner}
  `.execute(tx);
}
