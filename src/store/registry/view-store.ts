// Stores views of the registry, which are saved filters.
import type { RegistryView } from '../../registry/contract.ts';
import type { ViewFilter, ViewStore } from '../../registry/store.ts';
import type { Dialect } from '../dialects/dialect.ts';
import { isFindable } from './registry-store.ts';

export function createViewStore({ lookup, write }: Dialect): ViewStore {
  const views = () => lookup.selectFrom('registry_view').selectAll();
  const shown = ({
    filter,
    ...view
  }: Pick<RegistryView, 'name' | 'description'> & { filter: string }): RegistryView => ({
    ...view,
    ...(JSON.parse(filter) as ViewFilter),
  });
  return {
    list: async () => (await views().orderBy('name').execute()).map(shown),

    async get(name) {
      if (!isFindable(name)) return undefined;
      const row = await views().where('name', '=', name).executeTakeFirst();
      return row && shown(row);
    },

    async save({ name, description, ...filter }) {
      const row = { name, description, filter: JSON.stringify(filter) };
      await write
        .insertInto('registry_view')
        .values(row)
        .onConflict((conflict) => conflict.column('name').doUpdateSet(row))
        .execute();
    },

    async remove(name) {
      const { numDeletedRows } = await write.deleteFrom('registry_view').where('name', '=', name).executeTakeFirst();
      return numDeletedRows > 0n;
    },
  };
}
