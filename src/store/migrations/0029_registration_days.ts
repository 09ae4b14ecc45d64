// Adds the number of registrations of each day, which does not change when servers leave the gateway.
import { sql } from 'kysely';
import type { Migration } from 'kysely/migration';

export const registrationDays: Migration = {
  async up(db) {
    await db.schema
      .createTable('registration_day')
      .addColumn('day', 'text', (column) => column.primaryKey())
      .addColumn('registered', 'integer', (column) => column.notNull())
      .execute();
    await sql`
      insert into registration_day (day, registered)
      select substr(gateway_registered_at, 1, 10), count(*) from entity
      where gateway_registered_at is not null
      group by 1
    `.execute(db);
  },
};
