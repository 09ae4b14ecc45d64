// The settings of a command that works in process: those of its environment, and what may be used of `.env` in its folder.
import { type Config, type Environment, readConfig } from '../config.ts';
import { SettingError } from '../errors.ts';
import { isOnlyInFile, trustedSettings, type Withheld } from './env-file-trust.ts';
import { oneLine } from './output/text.ts';
import type { Terminal } from './terminal.ts';

export interface LocalSettings {
  config: Config;
  /** What the config was made of. */
  settings: Environment;
}

export interface LocalSettingsOptions {
  /** That of the process. */
  environment: Environment;
  /** `.env` of the folder, which may be that of any project. */
  envFile: Environment;
  terminal: Pick<Terminal, 'writeError'>;
}

/** What is withheld from addresses of `.env` is told. @throws SettingError */
export function readLocalSettings({ environment, envFile, terminal }: LocalSettingsOptions): LocalSettings {
  const { settings, withheld } = trustedSettings(environment, envFile);
  const config = withoutForeignPassword(readConfig(settings), isOnlyInFile('DATABASE_URL', environment, envFile));
  for (const each of withheld) terminal.writeError(`hub: ${withheldSentence(each)}\n`);
  return { config, settings };
}

/** The same, where what is wrong in `.env` is left out, and told: it may be meant for another program. @throws SettingError for the rest. */
export function readUsableSettings(options: LocalSettingsOptions): LocalSettings {
  const { environment, envFile, terminal } = options;
  try {
    return readLocalSettings(options);
  } catch (error) {
    const { setting = '' } = error instanceof SettingError ? error : {};
    if (!(error instanceof SettingError) || !(setting in envFile) || setting in environment) throw error;
    terminal.writeError(`hub: ${setting} in .env is not used: ${oneLine(error.message)}\n`);
    const { [setting]: _wrong, ...rest } = envFile;
    return readUsableSettings({ environment, envFile: rest, terminal });
  }
}

/** The library that talks to PostgreSQL looks for a password by itself. */
function withoutForeignPassword(config: Config, isForeign: boolean): Config {
  const { database } = config;
  if (database.engine === 'sqlite' || !isForeign) return config;
  return { ...config, database: { ...database, onlyOwnPassword: NO_PASSWORD } };
}

const NO_PASSWORD =
  'and only .env in this folder names it, so that no password is sent but one in DATABASE_URL itself: put it there, or set DATABASE_URL in the environment';

function withheldSentence({ address, secrets }: Withheld): string {
  const are = secrets.length > 1 ? 'are' : 'is';
  return `${secrets.join(' and ')} of the environment ${are} not used, because ${address} comes from .env in this folder: if that is right, set them in one place.`;
}
