// Search vectors in PostgreSQL, where pgvector is installed.
import { sql } from 'kysely';
import type { SearchVectors } from '../../search/postgres/store.ts';
import type { Db, Dialect } from '../dialects/dialect.ts';

/** pgvector cannot index longer vectors; they are compared one by one. */
const LONGEST_IN_GRAPH = 4_000;

/** Adds the vector column if pgvector is available now. `builder` has no statement timeout. */
export async function openSearchVectors({ write }: Dialect, builder: Db): Promise<SearchVectors> {
  const isAvailable = await write.transaction().execute(addColumn);
  return {
    isAvailable,

    async model() {
      const { rows } = await sql<{ model: string | null }>`select model from search_state`.execute(write);
      return rows[0]?.model ?? null;
    },

    choose: (model) =>
      write.transaction().execute(async (tx) => {
        await sql`update search_state set model = ${model}`.execute(tx);
        await sql`update search_vector set model = null where model <> ${model}`.execute(tx);
      }),

    async missing(limit, except) {
      const { rows } = await sql<{ family: string; digest: string; uid: string; name: string }>`
        select family, digest, uid, name from search_vector join search_family on id = family
        where model is null and digest <> all(${except}::text[]) order by family limit ${limit}
      `.execute(write);
      return rows.map((row) => ({ ...row, family: Number(row.family) }));
    },

    async adopt(model, vectors) {
      const rows = vectors.map(({ family, digest, vector }) => ({ family, digest, vector: `[${vector.join(',')}]` }));
      await sql`
        update search_vector as stored set model = ${model}, embedding = incoming.vector::halfvec
        from json_to_recordset(${JSON.stringify(rows)}::json) as incoming(family bigint, digest text, vector text)
        where stored.family = incoming.family and stored.digest = incoming.digest
      `.execute(write);
    },

    async buildIndex(model, dimensions) {
      if (dimensions > LONGEST_IN_GRAPH) return;
      const { rows } = await sql<{ indexdef: string }>`
        select indexdef from pg_indexes join pg_index on indexrelid = to_regclass(indexname)
        where indexname = 'search_vector_nearest' and schemaname = current_schema() and indisvalid
      `.execute(write);
      const definition = rows[0]?.indexdef ?? '';
      if (definition.includes(`halfvec(${dimensions})`) && definition.includes(model)) return;
      await sql`drop index if exists search_vector_nearest`.execute(builder);
      // Until the database's next automatic run, searches would use plans for empty tables, which take twice as long.
      await sql`vacuum (analyze) search_family, search_entity, search_name, search_word, search_vector`.execute(
        builder,
      );
      // Concurrently, so that the catalog can change meanwhile. Literals, because an index definition takes no parameters.
      await sql`
        create index concurrently search_vector_nearest on search_vector
        using hnsw ((embedding::halfvec(${sql.lit(dimensions)})) halfvec_ip_ops) where model = ${sql.lit(model)}
      `.execute(builder);
    },
  };
}

async function addColumn(tx: Db): Promise<boolean> {
  await sql`select pg_advisory_xact_lock(hashtextextended('search tables', 0))`.execute(tx);
  // A separate block contains the error where the extension is not available.
  await sql`
    do $$ begin
      create extension if not exists vector;
      alter table search_vector add column if not exists embedding halfvec;
    exception when others then null;
    end $$
  `.execute(tx);
  const { rows } = await sql`
    select 1 from pg_attribute
    where attrelid = to_regclass('search_vector') and attname = 'embedding' and not attisdropped
  `.execute(tx);
  return rows.length > 0;
}
