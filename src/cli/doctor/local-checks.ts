// Checks of a hub on this machine, with the settings of this process.
import { constants, existsSync } from 'node:fs';
import { access } from 'node:fs/promises';
import { dirname } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Config } from '../../config.ts';
import { NewerDatabaseError } from '../../errors.ts';
import type { Hub } from '../../hub/hub.ts';
import { describeDatabase, isLoopbackHost } from '../../lib/net/address.ts';
import type { World } from '../../lib/world.ts';
import type { Check, Finding } from './finding.ts';
import { databaseFinding, hubChecks } from './hub-checks.ts';
import { toolChecks } from './tool-checks.ts';

export interface LocalChecksOptions {
  config: Config;
  run: World['run'];
  /** Undefined if there is no catalog, which the checks must not create; an error if it cannot be opened. */
  catalog: Hub | Error | undefined;
}

const MODEL_PATIENCE_MS = 10_000;

export function localChecks({ config, run, catalog }: LocalChecksOptions): Check[] {
  const isOpen = catalog !== undefined && !(catalog instanceof Error);
  return [
    { subject: 'database', look: async () => (isOpen ? databaseFinding(catalog) : unusable(config, catalog)) },
    ...(isOpen ? hubChecks(searchedWhenLoaded(catalog)) : [{ subject: 'catalog', look: async () => NOT_CHECKED }]),
    { subject: 'protection', look: async () => protectionFinding(config) },
    ...toolChecks(run),
  ];
}

const NOT_CHECKED: Finding = {
  outcome: 'warning',
  found: 'not available, so the gateway, the models and the remotes were not checked',
  advice: 'Run this command again when the catalog exists and can be read.',
};

/** Waits for the vectors of this process, which a running hub has in memory. */
function searchedWhenLoaded(hub: Hub): Hub {
  return {
    ...hub,
    async search(query) {
      await Promise.race([hub.catchUpSearch(), sleep(MODEL_PATIENCE_MS, undefined, { ref: false })]);
      return hub.search(query);
    },
  };
}

async function unusable(config: Config, catalog: Error | undefined): Promise<Finding> {
  const error = catalog ?? (await creationError(config));
  if (error) return { outcome: 'failed', found: error.message, advice: databaseAdvice(config, error) };
  return {
    outcome: 'warning',
    found: `${describeDatabase(config.database)}: no catalog yet`,
    advice: "'hub serve' creates it. To use another database, set DATA_DIR, DB_PATH or DATABASE_URL.",
  };
}

/** Why a missing catalog could not be created. */
async function creationError({ database }: Config): Promise<Error | undefined> {
  if (database.engine === 'postgres') return undefined;
  let folder = dirname(database.path);
  while (!existsSync(folder)) folder = dirname(folder);
  // The dot makes it fail for a file, too.
  return access(`${folder}/.`, constants.W_OK | constants.X_OK).then(
    () => undefined,
    ({ message }: Error) => new Error(`no catalog yet, and none can be created: ${message}`),
  );
}

function databaseAdvice({ database }: Config, error: Error): string {
  if (error instanceof NewerDatabaseError) return 'Nothing is wrong with the database itself.';
  if (database.engine === 'postgres') return 'Check that it is running, and that DATABASE_URL is its address.';
  if (/not a database|is damaged|malformed/.test(error.message))
    return `The file is damaged or not a database. Restore a backup, or move ${database.path} away; 'hub serve' then creates a new one.`;
  return 'Check that this user may read and write the file and its folder, and that DB_PATH and DATA_DIR are correct.';
}

function protectionFinding({ adminToken, oidc, host }: Config): Finding {
  if (adminToken) return { outcome: 'ok', found: 'API_TOKEN is set' };
  if (oidc) return { outcome: 'ok', found: `sign-ins come from ${oidc.issuer}` };
  if (isLoopbackHost(host))
    return { outcome: 'ok', found: 'API_TOKEN is not set; only this machine can reach the hub' };
  const advice = 'Set API_TOKEN: anyone who can reach the hub can change the catalog and install.';
  return { outcome: 'warning', found: `API_TOKEN is not set, and HOST is ${host}`, advice };
}
