// Reads the catalog's changes since a revision, for code that keeps part of the catalog in memory.
import { type Selectable, sql } from 'kysely';
import type { Dialect } from './dialects/dialect.ts';
import type { Revision } from './revision.ts';
import type { EntityTable } from './tables.ts';

interface Changes<Columns extends Column> {
  /** All changes up to this revision are included. */
  revision: number;
  uids: string[];
  /** The changed entities that still exist. */
  present: Row<Columns>[];
}

type Column = keyof EntityTable & string;
type Row<Columns extends Column> = Pick<Selectable<EntityTable>, Columns>;

/** Revisions read at a time; a single one may change a thousand entities. */
const REVISIONS_AT_ONCE = 4;

/** Blocked and hidden entities count as removed. Undefined when the changes are no longer stored; then read everything again. */
export async function changesAfter<Columns extends Column>(
  after: number,
  { read, revision }: Pick<Dialect, 'read'> & { revision: Revision },
  columns: readonly Columns[],
): Promise<Changes<Columns> | undefined> {
  const now = await revision.current();
  // A single statement, so that it sees a consistent state of the database.
  const { rows } = await sql<{ changed_at: number; changed: string; is_there: string | null } & Row<Columns>>`
    select catalog_change.revision as changed_at, catalog_change.uid as changed, entity.uid as is_there,
      ${sql.join(columns.map((column) => sql.ref(`entity.${column}`)))}
    from catalog_change left join entity on entity.uid = catalog_change.uid and entity.blocked_at is null and entity.is_hidden = 0
    where catalog_change.revision > ${after} and catalog_change.revision <= ${after + REVISIONS_AT_ONCE}
  `.execute(read);
  const known = new Set(rows.map(({ changed_at }) => changed_at));
  const last = Math.max(after, ...known);
  // A gap: the changes were deleted meanwhile, or an older hub did not record them.
  if (known.size < last - after || (last === after && now > after)) return undefined;
  const changed = [...new Map(rows.map((row) => [row.changed, row])).values()].filter((row) => row.changed !== '');
  return {
    revision: last,
    uids: changed.map((row) => row.changed),
    present: changed.filter((row) => row.is_there !== null),
  };
}
