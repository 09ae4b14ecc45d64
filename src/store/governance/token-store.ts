// Stores tokens, on both engines.
import type { Selectable } from 'kysely';
import type { Role } from '../../access/contract.ts';
import type { StoredToken, TokenStore } from '../../access/store.ts';
import type { Dialect } from '../dialects/dialect.ts';
import type { AccessTokenTable } from '../tables.ts';

export function createTokenStore({ lookup, write }: Dialect): TokenStore {
  return {
    async add({ name, role, scope, createdAt, createdBy, expiresAt }, digest) {
      const { numInsertedOrUpdatedRows } = await write
        .insertInto('access_token')
        .values({
          ...{ name, digest, role, scope: JSON.stringify(scope) },
          ...{ created_at: createdAt, created_by: createdBy, expires_at: expiresAt },
        })
        .onConflict((conflict) => conflict.doNothing())
        .executeTakeFirst();
      return (numInsertedOrUpdatedRows ?? 0n) > 0n;
    },

    async find(digest) {
      const row = await lookup.selectFrom('access_token').selectAll().where('digest', '=', digest).executeTakeFirst();
      return row && tokenFromRow(row);
    },

    async list() {
      const rows = await lookup.selectFrom('access_token').selectAll().orderBy('name').execute();
      return rows.map(tokenFromRow);
    },

    async remove(name) {
      const { numDeletedRows } = await write.deleteFrom('access_token').where('name', '=', name).executeTakeFirst();
      return numDeletedRows > 0n;
    },
  };
}

function tokenFromRow(row: Selectable<AccessTokenTable>): StoredToken {
  return {
    name: row.name,
    role: row.role as Role,
    scope: JSON.parse(row.scope),
    createdAt: row.created_at,
    createdBy: row.created_by,
    expiresAt: row.expires_at,
  };
}
