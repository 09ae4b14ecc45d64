// Creates the catalog: entities, their filter values, and the revision that increases with every write.
import { sql } from 'kysely';
import type { Migration } from 'kysely/migration';
import type { Dialect } from '../dialects/dialect.ts';

export function initial({ byteOrderedText }: Dialect): Migration {
  return {
    async up(db) {
      await db.schema
        .createTable('entity')
        .addColumn('uid', byteOrderedText, (column) => column.primaryKey())
        .addColumn('type', 'text', (column) => column.notNull())
        .addColumn('slug', byteOrderedText, (column) => column.notNull())
        .addColumn('version', 'text', (column) => column.notNull())
        .addColumn('version_key', byteOrderedText, (column) => column.notNull())
        .addColumn('name', byteOrderedText, (column) => column.notNull())
        .addColumn('title', 'text')
        .addColumn('summary', 'text', (column) => column.notNull())
        .addColumn('haystack', 'text', (column) => column.notNull())
        .addColumn('status', 'text', (column) => column.notNull())
        .addColumn('quality', 'double precision', (column) => column.notNull())
        .addColumn('published_at', byteOrderedText)
        .addColumn('source_url', 'text')
        .addColumn('manifest', 'text', (column) => column.notNull())
        .addColumn('manifest_digest', 'text', (column) => column.notNull())
        .addColumn('facets', 'text', (column) => column.notNull())
        .addColumn('mcp_registration', 'text')
        .addColumn('mapping', 'integer', (column) => column.notNull())
        .addColumn('created_at', byteOrderedText, (column) => column.notNull())
        .addColumn('updated_at', byteOrderedText, (column) => column.notNull())
        .addColumn('gateway_registered_at', byteOrderedText)
        .addColumn('gateway_error', 'text')
        .execute();
      // Each serves one query: the newest version of a slug, the versions of a name, and the four sort orders of the list.
      await db.schema.createIndex('entity_by_slug').on('entity').columns(['type', 'slug', 'version_key']).execute();
      await db.schema
        .createIndex('entity_by_type_name')
        .on('entity')
        .columns(['type', 'name', 'version_key'])
        .execute();
      await db.schema.createIndex('entity_by_name').on('entity').columns(['name', 'uid']).execute();
      await db.schema.createIndex('entity_by_updated_at').on('entity').columns(['updated_at', 'uid']).execute();
      await db.schema.createIndex('entity_by_created_at').on('entity').columns(['created_at', 'uid']).execute();
      await db.schema.createIndex('entity_by_quality').on('entity').columns(['quality', 'uid']).execute();

      await db.schema
        .createTable('entity_facet')
        .addColumn('uid', byteOrderedText, (column) => column.notNull().references('entity.uid').onDelete('cascade'))
        .addColumn('facet', 'text', (column) => column.notNull())
        .addColumn('value', byteOrderedText, (column) => column.notNull())
        .addPrimaryKeyConstraint('entity_facet_key', ['uid', 'facet', 'value'])
        .execute();
      await db.schema
        .createIndex('entity_facet_by_value')
        .on('entity_facet')
        .columns(['facet', 'value', 'uid'])
        .execute();

      await db.schema
        .createTable('catalog_state')
        .addColumn('id', 'integer', (column) => column.primaryKey().check(sql`id = 1`))
        .addColumn('revision', 'integer', (column) => column.notNull())
        .execute();
      await sql`insert into catalog_state (id, revision) values (1, 0)`.execute(db);
    },
  };
}
