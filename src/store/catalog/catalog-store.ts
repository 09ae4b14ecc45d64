// The catalog store, on both engines.
import type { CatalogStore } from '../../catalog/store.ts';
import type { Dialect } from '../dialects/dialect.ts';
import { type Admission, NO_RULES } from '../governance/admission.ts';
import type { Revision } from '../revision.ts';
import { readEntities } from './read-entities.ts';
import { writeEntities } from './write-entities.ts';

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
