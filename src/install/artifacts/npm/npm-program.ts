// Runs npm: its options, registries and credentials, and the meaning of its errors.
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { InstallError } from '../../errors.ts';
import { absent } from '../../target/files.ts';
import { mayUseCredentials, vetHost } from '../address.ts';
import type { ArtifactContext } from '../artifact.ts';
import {
  type Causes,
  findCause,
  lastLine,
  NEEDS_LOGIN,
  REFUSED_BY_PROXY,
  runToEnd,
  tryProgram,
  UNREACHABLE,
  withLoginFolder,
} from '../program.ts';
import { type NpmSpec, notFromRegistry } from './npm-packages.ts';

export const NO_NPM = 'npm is not installed on this machine: install Node.js, which includes it, and try again.';
const OPTIONS = [
  ...['--no-audit', '--no-fund', '--no-progress', '--no-update-notifier', '--logs-max=0', '--loglevel=error'],
  ...['--fetch-retries=1', '--fetch-retry-mintimeout=1000', '--fetch-retry-maxtimeout=5000'],
  // Ensures the same result on every machine, regardless of the user's configuration.
  ...['--package-lock', '--lockfile-version=3', '--omit-lockfile-registry-resolved'],
  ...['--no-legacy-peer-deps', '--include=optional', '--bin-links'],
  // Dependencies come only from the registry: a package must not make npm read any other address or file.
  ...['--allow-git=none', '--allow-file=none', '--allow-directory=none', '--allow-remote=none'],
];

export interface NpmRequest {
  spec: NpmSpec;
  folder: string;
  /** Whether npm may connect only to addresses that the hub may use; always true if the manifest names the registry. */
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
  else if (!isGuarded && !context.trust.isOwnMachine && !context.allowPrivateNetwork) await assertNpmVersion(context);
  const request = {
    program: 'npm',
    args: [command, '--prefix', folder, ...OPTIONS, ...registryOptions(spec), ...rest],
    ...{ cwd: folder, whenMissing: NO_NPM },
    isGuarded: isGuarded || registry_url !== undefined,
    isRegistrySecret: registry_url === undefined,
    why: (output: string) => {
      const [, firstLine = 'it gave no reason'] = /^npm error (?!code|A complete log)(.+)/m.exec(output) ?? [];
      return findCause(output, causes(name)) ?? `npm could not install '${name}': ${lastLine(firstLine)}.`;
    },
  };
  await withLoginFolder(async (logins) => {
    const config = context.trust.isOwnMachine ? PERSONAL : await sharedConfig(spec, logins, context);
    await runToEnd({ ...request, ...config }, context);
  });
}

/** Versions before 11.14 ignore `--allow-remote` silently. @throws InstallError */
async function assertNpmVersion(context: ArtifactContext): Promise<void> {
  const version = (await tryProgram('npm', ['--version'], context)) ?? '';
  const [major = 0, minor = 0] = version.split('.').map(Number);
  if (version && (major < 11 || (major === 11 && minor < 14)))
    throw new InstallError(
      `A hub needs npm 11.14 or newer: npm ${version}, which is installed here, connects to any address that a package names. Run 'npm install -g npm' on the machine of the hub.`,
    );
}

const OWN_VARIABLES = ['registry', 'userconfig', 'globalconfig', 'cache'].flatMap((key) => [
  `npm_config_${key}`,
  `NPM_CONFIG_${key.toUpperCase()}`,
]);

/** On the user's own machine, npm reads its own configuration, which usually refers to these tokens. */
const PERSONAL = {
  env: {},
  inherit: [...OWN_VARIABLES, 'NPM_TOKEN', 'NODE_AUTH_TOKEN', 'GITHUB_TOKEN', 'CI_JOB_TOKEN'],
};

const REGISTRY = /^\s*(@[^:/\s]+:)?registry\s*=/;
const SHARED_SETTING = /^\s*(cache|cafile)\s*=/;
const CREDENTIAL = /^\s*\/\/([^/\s]+)(\/\S*?)?:(?:_authToken|_auth|username|_password)\s*=/;

/** On a hub, uses parts of the operator's `.npmrc`: registries unless the manifest names one, and credentials for allowed hosts. */
async function sharedConfig({ registry_url }: NpmSpec, folder: string, { home, trust }: ArtifactContext) {
  const text = (await readFile(join(home, '.npmrc'), 'utf8').catch(absent)) ?? '';
  const lines = text.split(/\r?\n/).flatMap((line) => {
    const isShared = SHARED_SETTING.test(line) || (REGISTRY.test(line) && !registry_url);
    const [, host, path] = CREDENTIAL.exec(line) ?? [];
    return isShared || (host && mayUseCredentials(trust, host, path)) ? [line] : [];
  });
  const userConfig = join(folder, 'npmrc');
  await writeFile(userConfig, lines.map((line) => `${line}\n`).join(''), { mode: 0o600 });
  return {
    env: { npm_config_userconfig: userConfig, npm_config_globalconfig: join(folder, 'npmrc-global') },
    inherit: [...lines.join('\n').matchAll(/\$\{(\w+)\}/g)].map(([, name]) => String(name)),
  };
}

function registryOptions({ package: name, registry_url }: NpmSpec): string[] {
  if (!registry_url) return [];
  const scope = name.startsWith('@') ? [`--${name.split('/')[0]}:registry=${registry_url}`] : [];
  return [`--registry=${registry_url}`, ...scope];
}

export function isRemoteRefused(error: unknown): boolean {
  return error instanceof InstallError && /code EALLOWREMOTE/.test(String(error.extra.output));
}

const UNTRUSTED = 'npm does not trust the certificate of the registry';
const causes = (name: string): Causes => [
  [REFUSED_BY_PROXY, `The registry leads to an address that the hub may not connect to for '${name}'.`],
  [/'(\S+)@[^'@]*' (?:is not in this registry|could not be found)/, "The registry has no package '$1'."],
  [/No matching version found for (\S+?)\.?\s/, 'The registry has no version $1.'],
  [/code EINTEGRITY/, `The registry sent other bytes than expected for '${name}': the digest differs.`],
  [/code EALLOW/, notFromRegistry(name)],
  [/code EBADPLATFORM/, `'${name}' does not support the platform of this machine.`],
  [/code ERESOLVE/, `The packages that '${name}' needs cannot be installed together.`],
  [/code EUSAGE[\s\S]*in sync/, `The locked packages of '${name}' are not complete: lock it again.`],
  [/SELF_SIGNED_CERT|UNABLE_TO_\w+_CERT|CERT_\w+/, `${UNTRUSTED}: set NODE_EXTRA_CA_CERTS to your CA certificate.`],
  [/code (?:E401|E403|ENEEDAUTH)/, `The registry refused '${name}': ${NEEDS_LOGIN}.`],
  [UNREACHABLE, 'The npm registry could not be reached.'],
];
