// Marks remotes whose index must be read completely next time, even if it did not change.
import { randomUUID } from 'node:crypto';
import type { Db, Queries } from '../dialects/dialect.ts';

/** A run in progress may have passed these entries already, so the index state that it saves at its end is discarded too. */
export async function forgetIndexes(
  tx: Db,
  remotes: readonly string[],
  { isOneOf, forUpdate }: Pick<Queries, 'isOneOf' | 'forUpdate'>,
): Promise<void> {
  const locked = tx
    .selectFrom('remote')
    .select('url')
    .where(isOneOf('url', remotes))
    .orderBy('url')
    .modifyEnd(forUpdate);
  await tx
    .updateTable('remote')
    .set({ etag: null, last_modified: null, changes_since: null, generation: randomUUID() })
    .where('url', 'in', locked)
    .execute();
}

/** Makes every remote that lists these entities provide them again. */
export async function forgetIndexesThatList(
  tx: Db,
  uids: readonly string[],
  dialect: Pick<Queries, 'isOneOf' | 'forUpdate'>,
): Promise<void> {
  const rows = await tx
    .selectFrom('remote_member')
    .select('remote_url')
    .distinct()
    .where(dialect.isOneOf('uid', uids))
    .execute();
  const remotes = rows.map(({ remote_url }) => remote_url);
  if (remotes.length > 0) await forgetIndexes(tx, remotes, dialect);
}
