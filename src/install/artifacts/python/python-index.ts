// Which package index pip and uv use, and which credentials they get.
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { absent } from '../../../lib/absent.ts';
import type { ArtifactContext } from '../artifact.ts';
import { vetRegistry } from '../package-registry.ts';
import type { Interpreter } from './interpreter.ts';

export interface PackageIndex {
  /** The one that the manifest names; without it, the tools use those that the machine is set up for. */
  url: string | undefined;
  env: Record<string, string>;
  /** Variables of the person's environment that configure pip and uv. */
  inherit: readonly string[];
}

const OWN_VARIABLES = [
  ...['PIP_CONFIG_FILE', 'PIP_INDEX_URL', 'PIP_EXTRA_INDEX_URL', 'PIP_TRUSTED_HOST', 'PIP_CACHE_DIR'],
  ...['UV_CONFIG_FILE', 'UV_DEFAULT_INDEX', 'UV_INDEX', 'UV_INDEX_URL', 'UV_EXTRA_INDEX_URL', 'UV_CACHE_DIR'],
  ...['UV_KEYRING_PROVIDER', 'UV_NATIVE_TLS', 'NETRC', 'XDG_CONFIG_HOME', 'XDG_CACHE_HOME'],
];

/**
 * The index of a manifest is never mixed with those of the machine. On a shared hub, it gets credentials of the
 * operator's `.netrc` only for hosts in `trust.credentialsFor`. @throws InstallError when it may not be used.
 */
export async function packageIndex(
  url: string | undefined,
  { home }: Interpreter,
  context: ArtifactContext,
): Promise<PackageIndex> {
  const { isOwnMachine, credentialsFor } = context.trust;
  const inherit = isOwnMachine ? OWN_VARIABLES : [];
  if (url === undefined) return { url, env: {}, inherit };
  await vetRegistry(url, context);
  if (isOwnMachine) return { url, env: {}, inherit: ['NETRC'] };
  const file = join(context.stagingDir, 'netrc');
  await writeFile(file, await netrcFor(credentialsFor, home), { mode: 0o600 });
  return { url, env: { NETRC: file, PIP_KEYRING_PROVIDER: 'disabled', UV_KEYRING_PROVIDER: 'disabled' }, inherit: [] };
}

const LOGIN = /\bmachine\s+(\S+)\s+login\s+(\S+)\s+password\s+(\S+)/g;

async function netrcFor(credentialsFor: readonly string[], home: string): Promise<string> {
  const hosts = credentialsFor.map((entry) => entry.replace(/[/:].*$/, ''));
  const text = (await readFile(join(home, '.netrc'), 'utf8').catch(absent)) ?? '';
  const logins = [...text.matchAll(LOGIN)].filter(([, host = '']) => hosts.includes(host));
  return logins.map(([login]) => `${login}\n`).join('');
}
