// Migrations of remotes, and of the owners of entities.
import { sql } from 'kysely';
import type { Migration } from 'kysely/migration';
import type { Dialect } from '../dialects/dialect.ts';

/** 0002: adds remotes: the ingested indexes, the manifests each one lists, refused manifests, and the ingest history. */
export function remotes({ byteOrderedText }: Dialect): Migration {
  return {
    async up(db) {
      await db.schema.alterTable('entity').addColumn('missing_since', byteOrderedText).execute();

      await db.schema
        .createTable('remote')
        .addColumn('url', byteOrderedText, (column) => column.primaryKey())
        .addColumn('created_at', byteOrderedText, (column) => column.notNull())
        .addColumn('last_sync_at', byteOrderedText)
        .addColumn('last_error', 'text')
        .addColumn('etag', 'text')
        .addColumn('last_modified', 'text')
        .addColumn('changes_since', 'text')
        .addColumn('gone_through_at', 'text')
        .execute();

      // No foreign key to `remote`: an index may be ingested without being a stored remote.
      await db.schema
        .createTable('remote_member')
        .addColumn('remote_url', byteOrderedText, (column) => column.notNull())
        .addColumn('manifest_url', byteOrderedText, (column) => column.notNull())
        .addColumn('uid', byteOrderedText, (column) => column.notNull().references('entity.uid').onDelete('cascade'))
        .addColumn('etag', 'text')
        .addColumn('last_modified', 'text')
        .addColumn('digest', 'text', (column) => column.notNull())
        .addColumn('missing_since', byteOrderedText)
        .addPrimaryKeyConstraint('remote_member_key', ['remote_url', 'manifest_url'])
        .execute();
      await db.schema.createIndex('remote_member_by_uid').on('remote_member').columns(['uid', 'remote_url']).execute();

      await db.schema
        .createTable('remote_rejection')
        .addColumn('remote_url', byteOrderedText, (column) => column.notNull())
        .addColumn('manifest_url', byteOrderedText, (column) => column.notNull())
        .addColumn('error', 'text', (column) => column.notNull())
        .addColumn('rejected_at', byteOrderedText, (column) => column.notNull())
        .addPrimaryKeyConstraint('remote_rejection_key', ['remote_url', 'manifest_url'])
        .execute();

      await db.schema
        .createTable('ingest_run')
        .addColumn('remote_url', byteOrderedText, (column) => column.notNull())
        .addColumn('started_at', byteOrderedText, (column) => column.notNull())
        .addColumn('run', 'text', (column) => column.notNull())
        .addPrimaryKeyConstraint('ingest_run_key', ['remote_url', 'started_at'])
        .execute();
      await db.schema
        .createIndex('ingest_run_by_start')
        .on('ingest_run')
        .columns(['started_at', 'remote_url'])
        .execute();
    },
  };
}

/** 0008: records which of several manifests an entity was built from, and which entities must be rebuilt. */
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

/** 0009: adds `remote.generation`, which tells a running ingest that the index must be read again. */
export function generation(): Migration {
  return {
    async up(db) {
      await db.schema
        .alterTable('remote')
        .addColumn('generation', 'text', (column) => column.notNull().defaultTo(''))
        .execute();
    },
  };
}

/** 0010: adds the owner of an entity, and operators' decisions about entities and remotes. */
export function ownership({ byteOrderedText }: Dialect): Migration {
  return {
    async up(db) {
      const addToEntity = (name: string, type: typeof byteOrderedText | 'text') =>
        db.schema.alterTable('entity').addColumn(name, type).execute();
      await addToEntity('owner_url', byteOrderedText);
      await addToEntity('made_of', byteOrderedText);
      await addToEntity('changed_at', byteOrderedText);
      await addToEntity('blocked_at', byteOrderedText);
      await addToEntity('blocked_reason', 'text');
      for (const [name, fallback] of [
        ['is_prerelease', 0],
        ['is_registrable', 1],
      ] as const) {
        await db.schema
          .alterTable('entity')
          .addColumn(name, 'integer', (column) => column.notNull().defaultTo(fallback))
          .execute();
      }
      await sql`
        update entity set owner_url = (
          select remote_url from remote_member as member
          where member.uid = entity.uid and member.missing_since is null
          order by case when member.manifest_url = entity.source_url then 0 else 1 end, remote_url
          limit 1
        )
      `.execute(db);
      // If several manifests of the owner describe an entity, the next ingest determines which one counts.
      await sql`
        update entity set made_of = (
          select max(manifest_url) from remote_member as member
          where member.uid = entity.uid and member.remote_url = entity.owner_url and member.missing_since is null
          having count(*) = 1
        )
        where not exists (
          select 1 from remote_front as front
          where front.uid = entity.uid and front.remote_url = entity.owner_url and front.manifest_url is null
        )
      `.execute(db);
      await sql`create index entity_to_remake on entity (owner_url) where made_of is null and owner_url is not null`.execute(
        db,
      );

      await db.schema.dropTable('remote_front').execute();
      await db.schema.dropIndex('entity_versions').execute();
      await db.schema
        .createIndex('entity_versions')
        .on('entity')
        .columns(['type', 'name', 'version_key', 'uid', 'version', 'status', 'blocked_at'])
        .execute();

      await db.schema.alterTable('remote').addColumn('name', byteOrderedText).execute();
      await db.schema
        .alterTable('remote')
        .addColumn('priority', 'integer', (column) => column.notNull().defaultTo(0))
        .execute();
      await db.schema
        .alterTable('remote')
        .addColumn('is_enabled', 'integer', (column) => column.notNull().defaultTo(1))
        .execute();
      await db.schema
        .alterTable('remote')
        .addColumn('is_self_contained', 'integer', (column) => column.notNull().defaultTo(0))
        .execute();
      await db.schema.createIndex('remote_by_name').unique().on('remote').column('name').execute();
    },
  };
}

/** 0013: adds the note of a remote's last run, which is shown with the remote. */
export const remoteNotes: Migration = {
  async up(db) {
    await db.schema.alterTable('remote').addColumn('last_note', 'text').execute();
    await db.schema
      .alterTable('remote')
      .addColumn('is_shrunk', 'integer', (column) => column.notNull().defaultTo(0))
      .execute();
  },
};
