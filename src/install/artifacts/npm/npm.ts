// npm packages: locked by npm, and installed by `npm ci` from that lock.
import { existsSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { shownAddress } from '../../../lib/secret-address.ts';
import { InstallError } from '../../errors.ts';
import type { ArtifactContext, ArtifactKind, Built, Program, Resolution } from '../artifact.ts';
import { works } from '../program.ts';
import { NO_NPM, npmConfig } from './npm-config.ts';
import { checkPackages, type LockedPackages, nameAt, projectFiles, readPackageLock } from './npm-lock.ts';
import { isRemoteRefused, type NpmRequest, runNpm } from './npm-program.ts';
import { NpmSpec } from './npm-spec.ts';

export const npmKind: ArtifactKind<NpmSpec> = {
  step: 'npm.install',
  spec: NpmSpec,
  describe: ({ package: name, version, registry_url }) =>
    `npm install ${name}@${version}${registry_url ? ` from ${shownAddress(registry_url)}` : ''}`,
  location: ({ package: name }) => ({ kind: 'hub', area: 'npm', name: folderName(name) }),

  async unavailable(_spec, context) {
    const hasAll = (await works('node', ['--version'], context)) && (await works('npm', ['--version'], context));
    return hasAll ? undefined : NO_NPM;
  },

  async resolve(spec, context) {
    const { package: name, version } = spec;
    const folder = join(context.stagingDir, 'npm');
    await mkdir(folder);
    await writeFile(join(folder, 'package.json'), '{"private":true}\n');
    await lock(`${name}@${version}`, { folder, name, config: await npmConfig(spec, context) }, context);
    const packages = checkPackages(name, await readPackageLock(folder), registryOnly(context));
    const main = packages[`node_modules/${name}`];
    if (!main?.version) throw new InstallError(`npm did not find a version of '${name}'.`);
    return { resolved: `${name}@${main.version}`, integrity: main.integrity ?? null, pins: { tool: 'npm', packages } };
  },

  async build(spec, resolution, folder, context) {
    const name = spec.package;
    const packages = checkPackages(name, pinnedPackages(spec, resolution), registryOnly(context));
    const main = packages[`node_modules/${name}`];
    if (!main?.version || `${name}@${main.version}` !== resolution.resolved)
      throw new InstallError(`The lockfile has no packages for ${resolution.resolved}: lock it again.`);
    const files = projectFiles(name, main.version, packages);
    for (const [file, text] of Object.entries(files)) await writeFile(join(folder, file), text);
    const scripts = context.trust.allowScripts ? RUN_SCRIPTS : ['--ignore-scripts'];
    await runNpm(['ci', ...scripts], { folder, name, config: await npmConfig(spec, context) }, context);
    return describeBuilt(name, packages, { folder, scriptsRan: context.trust.allowScripts });
  },
};

/** The second is for versions of npm that run only the scripts of packages on a list. */
const RUN_SCRIPTS = ['--no-ignore-scripts', '--dangerously-allow-all-scripts'];

function folderName(name: string): string {
  return name.replace(/^@/, '').replace('/', '-').replace(/\.+$/, '');
}

const registryOnly = ({ trust }: ArtifactContext) => ({ registryOnly: !trust.isOwnMachine });

/** npm also refuses packages that bundle others as remote. With the guard on, they are let through and checked in the lock. */
async function lock(wanted: string, request: NpmRequest, context: ArtifactContext): Promise<void> {
  const args = ['install', '--package-lock-only', '--ignore-scripts'];
  try {
    await runNpm([...args, '--', wanted], request, context);
  } catch (error) {
    if (!isRemoteRefused(error)) throw error;
    const guarded = { ...request, config: { ...request.config, isGuarded: true } };
    await runNpm([...args, '--allow-remote=all', '--', wanted], guarded, context).catch(() => {
      throw error;
    });
  }
}

function pinnedPackages(spec: NpmSpec, { pins }: Resolution): unknown {
  if (pins?.tool === 'npm') return pins.packages;
  throw new InstallError(`The lockfile has no packages for '${spec.package}': lock it again.`);
}

function describeBuilt(
  name: string,
  packages: LockedPackages,
  { folder, scriptsRan }: { folder: string; scriptsRan: boolean },
): Built {
  // Optional packages for other platforms are in the lock, but not in the folder.
  const installed = Object.keys(packages).filter((path) => existsSync(join(folder, path)));
  const withScripts = installed.filter((path) => packages[path]?.hasInstallScript).map(nameAt);
  const notRun = scriptsRan ? [] : [...new Set(withScripts)].sort();
  return {
    programs: programsOf(packages[`node_modules/${name}`]?.bin ?? {}),
    warnings: notRun.length > 0 ? [scriptsWarning(notRun)] : [],
    extra: { tool: 'npm', packages: installed.length },
  };
}

function scriptsWarning(names: readonly string[]): string {
  return `Install scripts did not run: ${names.join(', ')}. If the package does not start, install it on your own machine with --allow-scripts.`;
}

function programsOf(bin: Record<string, string>): Program[] {
  const ending = process.platform === 'win32' ? '.cmd' : '';
  const names = Object.keys(bin).filter((name) => /^[\w@][\w.@-]*$/.test(name));
  return names.map((name) => ({ name, file: `node_modules/.bin/${name}${ending}` }));
}
