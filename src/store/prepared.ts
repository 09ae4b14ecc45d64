// Compiles a query once and runs it with different values: for reads by key, which take less time than building their query.
import type { CompiledQuery } from 'kysely';
import type { Db } from './dialects/dialect.ts';

/** `build` is called once, with placeholders: it must not look at the values, and must pass each on as a whole. */
export function prepared<Values extends string[], Row>(
  db: Db,
  build: (...values: Values) => { compile(): CompiledQuery<Row> },
): (...values: Values) => Promise<Row[]> {
  let compiled: CompiledQuery<Row> | undefined;
  const placeholders = Array.from({ length: build.length }, (_, position) => `placeholder ${position}`) as Values;
  return async (...values) => {
    compiled ??= build(...placeholders).compile();
    const parameters = compiled.parameters.map((value) => {
      const position = placeholders.indexOf(value as string);
      return position < 0 ? value : values[position];
    });
    return (await db.executeQuery<Row>({ ...compiled, parameters })).rows;
  };
}
