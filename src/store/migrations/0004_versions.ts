// The versions of a name come from the index alone, however many there are.
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
