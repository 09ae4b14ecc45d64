// Stores tokens, on both engines.
import type { Selectable } from 'kysely';
import type { Role } from '../../access/contract.ts';
import type { StoredToken, TokenStore } from '../../access/store.ts';
import type { Dialect } from '../dialects/dialect.ts';
import type { AccessTokenTable } from '../tables.ts';

export function createTokenStore({ lookup, write }: Dialect): TokenStore {
  return {
    async add(token, digest) {
      const { numInsertedOrUpdatedRows } = await write
        .insertInto('access_token')
        .values({ ...token, digest, scope: JSON.stringify(token.scope) })
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

function tokenFromRow({ digest: _, role, scope, ...token }: Selectable<AccessTokenTable>): StoredToken {
  return { ...token, role: role as Role, scope: JSON.parse(scope) };
}
