// Records the start and the end of each audited change separately; adds indexes for the log's filters.
import { sql } from 'kysely';
import type { Migration } from 'kysely/migration';
import type { Dialect } from '../dialects/dialect.ts';

export function auditEnds({ byteOrderedText }: Dialect): Migration {
  return {
    async up(db) {
      await db.schema
        .createTable('audit_end')
        .addColumn('id', byteOrderedText, (column) => column.primaryKey())
        .addColumn('ended_at', 'text', (column) => column.notNull())
        .addColumn('outcome', 'text', (column) => column.notNull())
        .addColumn('result', 'text')
        .execute();
      await sql`insert into audit_end (id, ended_at, outcome, result) select id, at, outcome, detail from audit_entry`.execute(
        db,
      );
      const entries = () => db.schema.alterTable('audit_entry');
      await entries().dropColumn('outcome').execute();
      await entries().dropColumn('detail').execute();
      await entries().addColumn('detail', 'text').execute();
      await entries()
        .addColumn('caller_kind', 'text', (column) => column.notNull().defaultTo('token'))
        .execute();
      await entries().addColumn('caller_id', 'text').execute();
      await entries().addColumn('folded_subject', 'text').execute();
      await sql`update audit_entry set folded_subject = lower(subject)`.execute(db);
      const index = (name: string) => db.schema.createIndex(name);
      await index('audit_by_caller').on('audit_entry').columns(['caller', 'id']).execute();
      await index('audit_by_operation').on('audit_entry').columns(['operation', 'id']).execute();
      await index('audit_by_outcome').on('audit_end').columns(['outcome', 'id']).execute();
    },
  };
}
