// Views: subsets of the registry with their own address, such as the servers that a team may use.
import { HubError } from '../errors.ts';
import { checkedInput } from '../lib/checked-input.ts';
import { RegistryView, type ViewList, type ViewRemoved } from './contract.ts';
import type { ViewFilter, ViewStore } from './store.ts';

export interface Views {
  list(): Promise<ViewList>;
  /** @throws HubError `invalid_request`; `name_taken` for the built-in view. */
  save(view: RegistryView): Promise<RegistryView>;
  /** @throws HubError `view_not_found` */
  remove(name: string): Promise<ViewRemoved>;
  /** @throws HubError `view_not_found` */
  filterOf(name: string): Promise<ViewFilter>;
}

/** The built-in view: servers that the policy allows to be installed and registered. */
const APPROVED: RegistryView = {
  name: 'approved',
  description: 'What the policy of this hub allows.',
  names: [],
  approved: true,
};

export function createViews(store: ViewStore): Views {
  return {
    list: async () => ({ items: [APPROVED, ...(await store.list())] }),

    async save(given) {
      const view = checkedInput(RegistryView, given);
      if (view.name === APPROVED.name)
        throw new HubError(
          'name_taken',
          "Every hub has the view 'approved', which follows its policy: choose another name.",
        );
      await store.save(view);
      return view;
    },

    async remove(name) {
      if (!(await store.remove(name))) throw notFound(name);
      return { removed: true, name };
    },

    async filterOf(name) {
      const view = name === APPROVED.name ? APPROVED : await store.get(name);
      if (!view) throw notFound(name);
      return { names: view.names, approved: view.approved };
    },
  };
}

function notFound(name: string): HubError {
  return new HubError('view_not_found', `This registry has no view '${name.slice(0, 100)}'.`);
}
