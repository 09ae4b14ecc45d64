// Packages of Python: into a virtual environment inside the target, by digest.
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { FetchError } from '../../lib/fetch-error.ts';
import { publicUrl } from './archive-install.ts';
import {
  type ArtifactInstaller,
  type InstallContext,
  InstallError,
  type InstalledArtifact,
  type LockedResult,
} from './artifact-installer.ts';
import { findLacking } from './pypi-lacking.ts';
import { fromLocked, type PinnedPackage, pinnedRequirements, toLocked } from './pypi-packages.ts';
import { VENV } from './pypi-python.ts';
import { PypiSpec } from './pypi-spec.ts';
import { type PreparedVenv, prepareVenv } from './pypi-tools.ts';
import { isVersion } from './pypi-version.ts';

export const pypiInstaller: ArtifactInstaller<PypiSpec> = {
  step: 'pypi.install',
  spec: PypiSpec,
  command: ({ requirement, indexUrl }) =>
    `pip install ${indexUrl ? `--index-url ${publicUrl(indexUrl)} ` : ''}'${requirement.replaceAll("'", '"')}' into ${VENV}, by uv where it is there`,

  async install(spec, context) {
    if (spec.indexUrl) await vetIndex(spec.indexUrl, context);
    const lockedPackages = context.locked && readLocked(spec, context.locked);
    const venv = await prepareVenv(context);
    // What is locked is installed without asking again what would be newest today.
    const packages = lockedPackages ?? (await venv.resolve(spec.requirement, spec.indexUrl));
    return installPackages(packages, spec, venv, context);
  },
};

async function vetIndex(indexUrl: string, { vetAddress }: InstallContext): Promise<void> {
  await vetAddress(indexUrl).catch((error: unknown) => {
    if (!(error instanceof FetchError)) throw error;
    throw new InstallError(`The package index ${publicUrl(indexUrl)} cannot be used: ${error.message}.`, {
      cause: error,
    });
  });
}

/** The package itself, then what came along. @throws InstallError when the lockfile is about something else. */
function readLocked(spec: PypiSpec, locked: LockedResult): PinnedPackage[] {
  // Its marker did not fit then.
  if (locked.resolved === null && spec.requirement.includes(';')) return [];
  const packages = [locked, ...(locked.dependencies ?? [])].map(fromLocked);
  const [own] = packages;
  if (!own || own.name !== spec.name || (spec.exactVersion && !isVersion(own.version, spec.exactVersion)))
    throw new InstallError(`The lockfile says ${locked.resolved}, and the manifest ${spec.requirement}.`);
  if (packages.some((each) => each === undefined))
    throw new InstallError(`The lockfile has no digest for something that ${locked.resolved} needs.`);
  return packages.filter((each) => each !== undefined);
}

async function installPackages(
  packages: readonly PinnedPackage[],
  { name, requirement, indexUrl }: PypiSpec,
  venv: PreparedVenv,
  context: InstallContext,
): Promise<InstalledArtifact> {
  const extra = { tool: venv.tool, requirement };
  if (packages.length === 0 && requirement.includes(';')) {
    const reason = 'Its marker does not fit this machine.';
    return { resolved: null, integrity: null, path: null, extra: { ...extra, skipped: true, reason } };
  }
  const own = packages.find((each) => each.name === name);
  if (!own) throw new InstallError(`${venv.tool} did not find out a version of '${name}'.`);
  const undigested = packages.find(({ hashes }) => hashes.length === 0);
  if (undigested) throw new InstallError(`The index gives no digest for ${undigested.name}==${undigested.version}.`);
  const repaired = await fill(venv, { packages, indexUrl }, context);
  const others = packages.filter((each) => each !== own).map(toLocked);
  const dependencies = others.sort((a, b) => (a.resolved < b.resolved ? -1 : 1));
  return {
    ...toLocked(own),
    dependencies,
    path: VENV,
    extra: { ...extra, version: own.version, ...(repaired.length > 0 && { repaired }) },
  };
}

/** Of what is there already, only what is not as it should be: this is told, where somebody changed it. */
async function fill(
  venv: PreparedVenv,
  { packages, indexUrl }: { packages: readonly PinnedPackage[]; indexUrl: string | undefined },
  context: InstallContext,
): Promise<string[]> {
  const lacking = venv.isNew ? { packages, changed: [] } : await findLacking(packages, venv.there);
  if (lacking.packages.length > 0) {
    const file = join(context.workDir, 'requirements.txt');
    await writeFile(file, pinnedRequirements(lacking.packages));
    await venv.install(file, indexUrl);
  }
  await venv.putInPlace(lacking.packages.map(({ name }) => name));
  return lacking.changed;
}
