// Migrations of the entries and views of the MCP registry.
import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import type { Migration } from 'kysely/migration';
import type { Dialect } from '../dialects/dialect.ts';

/** 0021: adds the entries of the MCP registry: one row per name and version, and a table with the finished documents. */
export function registry({ byteOrderedText }: Dialect): Migration {
  return {
    async up(db) {
      await db.schema
        .createTable('registry_state')
        .addColumn('id', 'integer', (column) => column.primaryKey())
        .addColumn('revision', 'integer')
        .addColumn('changed_at', 'text')
        .execute();
      await sql`insert into registry_state (id) values (1)`.execute(db);

      await db.schema
        .createTable('registry_member')
        .addColumn('uid', byteOrderedText, (column) => column.primaryKey())
        .addColumn('name', byteOrderedText, (column) => column.notNull())
        .addColumn('version', byteOrderedText, (column) => column.notNull())
        .execute();
      await db.schema
        .createIndex('registry_member_of')
        .on('registry_member')
        .columns(['name', 'version', 'uid'])
        .execute();

      await db.schema
        .createTable('registry_server')
        .addColumn('name', byteOrderedText, (column) => column.notNull())
        .addColumn('version', byteOrderedText, (column) => column.notNull())
        .addColumn('name_key', byteOrderedText, (column) => column.notNull())
        .addColumn('status', 'text', (column) => column.notNull())
        .addColumn('status_message', 'text')
        .addColumn('status_changed_at', 'text', (column) => column.notNull())
        .addColumn('published_at', 'text', (column) => column.notNull())
        .addColumn('updated_at', byteOrderedText, (column) => column.notNull())
        .addColumn('is_latest', 'integer', (column) => column.notNull())
        .addColumn('digest', 'text', (column) => column.notNull())
        .addPrimaryKeyConstraint('registry_server_pk', ['name', 'version'])
        .execute();
      await sql`create index registry_server_latest on registry_server (name, version) where is_latest = 1`.execute(db);

      await db.schema
        .createTable('registry_document')
        .addColumn('name', byteOrderedText, (column) => column.notNull())
        .addColumn('version', byteOrderedText, (column) => column.notNull())
        .addColumn('server', 'text', (column) => column.notNull())
        .addColumn('about', 'text', (column) => column.notNull())
        .addPrimaryKeyConstraint('registry_document_pk', ['name', 'version'])
        .execute();
    },
  };
}

/** 0022: adds registry views, and marks the entries that the policy allows. */
export function registryViews({ byteOrderedText }: Dialect): Migration {
  return {
    async up(db) {
      await db.schema
        .createTable('registry_view')
        .addColumn('name', byteOrderedText, (column) => column.primaryKey())
        .addColumn('description', 'text', (column) => column.notNull())
        .addColumn('filter', 'text', (column) => column.notNull())
        .execute();
      for (const flag of ['is_approved', 'is_latest_approved']) {
        await db.schema
          .alterTable('registry_server')
          .addColumn(flag, 'integer', (column) => column.notNull().defaultTo(0))
          .execute();
      }
      // Forces a rewrite of the entries, which lack the new columns.
      await sql`update registry_server set digest = ''`.execute(db);
      await sql`update registry_state set revision = null`.execute(db);
    },
  };
}

/** 0025: gives the hub an id, so that it recognizes its own entries when another hub lists them. */
export function hubId(): Migration {
  return {
    async up(db) {
      await db.schema.alterTable('registry_state').addColumn('hub_id', 'text').execute();
      await sql`update registry_state set hub_id = ${randomUUID()}`.execute(db);
    },
  };
}

/** 0026: removes entries that must not be installed from the `approved` view, and records that they were in it. */
export function registryApproval(): Migration {
  return {
    async up(db) {
      for (const [table, flag] of [
        ['entity', 'is_install_refused'],
        ['registry_server', 'was_approved'],
      ] as const) {
        await db.schema
          .alterTable(table)
          .addColumn(flag, 'integer', (column) => column.notNull().defaultTo(0))
          .execute();
      }
      await sql`update registry_server set was_approved = 1 where is_approved = 1 or status = 'deleted'`.execute(db);
      await db.schema.createIndex('registry_server_key').on('registry_server').column('name_key').execute();
      // Re-applies the rules, which fills the new column of entities.
      await sql`update policy set version = version + 1 where digest is not null`.execute(db);
    },
  };
}

/** 0027: gives each registry entry one owner, and only content that clients can read: all entries are rebuilt. */
export const registryOwners: Migration = {
  async up(db) {
    await sql`update registry_state set revision = null`.execute(db);
  },
};
