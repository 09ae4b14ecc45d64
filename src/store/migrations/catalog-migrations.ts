// Migrations of entities, their manifests and vectors, and of the record of changes.
import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import type { Migration } from 'kysely/migration';
import type { Dialect } from '../dialects/dialect.ts';

/** 0001: creates the catalog: entities, their filter values, and the revision that increases with every write. */
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

/** 0004: adds an index that finds all versions of a name without reading the table. */
export function versions(): Migration {
  return {
    async up(db) {
      await db.schema
        .createIndex('entity_versions')
        .on('entity')
        .columns(['type', 'name', 'version_key', 'uid', 'version', 'status'])
        .execute();
      await db.schema.dropIndex('entity_by_type_name').execute();
    },
  };
}

/** 0005: adds vectors for semantic search, keyed by model and digest of the text. */
export function search({ byteOrderedText }: Dialect): Migration {
  return {
    async up(db) {
      await db.schema
        .createTable('text_vector')
        .addColumn('model', byteOrderedText, (column) => column.notNull())
        .addColumn('digest', byteOrderedText, (column) => column.notNull())
        // Bytes on both engines: SQLite stores them unchanged in a column of any type.
        .addColumn('value', 'bytea', (column) => column.notNull())
        .addPrimaryKeyConstraint('text_vector_key', ['model', 'digest'])
        .execute();
    },
  };
}

/** 0006: records which entities each revision changed, so that in-memory data can follow without a full read. */
export function changes({ byteOrderedText }: Dialect): Migration {
  return {
    async up(db) {
      // No foreign key to `entity`: a deletion is a change too.
      await db.schema
        .createTable('catalog_change')
        .addColumn('revision', 'integer', (column) => column.notNull())
        .addColumn('uid', byteOrderedText, (column) => column.notNull())
        .addPrimaryKeyConstraint('catalog_change_key', ['revision', 'uid'])
        .execute();
    },
  };
}

/** 0007: drops the facet rows: filters run in memory, and unused rows made every save slower. */
export function noFacetRows(): Migration {
  return {
    async up(db) {
      await db.schema.dropTable('entity_facet').execute();
    },
  };
}

/** 0015: adds a random stamp to each revision, so that a saved index can be matched with the history of this catalog. */
export const revisionStamps: Migration = {
  async up(db) {
    await db.schema.alterTable('catalog_change').addColumn('stamp', 'text').execute();
    await sql`update catalog_change set stamp = ${randomUUID()} where uid = ''`.execute(db);
  },
};

/** 0016: moves manifests out of the entity rows that lists and searches read; these rows become a third as wide. */
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
