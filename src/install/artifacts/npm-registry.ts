// Which registry npm asks: the one that the manifest names, or the one that the machine is set up for.
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
}

/** @throws InstallError when the registry of the manifest may not be used. */
export async function findRegistries(spec: NpmSpec, context: InstallContext): Promise<Registries> {
  const scope = spec.package.startsWith('@') ? [`${spec.package.split('/')[0]}:registry`] : [];
  const keys = ['registry', ...scope];
  if (spec.registry_url) {
    await vetRegistry(spec.registry_url, context);
    const options = keys.map((key) => `--${key}=${spec.registry_url}`);
    return { options, addresses: [spec.registry_url], ownAddresses: [] };
  }
  const urls = await Promise.all(keys.map((key) => ownSetting(key, context)));
  const ownAddresses = urls.filter((url) => url !== undefined);
  return {
    options: keys.flatMap((key, index) => (urls[index] === undefined ? [] : [`--${key}=${urls[index]}`])),
    addresses: ownAddresses,
    ownAddresses,
  };
}

async function vetRegistry(url: string, { vetAddress }: InstallContext): Promise<void> {
  await vetAddress(url).catch((error: unknown) => {
    if (!(error instanceof FetchError)) throw error;
    throw new InstallError(`The registry ${shownAddress(url)} cannot be used: ${error.message}.`, { cause: error });
  });
}

async function ownSetting(key: string, context: InstallContext): Promise<string | undefined> {
  const { exitCode, stdout } = await runProgram(
    {
      program: 'npm',
      args: ['config', 'get', '--no-update-notifier', '--logs-max=0', key],
      cwd: context.targetDir,
      whenMissing: WHEN_MISSING,
    },
    context,
  );
  const url = stdout.trim().split('\n').at(-1) ?? '';
  return exitCode === 0 && /^https?:\/\/\S+$/.test(url) && URL.canParse(url) ? url : undefined;
}
