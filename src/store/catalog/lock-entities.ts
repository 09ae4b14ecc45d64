// Locks entities, which serializes transactions that change the same entities or their memberships.
import type { Db, Queries } from '../dialects/dialect.ts';

/**
 * Returns the uids that exist and locks their rows until the transaction ends. Call it before changing anything else; it locks
 * in uid order, which prevents deadlocks.
 */
export async function lockEntities(
  tx: Db,
  uids: readonly string[],
  { isOneOf, forUpdate }: Pick<Queries, 'isOneOf' | 'forUpdate'>,
): Promise<Set<string>> {
  const rows = await tx
    .selectFrom('entity')
    .select('uid')
    .where(isOneOf('uid', uids))
    .orderBy('uid')
    .modifyEnd(forUpdate)
    .execute();
  return new Set(rows.map(({ uid }) => uid));
}

/** Returns false when the remote is not stored. A removal waits for this transaction, then removes its rows. Call after `lockEntities`. */
export async function lockRemote(tx: Db, remote: string, { forUpdate }: Pick<Queries, 'forUpdate'>): Promise<boolean> {
  const row = await tx
    .selectFrom('remote')
    .select('url')
    .where('url', '=', remote)
    .modifyEnd(forUpdate)
    .executeTakeFirst();
  return row !== undefined;
}
