// Filters are answered from memory; rows that nobody reads made every save slower.
import type { Migration } from 'kysely/migration';

export function noFacetRows(): Migration {
  return {
    async up(db) {
      await db.schema.dropTable('entity_facet').execute();
    },
  };
}
