// npm packages: locked by npm, and installed from that lock with `npm ci`.
import { existsSync } from 'node:fs';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { shownAddress } from '../../../lib/secrets/secret-address.ts';
import { InstallError } from '../../errors.ts';
import type { ArtifactContext, ArtifactKind, Built, Program } from '../artifact.ts';
import { tryProgram } from '../program.ts';
import { checkPackages, type LockedPackages, NpmSpec, nameAt, projectFiles, readPackageLock } from './npm-packages.ts';
import { isRemoteRefused, NO_NPM, type NpmRequest, runNpm } from './npm-program.ts';

export const npmKind: ArtifactKind<NpmSpec> = {
  step: 'npm.install',
  spec: NpmSpec,
  describe: ({ package: name, version, registry_url }) =>
    `npm install ${name}@${version}${registry_url ? ` from ${shownAddress(registry_url)}` : ''}`,
  location: ({ package: name }) => ({ kind: 'hub', area: 'npm', name }),

  async unavailable(_spec, context) {
    return (await tryProgram('npm', ['--version'], context)) === undefined ? NO_NPM : undefined;
  },

  async resolve(spec, context) {
    const name = spec.package;
    const folder = join(context.stagingDir, 'npm');
    await mkdir(folder);
    await writeFile(join(folder, 'package.json'), '{"private":true}\n');
    await lock({ spec, folder }, context);
    const locked = readPackageLock(await readFile(join(folder, 'package-lock.json'), 'utf8'));
    const packages = checkPackages(name, locked);
    const main = packages[`node_modules/${name}`];
    if (!main?.version) throw new InstallError(`npm did not find a version of '${name}'.`);
    return { resolved: `${name}@${main.version}`, integrity: main.integrity ?? null, pins: { tool: 'npm', packages } };
  },

  async build(spec, { resolved, pins }, folder, context) {
    const name = spec.package;
    const packages = checkPackages(name, pins?.tool === 'npm' ? pins.packages : undefined);
    const main = packages[`node_modules/${name}`];
    if (!main?.version || `${name}@${main.version}` !== resolved)
      throw new InstallError(`The lockfile has no packages for ${resolved}: lock it again.`);
    const files = projectFiles(name, main.version, packages);
    for (const [file, text] of Object.entries(files)) await writeFile(join(folder, file), text);
    const scripts = context.trust.allowScripts ? RUN_SCRIPTS : ['--ignore-scripts'];
    await runNpm(['ci', ...scripts], { spec, folder }, context);
    return describeBuilt(name, packages, { folder, scriptsRan: context.trust.allowScripts });
  },
};

/** The second option is for npm versions that run only allowlisted scripts. */
const RUN_SCRIPTS = ['--no-ignore-scripts', '--dangerously-allow-all-scripts'];

/** npm rejects packages that bundle others as remote. They are then locked behind the proxy, and checked in the lock. */
async function lock(request: NpmRequest, context: ArtifactContext): Promise<void> {
  const { package: name, version } = request.spec;
  const install = (options: readonly string[], isGuarded: boolean) => {
    const args = ['install', '--package-lock-only', '--ignore-scripts', ...options, '--', `${name}@${version}`];
    return runNpm(args, { ...request, isGuarded }, context);
  };
  await install([], false).catch((refused: unknown) => {
    if (!isRemoteRefused(refused)) throw refused;
    return install(['--allow-remote=all'], true).catch(() => Promise.reject(refused));
  });
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
  const warning = `Install scripts did not run: ${notRun.join(', ')}. If the package does not start, install it on your own machine with --allow-scripts.`;
  return {
    programs: programsOf(packages[`node_modules/${name}`]?.bin ?? {}),
    warnings: notRun.length > 0 ? [warning] : [],
    extra: { tool: 'npm', packages: installed.length },
  };
}

function programsOf(bin: Record<string, string>): Program[] {
  const names = Object.keys(bin).filter((name) => /^[\w@][\w.@-]*$/.test(name));
  return names.map((name) => ({ name, file: `node_modules/.bin/${name}` }));
}
