// Checks of a hub on this machine, with the settings of this process.
import { constants, existsSync } from 'node:fs';
import { access, stat } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Config } from '../../config.ts';
import { NewerDatabaseError } from '../../errors.ts';
import type { Hub } from '../../hub/hub.ts';
import { describeDatabase, isLoopbackHost } from '../../lib/net/address.ts';
import { FetchError } from '../../lib/net/fetch-error.ts';
import type { World } from '../../lib/world.ts';
import { plural } from '../output/text.ts';
import { gatewayFinding, llmFinding, meaningFinding, modelFinding } from './diagnosis-findings.ts';
import { type Check, type Finding, once } from './finding.ts';
import { catalogFinding, combined, EMPTY_CATALOG } from './hub-checks.ts';
import { toolChecks } from './tool-checks.ts';

export interface LocalChecksOptions {
  config: Config;
  world: Pick<World, 'fetch' | 'run'>;
  /** @throws StartError if the database cannot be used, like `openHub`. */
  catalogExists: () => Promise<boolean>;
  openHub: () => Promise<Hub>;
  /** Opens a hub on an empty database, which is deleted afterward. */
  openEmptyHub: () => Promise<Hub>;
}

const MODEL_PATIENCE_MS = 10_000;
const NETWORK_TIMEOUT_MS = 10_000;
const ENOUGH_BYTES = 65_536;
const MOST_REMOTES_TRIED = 5;

export function localChecks(options: LocalChecksOptions): Check[] {
  const { config, world, openEmptyHub } = options;
  // The check must not create a missing catalog.
  const openCatalog = once(async () => ((await options.catalogExists()) ? options.openHub() : undefined));
  const catalogIfUsable = () => openCatalog().catch(() => undefined);
  const diagnose = once(async () => ((await catalogIfUsable()) ?? (await openEmptyHub())).diagnose());
  return [
    { subject: 'database', look: () => databaseFinding(config, openCatalog) },
    { subject: 'catalog', look: () => catalogState(openCatalog) },
    { subject: 'gateway', look: async () => gatewayFinding(await diagnose()) },
    {
      subject: 'model',
      look: async () =>
        combined(modelFinding(await diagnose(), config.embedding?.baseUrl ?? null), async () =>
          vectorFinding(await catalogIfUsable()),
        ),
    },
    { subject: 'llm', look: async () => llmFinding(await diagnose(), config.llm?.baseUrl) },
    { subject: 'protection', look: async () => protectionFinding(config) },
    ...toolChecks(world.run),
    { subject: 'network', look: async () => networkFinding(await remotesOf(config, await catalogIfUsable()), world) },
  ];
}

async function databaseFinding(config: Config, openCatalog: () => Promise<Hub | undefined>): Promise<Finding> {
  const name = describeDatabase(config.database);
  const hub = await openCatalog().catch((error: Error) => error);
  if (hub === undefined) return missingDatabase(config, name);
  if (hub instanceof Error) return { outcome: 'failed', found: hub.message, advice: databaseAdvice(config, hub) };
  const { db } = await hub.health({ checkDb: true });
  return db === 'ok'
    ? { outcome: 'ok', found: `${name} answers` }
    : { outcome: 'failed', found: `${name} does not answer`, advice: 'Check that its disk is not full.' };
}

function databaseAdvice({ database }: Config, error: Error): string {
  if (error instanceof NewerDatabaseError) return 'Nothing is wrong with the database itself.';
  if (database.engine === 'postgres') return 'Check that it is running, and that DATABASE_URL is its address.';
  if (/not a database|malformed/.test(error.message))
    return `The file is damaged or not a database. Restore a backup, or move ${database.path} away; 'hub serve' then creates a new one.`;
  return 'Check that this user may read and write the file and its folder, and that DB_PATH and DATA_DIR are correct.';
}

async function missingDatabase({ database }: Config, name: string): Promise<Finding> {
  if (database.engine === 'postgres' || existsSync(database.path)) {
    const advice =
      "If it is meant for the hub, 'hub serve' creates the tables. To use another database, set DATA_DIR, DB_PATH or DATABASE_URL.";
    return { outcome: 'warning', found: `${name}: exists, but has no catalog`, advice };
  }
  const folder = nearestFolder(database.path);
  if (!(await canWrite(folder))) {
    const advice = 'Set DATA_DIR or DB_PATH to a location that this user may write to.';
    return { outcome: 'failed', found: `${name}: does not exist yet, and ${folder} is not writable`, advice };
  }
  const advice = "'hub serve' creates it. To use another database, set DATA_DIR, DB_PATH or DATABASE_URL.";
  return { outcome: 'warning', found: `${name}: does not exist yet`, advice };
}

/** The nearest existing parent folder. */
function nearestFolder(path: string): string {
  const folder = dirname(resolve(path));
  return existsSync(folder) || folder === dirname(folder) ? folder : nearestFolder(folder);
}

async function canWrite(folder: string): Promise<boolean> {
  try {
    await access(folder, constants.W_OK | constants.X_OK);
    return (await stat(folder)).isDirectory();
  } catch {
    return false;
  }
}

async function catalogState(openCatalog: () => Promise<Hub | undefined>): Promise<Finding> {
  const hub = await openCatalog().catch((error: Error) => error);
  if (hub === undefined) return EMPTY_CATALOG;
  if (!(hub instanceof Error)) return catalogFinding(hub);
  return { outcome: 'warning', found: 'cannot be read', advice: 'Fix the database first; see above.' };
}

/** Loads the vectors first, like `hub serve`. */
async function vectorFinding(hub: Hub | undefined): Promise<Finding> {
  if (!hub) return { outcome: 'ok', found: 'no vectors are needed yet' };
  await Promise.race([hub.catchUpSearch(), sleep(MODEL_PATIENCE_MS, undefined, { ref: false })]);
  return meaningFinding(hub);
}

function protectionFinding({ adminToken, oidc, host }: Config): Finding {
  if (adminToken) return { outcome: 'ok', found: 'API_TOKEN is set' };
  if (oidc) return { outcome: 'ok', found: `sign-ins come from ${oidc.issuer}` };
  if (isLoopbackHost(host))
    return { outcome: 'ok', found: 'API_TOKEN is not set; only this machine can reach the hub' };
  const advice = 'Set API_TOKEN: anyone who can reach the hub can change the catalog and install.';
  return { outcome: 'warning', found: `API_TOKEN is not set, and HOST is ${host}`, advice };
}

async function remotesOf({ seedRemotes }: Config, hub: Hub | undefined): Promise<string[]> {
  return hub ? (await hub.listRemotes()).items.map(({ url }) => url) : [...seedRemotes];
}

async function networkFinding(urls: readonly string[], { fetch }: LocalChecksOptions['world']): Promise<Finding> {
  const tried = urls.slice(0, MOST_REMOTES_TRIED);
  const faults = await Promise.all(tried.map((url) => reachFault(url, fetch)));
  const found = faults.filter((fault) => fault !== undefined);
  if (tried.length === 0) return { outcome: 'ok', found: 'no remotes to reach' };
  if (found.length === 0) return { outcome: 'ok', found: `${plural(tried.length, 'remote')} can be reached` };
  const advice =
    'Check that the addresses are correct, and that this machine may connect to them (ALLOW_PRIVATE_NETWORK).';
  return { outcome: 'failed', found: found.join('; '), advice };
}

async function reachFault(url: string, fetch: World['fetch']): Promise<string | undefined> {
  try {
    const headers = { range: 'bytes=0-0' };
    const { status } = await fetch({ url, headers, maxBytes: ENOUGH_BYTES, timeoutMs: NETWORK_TIMEOUT_MS });
    return status < 400 || status === 416 ? undefined : `${url} answered ${status}`;
  } catch (error) {
    // A host that ignores the range and sends the whole file is reachable too.
    if (error instanceof FetchError && error.isTooLarge) return undefined;
    return `${url} ${error instanceof Error ? error.message : String(error)}`;
  }
}
