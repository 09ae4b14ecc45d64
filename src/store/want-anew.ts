// Entities that their remotes must make anew, because a manifest of them is gone or something else is in its place.
import { type RawBuilder, sql } from 'kysely';
import type { Db } from './dialects/dialect.ts';

/** Of these members, whoever lists the same entities makes them anew; in order, so that two remotes never wait for each other in a circle. */
export async function wantAnew(tx: Db, which: RawBuilder<boolean>): Promise<void> {
  await sql`
    insert into remote_front (remote_url, uid, manifest_url)
    select distinct remote_url, uid, cast(null as text) from remote_member
    where missing_since is null and ${which}
    order by remote_url, uid
    on conflict (remote_url, uid) do update set manifest_url = null
  `.execute(tx);
}
