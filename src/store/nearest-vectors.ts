// The nearest vectors by the database's own index, where it has the extension for that.
import { createHash } from 'node:crypto';
import { sql } from 'kysely';
import type { NearestVectors, StoredVector } from '../search/search-index.ts';
import type { Dialect } from './dialects/dialect.ts';

export interface NearestVectorIndex {
  /** Makes the index of a model before its first vectors come; those of another size, from before it changed under its name, are left out from then on. */
  prepare(model: string, dimensions: number): Promise<void>;
  /** Takes in vectors that have been stored. */
  adopt(model: string, vectors: readonly StoredVector[]): Promise<void>;
  find: NearestVectors;
}

/** The extension looks at so many while it walks through its graph: the more, the fewer are missed. */
const LOOKED_AT = 1000;
/** The extension has no graph for longer vectors; they are all compared instead. */
const LONGEST_IN_GRAPH = 2000;

/** Undefined where there is no such extension. */
export async function createNearestVectors(dialect: Dialect): Promise<NearestVectorIndex | undefined> {
  if (!(await dialect.hasVectorColumn?.())) return undefined;
  const { write, isOneOf } = dialect;
  const prepared = new Set<string>();

  return {
    async prepare(model, dimensions) {
      if (prepared.has(model)) return;
      const name = `text_vector_nearest_${createHash('sha256').update(model).digest('hex').slice(0, 12)}`;
      await write.transaction().execute(async (tx) => {
        const { rows: others } = await sql`
          select 1 from text_vector where model = ${model} and vector_dims(embedding) <> ${dimensions} limit 1
        `.execute(tx);
        if (others.length > 0) {
          // One vector of another size would make every comparison fail, and so would an index that expects it.
          await sql`drop index if exists ${sql.ref(name)}`.execute(tx);
          await sql`
            update text_vector set embedding = null where model = ${model} and vector_dims(embedding) <> ${dimensions}
          `.execute(tx);
        }
        if (dimensions > LONGEST_IN_GRAPH) return;
        // Literals: neither the size of a vector nor the condition of an index can be a parameter.
        await sql`
          create index if not exists ${sql.ref(name)} on text_vector
          using hnsw ((embedding::vector(${sql.lit(dimensions)})) vector_ip_ops) where model = ${sql.lit(model)}
        `.execute(tx);
      });
      prepared.add(model);
    },

    async adopt(model, vectors) {
      const rows = vectors.map(({ digest, vector }) => ({ digest, text: textOf(vector) }));
      await sql`
        update text_vector set embedding = incoming.text::vector
        from json_to_recordset(${JSON.stringify(rows)}::json) as incoming(digest text, text text)
        where text_vector.model = ${model} and text_vector.digest = incoming.digest
      `.execute(write);
    },

    async find({ model, vector, limit, among, alsoOf }) {
      const size = sql.lit(vector.length);
      const wanted = sql`${textOf(vector)}::vector(${size})`;
      const product = sql`embedding::vector(${size}) <#> ${wanted}`;
      // With a filter every vector is compared: a walk through the graph would end before it has met enough of them.
      const within = among ? sql`and ${isOneOf('digest', among)}` : sql``;
      return write.transaction().execute(async (tx) => {
        await sql`select set_config('hnsw.ef_search', ${String(LOOKED_AT)}, true)`.execute(tx);
        const { rows } = await sql<{ digest: string; product: number }>`
          (select digest, ${product} as product from text_vector
           where model = ${sql.lit(model)} and embedding is not null ${within} order by ${product} limit ${limit})
          union
          (select digest, ${product} as product from text_vector
           where model = ${sql.lit(model)} and embedding is not null and ${isOneOf('digest', alsoOf)})
        `.execute(tx);
        // The extension's operator gives the negative product, which is the smaller the nearer.
        return rows
          .map((row) => ({ digest: row.digest, cosine: -Number(row.product) }))
          .sort((a, b) => b.cosine - a.cosine);
      });
    },
  };
}

function textOf(vector: Float32Array): string {
  return `[${vector.join(',')}]`;
}
