// Sets up the database and the catalog in it.
import { createCatalog } from '../../catalog/catalog.ts';
import type { Config } from '../../config.ts';
import type { World } from '../../lib/world.ts';
import { admissionRules } from '../../policy/admission.ts';
import { createCatalogStore } from '../../store/catalog/catalog-store.ts';
import { waitForDatabase } from '../../store/database.ts';
import { createOutbox } from '../../store/events/outbox.ts';
import { createAdmission } from '../../store/governance/admission.ts';
import { createRevision } from '../../store/revision.ts';

export interface OpenCatalogDependencies {
  config: Config;
  world: World;
  baseUrl: () => string;
  /** Only a hub that serves waits for a database that does not answer yet. */
  isServed: boolean;
  mayBlock: boolean;
  shutdown: AbortSignal;
}

/** @throws StartError when the database cannot be used. */
export async function openCatalog({
  config,
  world: { now, log, metrics },
  baseUrl,
  isServed,
  mayBlock,
  shutdown,
}: OpenCatalogDependencies) {
  const forMs = isServed ? config.databaseWaitSec * 1000 : 0;
  const database = await waitForDatabase(config.database, {
    metrics,
    mayBlock,
    forMs,
    signal: shutdown,
    log,
  });
  const outbox = createOutbox(database, now);
  const revision = createRevision(database, outbox);
  const admission = createAdmission(database, { rulesOf: admissionRules, now });
  const store = createCatalogStore(database, revision, admission);
  const catalog = createCatalog({ store, now, baseUrl, verifyingRemotes: config.trust.verifyingRemotes });
  metrics.gauge({
    name: 'hub_entities',
    help: 'Entities in the catalog.',
    label: 'type',
    read: () => catalog.countByType(),
  });
  return { database, outbox, revision, admission, store, catalog };
}
