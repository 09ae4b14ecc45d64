// Adds the owner of an entity, and operators' decisions about entities and remotes.
import { sql } from 'kysely';
import type { Migration } from 'kysely/migration';
import type { Dialect } from '../dialects/dialect.ts';

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
