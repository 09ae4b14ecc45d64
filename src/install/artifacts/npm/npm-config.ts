// Which registry npm uses, and which credentials it gets.
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { absent } from '../../../lib/absent.ts';
import { InstallError } from '../../errors.ts';
import type { ArtifactContext } from '../artifact.ts';
import { vetRegistry } from '../package-registry.ts';
import { outputEnd, runProgram } from '../program.ts';
import type { NpmSpec } from './npm-spec.ts';

export const NO_NPM = 'npm is not installed on this machine: install Node.js, which includes it, and try again.';

export interface NpmConfig {
  options: string[];
  env: Record<string, string>;
  /** Variables of the environment that npm reads, or that its configuration refers to. */
  inherit: string[];
  /** Addresses that the operator configured. */
  ownAddresses: string[];
  /** Whether a manifest names the registry. */
  isGuarded: boolean;
}

/**
 * On one's own machine, npm reads its configuration itself. On a shared hub it sees the operator's registries and the
 * credentials for hosts in `trust.credentialsFor`, and nothing else of the operator's configuration.
 * @throws InstallError when the registry of the manifest may not be used.
 */
export async function npmConfig(spec: NpmSpec, context: ArtifactContext): Promise<NpmConfig> {
  if (spec.registry_url) await vetRegistry(spec.registry_url, context);
  const options = spec.registry_url ? registryOptions(spec.package, spec.registry_url) : [];
  const isGuarded = spec.registry_url !== undefined;
  if (context.trust.isOwnMachine)
    return { options, env: {}, inherit: [...OWN_VARIABLES, ...TOKENS], ownAddresses: [], isGuarded };
  const own = await readOwnConfig(context);
  const registries = Object.entries(own).filter(([key, value]) => REGISTRY.test(key) && URL.canParse(String(value)));
  const credentials = await credentialLines(String(own.userconfig), context.trust.credentialsFor);
  const lines = isGuarded ? credentials : [...registries.map(([key, value]) => `${key}=${value}`), ...credentials];
  return {
    options: [...options, ...ownOptions(own)],
    env: await writeConfig(lines, context),
    inherit: [...credentials.join('\n').matchAll(/\$\{(\w+)\}/g)].map(([, name]) => name as string),
    ownAddresses: isGuarded ? [] : registries.map(([, value]) => String(value)),
    isGuarded,
  };
}

const OWN_VARIABLES = ['registry', 'userconfig', 'globalconfig', 'cache'].flatMap((key) => [
  `npm_config_${key}`,
  `NPM_CONFIG_${key.toUpperCase()}`,
]);
/** Names that configurations usually refer to. */
const TOKENS = ['NPM_TOKEN', 'NODE_AUTH_TOKEN', 'GITHUB_TOKEN', 'CI_JOB_TOKEN'];

const REGISTRY = /^(@[^:/\s]+:)?registry$/;

function registryOptions(name: string, url: string): string[] {
  const scope = name.startsWith('@') ? [`--${name.split('/')[0]}:registry=${url}`] : [];
  return [`--registry=${url}`, ...scope];
}

/** Settings that npm needs in order to work on this machine. */
function ownOptions({ cache, cafile }: Record<string, unknown>): string[] {
  return Object.entries({ cache, cafile }).flatMap(([key, value]) =>
    typeof value === 'string' && value !== '' ? [`--${key}=${value}`] : [],
  );
}

/** npm leaves credentials out of this list. */
async function readOwnConfig(context: ArtifactContext): Promise<Record<string, unknown>> {
  const { stagingDir } = context;
  // With a prefix, npm does not look for a project in the folders above, whose .npmrc it would read.
  const args = ['config', 'list', '--json', '--prefix', stagingDir, '--no-update-notifier', '--logs-max=0'];
  const request = { program: 'npm', args, cwd: stagingDir, inherit: OWN_VARIABLES, whenMissing: NO_NPM };
  const { exitCode, stdout, stderr } = await runProgram(request, context);
  if (exitCode !== 0)
    throw new InstallError('npm cannot read its own configuration on this machine: run `npm config list` to see why.', {
      extra: { output: outputEnd(stderr) },
    });
  return z.record(z.string(), z.unknown()).parse(JSON.parse(stdout));
}

async function writeConfig(lines: readonly string[], { stagingDir }: ArtifactContext): Promise<Record<string, string>> {
  const [userConfig, globalConfig] = [join(stagingDir, 'npmrc'), join(stagingDir, 'npmrc-global')];
  await writeFile(userConfig, lines.map((line) => `${line}\n`).join(''), { mode: 0o600 });
  return { npm_config_userconfig: userConfig, npm_config_globalconfig: globalConfig };
}

const CREDENTIAL = /^\s*\/\/([^/\s]+)(\/[^\s=]*?)?:(_authToken|_auth|username|_password)\s*=\s*(.*)$/;

/** The operator's credentials for these hosts; those for a whole host are narrowed to the path of the setting. */
async function credentialLines(userConfig: string, credentialsFor: readonly string[]): Promise<string[]> {
  if (credentialsFor.length === 0) return [];
  const text = (await readFile(userConfig, 'utf8').catch(absent)) ?? '';
  return text.split(/\r?\n/).flatMap((line) => {
    const [, host, path = '/', key, value] = CREDENTIAL.exec(line) ?? [];
    return credentialsFor.flatMap((entry) => {
      const [, namedHost, namedPath = '/'] = /^([^/]+)(\/.*)?$/.exec(entry.endsWith('/') ? entry : `${entry}/`) ?? [];
      if (host === undefined || host !== namedHost) return [];
      const narrower = [path, namedPath].sort((a, b) => b.length - a.length)[0] ?? '/';
      return narrower.startsWith(path) && narrower.startsWith(namedPath)
        ? [`//${host}${narrower}:${key}=${value}`]
        : [];
    });
  });
}
