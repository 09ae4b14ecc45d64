// What a command may use of the `.env` of its folder, which may have come with somebody else's files.
import type { Environment } from '../config.ts';
import { isSetting, SENT_TO } from '../settings.ts';

export interface Withheld {
  /** The setting whose address only `.env` has. */
  address: string;
  /** What the environment has for it, and what is not sent there. */
  secrets: readonly string[];
}

export interface TrustedSettings {
  settings: Environment;
  withheld: readonly Withheld[];
}

/** What the environment has wins over the file; but its secrets are for the addresses of whoever set them, not for those of the file. */
export function trustedSettings(environment: Environment, envFile: Environment): TrustedSettings {
  // Only settings of the hub: what else programs heed, such as proxies and certificates, is not for a folder to say.
  const known = Object.fromEntries(Object.entries(envFile).filter(([name]) => isSetting(name)));
  const foreign = Object.entries(SENT_TO).filter(([, address]) => isOnlyInFile(address, environment, envFile));
  const ofFile = Object.fromEntries(foreign.map(([secret]) => [secret, known[secret]]));
  const lost = foreign.filter(([secret]) => environment[secret]?.trim() && !known[secret]?.trim());
  const byAddress = Object.groupBy(lost, ([, address]) => address);
  return {
    settings: { ...known, ...environment, ...ofFile },
    withheld: Object.entries(byAddress).map(([address, pairs = []]) => ({
      address,
      secrets: pairs.map(([secret]) => secret),
    })),
  };
}

/** Also an empty one of the environment counts: it says that there is to be none. */
export function isOnlyInFile(name: string, environment: Environment, envFile: Environment): boolean {
  return environment[name] === undefined && Boolean(envFile[name]?.trim());
}
