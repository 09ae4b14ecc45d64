// Packages of Python: into a virtual environment inside the target, by digest.
import { writeFile } from 'node:fs/promises';
import { join, relative, sep } from 'node:path';
import { FetchError } from '../../lib/fetch-error.ts';
import { publicUrl } from './archive-install.ts';
import {
  type ArtifactInstaller,
  type InstallContext,
  InstallError,
  type InstalledArtifact,
  type LockedResult,
} from './artifact-installer.ts';
import { describedName, readEnvironment } from './pypi-environment.ts';
import { fromLocked, type PinnedPackage, pinnedRequirements, toLocked } from './pypi-packages.ts';
import { VENV } from './pypi-python.ts';
import { assertListInside, changedFile, hasList } from './pypi-record.ts';
import { PypiSpec } from './pypi-spec.ts';
import { findPythonTool, type PythonTool } from './pypi-tools.ts';
import { isVersion } from './pypi-version.ts';
import { removeHeld } from './remove-held.ts';

export const pypiInstaller: ArtifactInstaller<PypiSpec> = {
  step: 'pypi.install',
  spec: PypiSpec,
  command: ({ requirement, indexUrl }) =>
    `pip install ${indexUrl ? `--index-url ${publicUrl(indexUrl)} ` : ''}'${requirement.replaceAll("'", '"')}' into ${VENV}, by uv where it is there`,

  async install(spec, context) {
    if (spec.indexUrl) await vetIndex(spec.indexUrl, context);
    const lockedPackages = context.locked && readLocked(spec, context.locked);
    const tool = await findPythonTool(context);
    const isNew = await tool.prepare();
    try {
      // What is locked is installed without asking again what would be newest today.
      const packages = lockedPackages ?? (await tool.resolve(spec.requirement, spec.indexUrl));
      return await installPackages(packages, spec, tool, context);
    } catch (error) {
      if (isNew) await removeHeld(context.targetDir, VENV).catch(() => {});
      throw error;
    }
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

/** Installers leave alone what has the right name and version. @throws InstallError when to replace one is not safe. */
async function findChanged(packages: readonly PinnedPackage[], { targetDir }: InstallContext): Promise<string[]> {
  const environment = await readEnvironment(join(targetDir, VENV));
  const wanted = new Map(packages.map(({ name, version }) => [name, `${name}==${version}`]));
  const changed = new Set<string>();
  for (const description of environment?.descriptions ?? []) {
    const name = wanted.get(describedName(description));
    if (!environment || name === undefined) continue;
    await assertListInside(environment, description);
    // Half of a package, as an install leaves it that was ended: what is put in its place goes over it.
    if (!(await hasList(environment, description)))
      await removeHeld(targetDir, relative(targetDir, join(environment.packages, description)).split(sep).join('/'));
    else if (await changedFile(environment, description)) changed.add(name);
  }
  return [...changed];
}

async function installPackages(
  packages: readonly PinnedPackage[],
  { name, requirement, indexUrl }: PypiSpec,
  tool: PythonTool,
  context: InstallContext,
): Promise<InstalledArtifact> {
  const extra = { tool: tool.name, requirement };
  if (packages.length === 0 && requirement.includes(';')) {
    const reason = 'Its marker does not fit this machine.';
    return { resolved: null, integrity: null, path: null, extra: { ...extra, skipped: true, reason } };
  }
  const own = packages.find((each) => each.name === name);
  if (!own) throw new InstallError(`${tool.name} did not find out a version of '${name}'.`);
  const undigested = packages.find(({ hashes }) => hashes.length === 0);
  if (undigested) throw new InstallError(`The index gives no digest for ${undigested.name}==${undigested.version}.`);
  const file = join(context.scratchDir, 'requirements.txt');
  await writeFile(file, pinnedRequirements(packages));
  const repaired = await findChanged(packages, context);
  await tool.install(file, indexUrl, repaired.length > 0);
  const others = packages.filter((each) => each !== own).map(toLocked);
  const dependencies = others.sort((a, b) => (a.resolved < b.resolved ? -1 : 1));
  return {
    ...toLocked(own),
    dependencies,
    path: VENV,
    extra: { ...extra, version: own.version, ...(repaired.length > 0 && { repaired }) },
  };
}
