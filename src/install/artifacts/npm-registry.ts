// Which registry npm asks: the one that the manifest names, or the one that the machine is set up for.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { FetchError } from '../../lib/fetch-error.ts';
import { shownAddress } from '../../lib/secret-address.ts';
import { type InstallContext, InstallError } from './artifact-installer.ts';
import type { NpmSpec } from './npm-spec.ts';
import { runProgram } from './program.ts';

export const WHEN_MISSING =
  'npm is not installed on the machine of the hub: install Node.js, which brings it, and try again.';

export interface Registries {
  options: string[];
  addresses: string[];
  /** Those that the machine is set up for. */
  ownAddresses: string[];
  /** Whether npm goes to addresses that somebody else named. */
  isGuarded: boolean;
  /** Where npm may go all the same: the operator's own hosts in a private network. */
  ownHosts: string[];
}

/** @throws InstallError when the registry of the manifest may not be used. */
export async function findRegistries(spec: NpmSpec, context: InstallContext): Promise<Registries> {
  const scope = spec.package.startsWith('@') ? [`${spec.package.split('/')[0]}:registry`] : [];
  const keys = ['registry', ...scope];
  // It may have come with the folder, and can name a proxy, registries for what a package needs, and a place for the cache.
  const hasSettings = existsSync(join(context.targetDir, '.npmrc'));
  const cache = hasSettings ? await ownSetting('cache', context) : undefined;
  const ofCache = cache ? [`--cache=${cache}`] : [];
  if (spec.registry_url) {
    await vetRegistry(spec.registry_url, context);
    const options = [...keys.map((key) => `--${key}=${spec.registry_url}`), ...ofCache];
    return { options, addresses: [spec.registry_url], ownAddresses: [], isGuarded: true, ownHosts: [] };
  }
  const urls = await Promise.all(keys.map((key) => ownRegistry(key, context)));
  const ownAddresses = urls.filter((url) => url !== undefined);
  const ofRegistries = keys.flatMap((key, index) => (urls[index] === undefined ? [] : [`--${key}=${urls[index]}`]));
  return {
    options: [...ofRegistries, ...ofCache],
    addresses: ownAddresses,
    ownAddresses,
    ...(hasSettings ? await guarded({ ownAddresses }, context) : { isGuarded: false, ownHosts: [] }),
  };
}

/** For npm that may go to addresses that somebody else named. */
export async function guarded(
  { ownAddresses }: Pick<Registries, 'ownAddresses'>,
  context: InstallContext,
): Promise<Pick<Registries, 'isGuarded' | 'ownHosts'>> {
  return { isGuarded: true, ownHosts: await heldBackHosts(ownAddresses, context) };
}

async function heldBackHosts(
  addresses: readonly string[],
  { vetAddress }: Pick<InstallContext, 'vetAddress'>,
): Promise<string[]> {
  const hosts = addresses.map(async (url) => {
    const isFree = await vetAddress(url).then(
      () => true,
      () => false,
    );
    return isFree ? [] : [new URL(url).hostname];
  });
  return [...new Set((await Promise.all(hosts)).flat())];
}

async function vetRegistry(url: string, { vetAddress }: Pick<InstallContext, 'vetAddress'>): Promise<void> {
  await vetAddress(url).catch((error: unknown) => {
    if (!(error instanceof FetchError)) throw error;
    throw new InstallError(`The registry ${shownAddress(url)} cannot be used: ${error.message}.`, { cause: error });
  });
}

async function ownRegistry(key: string, context: InstallContext): Promise<string | undefined> {
  const url = (await ownSetting(key, context)) ?? '';
  return /^https?:\/\/\S+$/.test(url) && URL.canParse(url) ? url : undefined;
}

/** As the operator set npm up, whatever a file in the target says. */
async function ownSetting(key: string, context: InstallContext): Promise<string | undefined> {
  const { exitCode, stdout } = await runProgram(
    {
      program: 'npm',
      // Global: otherwise npm looks for a project in the folder it runs in, and above.
      args: ['config', 'get', '--global', '--no-update-notifier', '--logs-max=0', key],
      cwd: context.workDir,
      whenMissing: WHEN_MISSING,
    },
    context,
  );
  return exitCode === 0 ? stdout.trim().split('\n').at(-1) : undefined;
}
