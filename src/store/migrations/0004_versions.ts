// Adds an index that finds all versions of a name without reading the table.
import type { Migration } from 'kysely/migration';

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
