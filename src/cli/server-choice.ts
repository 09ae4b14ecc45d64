// Which hub a command asks, and with which token. A token goes only to an address that can be trusted as much as itself.
import type { Environment } from '../config.ts';

export interface ServerChoice {
  url: string;
  token: string | undefined;
  /** HUB_TOKEN is set, and not for this address. */
  isTokenWithheld: boolean;
}

export interface ServerSettings {
  /** What --hub said. */
  named: string | undefined;
  environment: Environment;
  /** `.env` of the folder, which may have come with somebody else's files. */
  envFile: Environment;
}

/** Undefined means the local database. What the environment has wins over the file, also when it is empty. */
export function chooseServer({ named, environment, envFile }: ServerSettings): ServerChoice | undefined {
  const given = named ?? environment.HUB_URL?.trim();
  if (given === '' && named === undefined) return undefined;
  if (given !== undefined) {
    const token = setting(environment.HUB_TOKEN ?? envFile.HUB_TOKEN);
    return { url: given, token, isTokenWithheld: false };
  }
  const url = setting(envFile.HUB_URL);
  if (url === undefined) return undefined;
  // Otherwise whoever wrote the file gets the token that somebody keeps for another hub.
  const token = setting(envFile.HUB_TOKEN);
  return { url, token, isTokenWithheld: token === undefined && setting(environment.HUB_TOKEN) !== undefined };
}

function setting(value: string | undefined): string | undefined {
  return value?.trim() || undefined;
}
