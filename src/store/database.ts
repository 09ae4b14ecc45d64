// Opens the database at an address and migrates its schema.
import { statSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { type RawBuilder, sql } from 'kysely';
import { type Migration, Migrator } from 'kysely/migration';
import { HubError, messageOf, NewerDatabaseError, StartError } from '../errors.ts';
import { type DatabaseAddress, describeDatabase } from '../lib/net/address.ts';
import type { Logger } from '../lib/world.ts';
import type { Dialect, DialectDependencies } from './dialects/dialect.ts';
import {
  changes,
  initial,
  manifests,
  missingReasons,
  missingVersions,
  noFacetRows,
  revisionStamps,
  search,
  versions,
} from './migrations/catalog-migrations.ts';
import { events } from './migrations/event-migrations.ts';
import {
  formerGateways,
  gateway,
  gatewayItems,
  lateCreations,
  onlyServers,
  registrationDays,
} from './migrations/gateway-migrations.ts';
import { access, auditEnds, auditUnchanged, policy, trust, trustRetries } from './migrations/governance-migrations.ts';
import { hubId, registry, registryApproval, registryOwners, registryViews } from './migrations/registry-migrations.ts';
import { fronts, generation, ownership, remoteNotes, remotes } from './migrations/remote-migrations.ts';

export interface DatabaseWait {
  forMs: number;
  signal: AbortSignal;
  log: Pick<Logger, 'warn'>;
}

const PAUSE_MS = 1_000;

/** Waits for a server that is not up yet. @throws StartError if it cannot be opened or was written by a newer hub. */
export async function waitForDatabase(
  address: DatabaseAddress,
  { forMs, signal, log, ...dependencies }: DialectDependencies & DatabaseWait,
): Promise<Dialect> {
  for (const startedAt = performance.now(); ; ) {
    try {
      return await openDatabase(address, dependencies);
    } catch (error) {
      const isLate = performance.now() - startedAt > forMs;
      if (address.engine === 'sqlite' || isLate || signal.aborted || !isUnavailable(error)) throw error;
      log.warn({ reason: reason(error) }, `Waiting for the database (${describeDatabase(address)})`);
      await sleep(PAUSE_MS, undefined, { signal }).catch(() => {});
    }
  }
}

function isUnavailable(error: unknown): boolean {
  return error instanceof StartError && error.cause instanceof HubError && error.cause.code === 'database_unavailable';
}

/** @throws StartError if it cannot be opened or was written by a newer hub. */
export async function openDatabase(address: DatabaseAddress, dependencies: DialectDependencies): Promise<Dialect> {
  let dialect: Dialect | undefined;
  try {
    dialect = await openDialect(address, dependencies);
    if (await isUpToDate(dialect)) return dialect;
    await dialect.close();
    dialect = undefined;
    await migrateAt(address, dependencies);
    return await openDialect(address, dependencies);
  } catch (error) {
    await dialect?.close();
    throw unusable(address, error);
  }
}

/** Even in a process that may block, because a migration may take minutes, in which the process must react to signals. */
async function migrateAt(address: DatabaseAddress, dependencies: DialectDependencies): Promise<void> {
  const dialect = await openDialect(address, { ...dependencies, mayBlock: false });
  await migrate(dialect).finally(() => dialect.close());
}

/** Whether the database contains a hub's tables. Changes nothing. @throws StartError if that cannot be determined. */
export async function holdsCatalog(address: DatabaseAddress): Promise<boolean> {
  if (address.engine === 'sqlite') {
    const { hasTable } = await import('./dialects/sqlite-connection.ts');
    try {
      // Unlike existsSync, fails if a folder of the path must not be read.
      return statSync(address.path, { throwIfNoEntry: false }) !== undefined && hasTable(address.path, OWN_TABLE);
    } catch (error) {
      throw unusable(address, error);
    }
  }
  const { openPostgres } = await import('./dialects/postgres.ts');
  const dialect = openPostgres(address, { metrics: { observeQuery() {} } });
  try {
    const { rows } = await sql`select 1 where to_regclass(${OWN_TABLE}) is not null`.execute(dialect.read);
    return rows.length > 0;
  } catch (error) {
    throw unusable(address, error);
  } finally {
    await dialect.close();
  }
}

/** Exists from the first migration on; other programs are unlikely to use this name. */
const OWN_TABLE = 'catalog_state';

function unusable(address: DatabaseAddress, error: unknown): StartError {
  if (error instanceof StartError) return error;
  return new StartError(`The database (${describeDatabase(address)}) cannot be used: ${reason(error)}.`, {
    cause: error,
  });
}

/** Loads only the selected engine. */
async function openDialect(address: DatabaseAddress, dependencies: DialectDependencies): Promise<Dialect> {
  if (address.engine === 'sqlite') {
    const { openSqlite } = await import('./dialects/sqlite.ts');
    return openSqlite(address.path, dependencies);
  }
  const { openPostgres } = await import('./dialects/postgres.ts');
  return openPostgres(address, dependencies);
}

/** In order; each returns its statements. Names never change, and a migration on `main` is never edited. */
const MIGRATIONS: Readonly<Record<string, (dialect: Dialect) => RawBuilder<unknown>[]>> = {
  '0001_initial': initial,
  '0002_remotes': remotes,
  '0003_gateway': gateway,
  '0004_versions': versions,
  '0005_search': search,
  '0006_changes': changes,
  '0007_no_facet_rows': noFacetRows,
  '0008_fronts': fronts,
  '0009_generation': generation,
  '0010_ownership': ownership,
  '0011_gateway_items': gatewayItems,
  '0012_former_gateways': formerGateways,
  '0013_remote_notes': remoteNotes,
  '0014_late_creations': lateCreations,
  '0015_revision_stamps': revisionStamps,
  '0016_manifests': manifests,
  '0017_access': access,
  '0018_policy': policy,
  '0019_events': events,
  '0020_trust': trust,
  '0021_registry': registry,
  '0022_registry_views': registryViews,
  '0023_audit_ends': auditEnds,
  '0024_trust_retries': trustRetries,
  '0025_hub_id': hubId,
  '0026_registry_approval': registryApproval,
  '0027_registry_owners': registryOwners,
  '0028_audit_unchanged': auditUnchanged,
  '0029_registration_days': registrationDays,
  '0030_only_servers': onlyServers,
  '0031_missing_versions': missingVersions,
  '0032_missing_reasons': missingReasons,
};

function migration(statements: readonly RawBuilder<unknown>[]): Migration {
  return {
    async up(db) {
      for (const statement of statements) await statement.execute(db);
    },
  };
}

async function migrate(dialect: Dialect): Promise<void> {
  const known = Object.fromEntries(Object.entries(MIGRATIONS).map(([name, make]) => [name, migration(make(dialect))]));
  const own = dialect.openMigrations?.();
  // Kysely takes a lock first, so two hubs that start at the same time take turns.
  const migrator = new Migrator({ db: own?.db ?? dialect.write, provider: { getMigrations: async () => known } });
  const { error } = await migrator.migrateToLatest().finally(() => own?.close());
  if (!error) return;
  // A newer hub may have migrated meanwhile.
  await isUpToDate(dialect);
  throw error;
}

/** @throws StartError if a newer hub wrote it. */
async function isUpToDate({ lookup }: Dialect): Promise<boolean> {
  const applied = await lookup
    .withTables<{ kysely_migration: { name: string } }>()
    .selectFrom('kysely_migration')
    .select('name')
    .execute()
    .catch((error) => {
      if (error instanceof HubError) throw error;
      // The table does not exist yet.
      return [];
    });
  if (applied.some(({ name }) => !(name in MIGRATIONS))) throw new NewerDatabaseError();
  return applied.length === Object.keys(MIGRATIONS).length;
}

/** The error of the database's client says more than 'unavailable'. */
function reason(error: unknown): string {
  const isUnexplained =
    error instanceof HubError && error.code === 'database_unavailable' && error.cause instanceof Error;
  return messageOf(isUnexplained ? error.cause : error).replace(/\.$/, '');
}
