// The settings of a process: its environment and, for `hub serve`, the `.env` file in its folder.
import { existsSync, readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { parseEnv } from 'node:util';
import { type Config, type Environment, readConfig } from '../../config.ts';
import { SettingError } from '../../errors.ts';

/** For `hub serve`: variables of the environment win over the file. @throws SettingError */
export function withEnvFile(environment: Environment): Environment {
  try {
    return { ...parseEnv(readFileSync('.env', 'utf8')), ...environment };
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT') return environment;
    throw new SettingError(`.env must be a readable file (${code}).`);
  }
}

/** For all other commands. @throws SettingError */
export function readLocalConfig(environment: Environment): Config {
  const isChosen = ['DATABASE_URL', 'DB_PATH', 'DATA_DIR'].some((name) => environment[name]?.trim());
  // A hub was started in this folder before, so its catalog is used.
  if (isChosen || existsSync('data/catalog.sqlite')) return readConfig(environment);
  return readConfig({ ...environment, DATA_DIR: dataFolder(environment) });
}

/** The folder for user data on this platform. */
function dataFolder(environment: Environment, platform = process.platform): string {
  const home = environment.HOME || homedir();
  const base = {
    darwin: join(home, 'Library', 'Application Support'),
    win32: environment.LOCALAPPDATA || join(home, 'AppData', 'Local'),
  }[platform as string];
  return join(environment.XDG_DATA_HOME || base || join(home, '.local', 'share'), 'catalog-hub');
}
