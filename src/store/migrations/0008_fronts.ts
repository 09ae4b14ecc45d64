// Records which of several manifests an entity was built from, and which entities must be rebuilt.
import type { Migration } from 'kysely/migration';
import type { Dialect } from '../dialects/dialect.ts';

export function fronts({ byteOrderedText }: Dialect): Migration {
  return {
    async up(db) {
      // Separate from `remote_member`: one remote writes work for another here, and must not wait for locks on the other's rows.
      await db.schema
        .createTable('remote_front')
        .addColumn('remote_url', byteOrderedText, (column) => column.notNull())
        .addColumn('uid', byteOrderedText, (column) => column.notNull())
        .addColumn('manifest_url', byteOrderedText)
        .addPrimaryKeyConstraint('remote_front_key', ['remote_url', 'uid'])
        .execute();
    },
  };
}
