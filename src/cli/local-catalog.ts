// Which catalog a command without a server works on: that of the settings, or one that ends with the command.
import { statSync } from 'node:fs';
import type { Config, Environment } from '../config.ts';
import { StartError } from '../errors.ts';
import { isCatalogThere } from '../hub.ts';
import { describeDatabase } from '../lib/address.ts';
import type { LocalCatalog } from './command.ts';
import { openEmptyHub } from './empty-hub.ts';
import { NotFoundError } from './exit-codes.ts';
import { type LocalHub, openLocalHub } from './local-hub.ts';
import { type LocalSettings, readUsableSettings } from './local-settings.ts';
import { oneLine } from './output/text.ts';
import type { Terminal } from './terminal.ts';

export interface LocalCatalogOptions extends LocalCatalog {
  environment: Environment;
  /** `.env` of the folder, which may be that of any project. */
  envFile: Environment;
  /** What the two say; read once for all that asks. */
  readSettings: () => Promise<LocalSettings>;
  terminal: Terminal;
}

/** @throws SettingError, StartError, NotFoundError */
export async function openLocalCatalog(options: LocalCatalogOptions): Promise<LocalHub> {
  const { terminal, mustExist = false, mayPass = false, leavesNothing = false } = options;
  const { environment } = options;
  const { config, settings } = mayPass ? readUsableSettings(options) : await options.readSettings();
  const place = placeOf(config, settings, environment);
  const isThere = mayPass && !place.isChosen ? await isReachable(config, terminal) : await isCatalogThere(config);
  if (isThere) return openLocalHub({ config, environment, terminal });
  if (mayPass && (leavesNothing || !place.isChosen)) return openEmptyHub({ config, environment, terminal });
  // A database that is there belongs to somebody; a file in a folder does not say that the hub may have it.
  if (place.isTaken && !place.isChosen) throw new NotFoundError(takenSentence(config, place));
  if (mustExist) throw new NotFoundError(missingSentence(config));
  return openLocalHub({ config, environment, terminal });
}

/** The settings that say where the catalog is; the first that is set decides. */
const PLACES = ['DATABASE_URL', 'DB_PATH', 'DATA_DIR'] as const;

interface Place {
  /** The setting that names it. */
  setting: (typeof PLACES)[number] | undefined;
  /** Whether somebody has named it for this command, and not only a file that lies in the folder. */
  isChosen: boolean;
  /** Whether something is there already. */
  isTaken: boolean;
}

function placeOf({ database }: Config, settings: Environment, environment: Environment): Place {
  const setting = PLACES.find((name) => settings[name]?.trim());
  const isTaken = database.engine === 'postgres' || (statSync(database.path, { throwIfNoEntry: false })?.size ?? 0) > 0;
  return { setting, isChosen: setting !== undefined && Boolean(environment[setting]?.trim()), isTaken };
}

/** The database of some project need not run for something to be installed into its folder. */
async function isReachable(config: Config, { writeError }: Terminal): Promise<boolean> {
  try {
    return await isCatalogThere(config);
  } catch (error) {
    if (!(error instanceof StartError)) throw error;
    writeError(`hub: ${oneLine(error.message)} Only .env in this folder names it: the install goes on without it.\n`);
    return false;
  }
}

function whereabouts({ database }: Config): string {
  return database.engine === 'sqlite' ? `at ${database.path}` : `in ${describeDatabase(database)}`;
}

function missingSentence(config: Config): string {
  return `There is no catalog ${whereabouts(config)} yet. Fill one with 'hub remotes add <url>' and 'hub sync', or name a running hub with --hub or HUB_URL.`;
}

function takenSentence(config: Config, { setting }: Place): string {
  const there = `There is no catalog ${whereabouts(config)}, and none was made`;
  if (setting === undefined)
    return `${there}: the file holds something else. Name another by DB_PATH, or a running hub with --hub or HUB_URL.`;
  return `${there}: only ${setting} in .env of this folder names it. If it is for the hub, 'hub serve' makes one; if it is not, '${setting}= hub …' leaves it alone, or name a running hub with --hub or HUB_URL.`;
}
