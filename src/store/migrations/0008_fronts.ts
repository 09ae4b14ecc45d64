// Records which of several manifests an entity was built from, and which entities must be built again.
import type { Migration } from 'kysely/migration';
import type { Dialect } from '../dialects/dialect.ts';

export function fronts({ byteOrderedText }: Dialect): Migration {
  return {
    async up(db) {
      // Apart from `remote_member`: one remote notes here what another one has to do, and would wait there for its rows.
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
