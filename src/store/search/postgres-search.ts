// Opens the search in PostgreSQL: its tables, its vectors, and its read connections.
import { sql } from 'kysely';
import type { DatabaseAddress } from '../../lib/net/address.ts';
import type { SearchIndex } from '../../search/engine/search-index.ts';
import type { SearchReads, SearchTables, SearchVectors } from '../../search/postgres/store.ts';
import type { Dialect, DialectDependencies } from '../dialects/dialect.ts';
import type { Revision } from '../revision.ts';
import { createSearchReads, SEARCH_SETTINGS } from './postgres-search-reads.ts';
import { createSearchTables } from './postgres-search-tables.ts';
import { openSearchVectors } from './postgres-search-vectors.ts';
import { createSearchIndex } from './search-index.ts';

export interface PostgresSearch {
  index: SearchIndex;
  tables: SearchTables;
  vectors: SearchVectors;
  reads: SearchReads;
  close(): Promise<void>;
}

/** Indexing a million vectors takes minutes. */
const BUILD = { settings: { statement_timeout: '0' }, timeoutMs: 6 * 3_600_000 };

type PostgresAddress = Extract<DatabaseAddress, { engine: 'postgres' }>;

export async function openPostgresSearch(
  dialect: Dialect,
  { url, readUrl, poolSize }: PostgresAddress,
  { revision, metrics }: DialectDependencies & { revision: Revision },
): Promise<PostgresSearch> {
  const tables = createSearchTables(dialect, revision);
  await tables.prepare();
  const { openConnections } = await import('../dialects/postgres.ts');
  const builder = openConnections({ url, poolSize: 1 }, { metrics, ...BUILD });
  const vectors = await openSearchVectors(dialect, builder.db);
  const reader = openConnections({ url: readUrl ?? url, poolSize }, { metrics, settings: SEARCH_SETTINGS });
  return {
    index: createSearchIndex(dialect, revision),
    tables,
    vectors,
    reads: createSearchReads(reader.db),
    close: async () => void (await Promise.all([builder.close(), reader.close()])),
  };
}

/** Whether the database server has pgvector. */
export async function hasPgvector({ read }: Dialect): Promise<boolean> {
  const { rows } = await sql`select 1 from pg_available_extensions where name = 'vector'`.execute(read);
  return rows.length > 0;
}
