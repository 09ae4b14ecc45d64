// Moves manifests out of the entity rows that lists and searches read; these rows become a third as wide.
import { sql } from 'kysely';
import type { Migration } from 'kysely/migration';
import type { Dialect } from '../dialects/dialect.ts';

export function manifests({ byteOrderedText }: Dialect): Migration {
  return {
    async up(db) {
      await db.schema
        .createTable('manifest')
        .addColumn('uid', byteOrderedText, (column) => column.primaryKey().references('entity.uid').onDelete('cascade'))
        .addColumn('text', 'text', (column) => column.notNull())
        .execute();
      await sql`insert into manifest (uid, text) select uid, manifest from entity order by uid`.execute(db);
      await db.schema.alterTable('entity').dropColumn('manifest').execute();
    },
  };
}
