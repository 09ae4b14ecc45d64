// npm as the hub runs it: its options, registries and credentials, and what its errors mean.
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { InstallError } from '../../errors.ts';
import { absent } from '../../target/files.ts';
import { vetHost } from '../address.ts';
import type { ArtifactContext } from '../artifact.ts';
import { type Causes, findCause, HELD_BACK, lastLine, runToEnd } from '../program.ts';
import { type NpmSpec, notFromRegistry } from './npm-packages.ts';

export const NO_NPM = 'npm is not installed on this machine: install Node.js, which includes it, and try again.';

const OPTIONS = [
  ...['--no-audit', '--no-fund', '--no-progress', '--no-update-notifier', '--logs-max=0', '--loglevel=error'],
  ...['--fetch-retries=1', '--fetch-retry-mintimeout=1000', '--fetch-retry-maxtimeout=5000'],
  // The same result on every machine, whatever a person's configuration says.
  ...['--package-lock', '--lockfile-version=3', '--omit-lockfile-registry-resolved'],
  ...['--no-legacy-peer-deps', '--include=optional', '--bin-links'],
];

/** On a shared hub, dependencies come from the registry only: a package must not send npm to any other address or file. */
const REGISTRY_ONLY = ['--allow-git=none', '--allow-file=none', '--allow-directory=none', '--allow-remote=none'];

export interface NpmRequest {
  spec: NpmSpec;
  folder: string;
  /** Whether npm connects only to addresses that the hub itself may use; always so when the manifest names the registry. */
  isGuarded?: boolean;
}

export async function runNpm(
  args: readonly string[],
  { spec, folder, isGuarded = false }: NpmRequest,
  context: ArtifactContext,
): Promise<void> {
  const { package: name, registry_url } = spec;
  const [command = '', ...rest] = args;
  if (registry_url) await vetHost(registry_url, context);
  const { isOwnMachine } = context.trust;
  const { options, env, inherit } = isOwnMachine ? PERSONAL : await sharedConfig(spec, context);
  const allowed = isOwnMachine ? [] : REGISTRY_ONLY;
  const request = {
    program: 'npm',
    args: [command, '--prefix', folder, ...OPTIONS, ...allowed, ...options, ...registryOptions(spec), ...rest],
    ...{ cwd: folder, env, inherit, whenMissing: NO_NPM },
    isGuarded: isGuarded || registry_url !== undefined,
    isRegistrySecret: registry_url === undefined,
    why: (output: string) => findCause(output, causes(name)) ?? unknownCause(name, output),
  };
  await runToEnd(request, context);
}

const OWN_VARIABLES = ['registry', 'userconfig', 'globalconfig', 'cache'].flatMap((key) => [
  `npm_config_${key}`,
  `NPM_CONFIG_${key.toUpperCase()}`,
]);

/** On one's own machine, npm reads its configuration itself. It usually refers to these tokens. */
const PERSONAL = {
  options: [],
  env: {},
  inherit: [...OWN_VARIABLES, 'NPM_TOKEN', 'NODE_AUTH_TOKEN', 'GITHUB_TOKEN', 'CI_JOB_TOKEN'],
};

/** On a hub: the operator's registries unless the manifest names one, cache, certificates, and credentials for named hosts. */
async function sharedConfig({ registry_url }: NpmSpec, context: ArtifactContext) {
  const own = await readOwnConfig(context);
  const settings = (wanted: RegExp) =>
    Object.entries(own).flatMap(([key, value]) => (wanted.test(key) && value ? [`${key}=${value}`] : []));
  const registries = registry_url ? [] : settings(/^(@[^:/\s]+:)?registry$/);
  const credentials = await credentialLines(String(own.userconfig), context.trust.credentialsFor);
  const userConfig = join(context.stagingDir, 'npmrc');
  await writeFile(userConfig, [...registries, ...credentials, ''].join('\n'), { mode: 0o600 });
  return {
    options: settings(/^(cache|cafile)$/).map((setting) => `--${setting}`),
    env: { npm_config_userconfig: userConfig, npm_config_globalconfig: join(context.stagingDir, 'npmrc-global') },
    inherit: [...credentials.join('\n').matchAll(/\$\{(\w+)\}/g)].map(([, name]) => String(name)),
  };
}

/** npm leaves credentials out of this list. @throws InstallError */
async function readOwnConfig(context: ArtifactContext): Promise<Record<string, unknown>> {
  const { stagingDir: cwd } = context;
  // With a prefix, npm does not look for a project in the folders above, whose .npmrc it would read.
  const args = ['config', 'list', '--json', '--prefix', cwd, '--no-update-notifier', '--logs-max=0'];
  const why = () => 'npm cannot read its own configuration on this machine: run `npm config list` to see why.';
  const request = { program: 'npm', args, cwd, inherit: OWN_VARIABLES, whenMissing: NO_NPM, why };
  return z.record(z.string(), z.unknown()).parse(JSON.parse(await runToEnd(request, context)));
}

const CREDENTIAL = /^\s*\/\/(\S+?)\/?:(_authToken|_auth|username|_password)\s*=\s*(.*)$/;

/** The operator's credentials for these hosts; those for a whole host are narrowed to the path of the setting. */
async function credentialLines(userConfig: string, credentialsFor: readonly string[]): Promise<string[]> {
  const text = credentialsFor.length > 0 ? await readFile(userConfig, 'utf8').catch(absent) : '';
  return (text ?? '').split(/\r?\n/).flatMap((line) => {
    const [found, place, key, value] = CREDENTIAL.exec(line) ?? [];
    if (!found) return [];
    const places = credentialsFor.map((entry) => narrower(`${place}/`, `${entry.replace(/\/$/, '')}/`));
    return places.flatMap((allowed) => (allowed ? [`//${allowed}:${key}=${value}`] : []));
  });
}

function narrower(one: string, other: string): string | undefined {
  if (one.startsWith(other)) return one;
  return other.startsWith(one) ? other : undefined;
}

function registryOptions({ package: name, registry_url }: NpmSpec): string[] {
  if (!registry_url) return [];
  const scope = name.startsWith('@') ? [`--${name.split('/')[0]}:registry=${registry_url}`] : [];
  return [`--registry=${registry_url}`, ...scope];
}

export function isRemoteRefused(error: unknown): boolean {
  return error instanceof InstallError && /code EALLOWREMOTE/.test(String(error.extra.output));
}

const causes = (name: string): Causes => [
  [HELD_BACK, `The registry leads to an address that the hub may not connect to for '${name}'.`],
  [
    /'(\S+)@[^'@]*' (?:is not in this registry|could not be found)/,
    `'${name}' cannot be installed: the registry has no package '$1'.`,
  ],
  [/No matching version found for (\S+?)\.?\s/, 'The registry has no version $1.'],
  [/code EINTEGRITY/, `The registry sent other bytes than expected for '${name}': the digest differs.`],
  [/code EALLOW/, notFromRegistry(name)],
  [/code EBADPLATFORM/, `'${name}' does not support the platform of this machine.`],
  [/code ERESOLVE/, `The packages that '${name}' needs cannot be installed together.`],
  [/code EUSAGE[\s\S]*in sync/, `The locked packages of '${name}' are not complete: lock it again.`],
  [
    /code E(?:ACCES|PERM|ROFS|NOENT)\b[\s\S]*syscall mkdir/,
    'npm cannot create its cache folder: set HOME to a folder that this user may write to.',
  ],
  [
    /SELF_SIGNED_CERT|UNABLE_TO_\w+_CERT|CERT_\w+/,
    'npm does not trust the certificate of the registry: name the certificate of your authority in NODE_EXTRA_CA_CERTS.',
  ],
  [/code (?:E401|E403|ENEEDAUTH)/, `The registry requires a login for '${name}'.`],
  [
    /code (?:ENOTFOUND|ECONNREFUSED|ECONNRESET|ETIMEDOUT|EAI_AGAIN|ERR_SOCKET_TIMEOUT)/,
    'The npm registry could not be reached.',
  ],
];

function unknownCause(name: string, output: string): string {
  const firstLine = /^npm error (?!code|A complete log)(.+)/m.exec(output)?.[1] ?? 'it gave no reason';
  return `npm could not install '${name}': ${lastLine(firstLine)}.`;
}
