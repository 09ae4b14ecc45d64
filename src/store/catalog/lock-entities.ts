// Locks entities, so that transactions that change the same entities or their memberships take turns.
import type { Db, Dialect } from '../dialects/dialect.ts';

/**
 * Which of these there are; the others stay away from them until the transaction ends. It comes before anything else that is
 * changed, and in the order of uids, so that two transactions never wait for each other in a circle.
 */
export async function lockEntities(
  tx: Db,
  uids: readonly string[],
  { isOneOf, forUpdate }: Pick<Dialect, 'isOneOf' | 'forUpdate'>,
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

/** False when the remote is not stored. Its removal waits for this transaction, and then removes what was written. After `lockEntities`. */
export async function lockRemote(tx: Db, remote: string, { forUpdate }: Pick<Dialect, 'forUpdate'>): Promise<boolean> {
  const row = await tx
    .selectFrom('remote')
    .select('url')
    .where('url', '=', remote)
    .modifyEnd(forUpdate)
    .executeTakeFirst();
  return row !== undefined;
}
