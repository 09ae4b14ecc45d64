// The catalog store, on both engines.
import type { CatalogStore } from '../../catalog/store.ts';
import type { Dialect } from '../dialects/dialect.ts';
import type { Admission } from '../governance/admission.ts';
import type { Revision } from '../revision.ts';
import { readEntities } from './read-entities.ts';
import { writeEntities } from './write-entities.ts';

/** Used when a store is opened without a policy. */
const NO_RULES: Pick<Admission, 'forWriting'> = { forWriting: async () => async () => new Map() };

export function createCatalogStore(
  dialect: Dialect,
  revision: Revision,
  admission: Pick<Admission, 'forWriting'> = NO_RULES,
): CatalogStore {
  return {
    ...readEntities(dialect),
    ...writeEntities(dialect, revision, admission),
    revision: () => revision.current(),
  };
}
