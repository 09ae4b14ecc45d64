// Python packages: locked with digests, and installed into a separate virtual environment.
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { shownAddress } from '../../../lib/secrets/secret-address.ts';
import { explain, InstallError } from '../../errors.ts';
import type { ArtifactContext, ArtifactKind } from '../artifact.ts';
import { compareVersions, findInterpreter, type Interpreter, programsOf } from './interpreter.ts';
import { neededPython, pythonTool } from './python-tool.ts';
import { findRequirement, integrityOf, type Pins, PypiSpec, type Requirement, readPins } from './requirements.ts';

export const pythonKind: ArtifactKind<PypiSpec> = {
  step: 'pypi.install',
  spec: PypiSpec,
  describe: ({ requirement, indexUrl }) =>
    `pip install '${requirement.replaceAll("'", '"')}'${indexUrl ? ` from ${shownAddress(indexUrl)}` : ''}`,
  location: ({ name }) => ({ kind: 'hub', area: 'python', name }),

  unavailable: ({ name }, context, pins) => interpreterFor(name, context, pins).then(() => undefined, explain),

  async resolve(spec, context) {
    const pins = await lock(spec, context);
    const main = findRequirement(spec.name, pins.requirements);
    if (!main) throw new InstallError(`${pins.tool} did not find a version of '${spec.name}'.`);
    return { resolved: resolvedName(main), integrity: integrityOf(main), pins };
  },

  async build({ name, indexUrl }, resolution, folder, context) {
    const pins = readPins(name, resolution.pins);
    const main = findRequirement(name, pins.requirements);
    if (!main || resolution.resolved !== resolvedName(main))
      throw new InstallError(`The lockfile has no packages for ${resolution.resolved}: lock it again.`);
    const interpreter = await interpreterFor(name, context, pins);
    const requirementsFile = join(context.stagingDir, 'requirements.txt');
    await writeFile(requirementsFile, pins.requirements.map((line) => `${line}\n`).join(''));
    const tool = await pythonTool(indexUrl, interpreter, context);
    await tool.install(folder, requirementsFile);
    return { programs: await programsOf(name, folder), extra: { tool: interpreter.tool, python: interpreter.version } };
  },
};

/** Locks for the machine's preferred Python, or for another one if the packages need it. @throws InstallError */
async function lock(spec: PypiSpec, context: ArtifactContext, preferred?: string): Promise<Pins> {
  const interpreter = await findInterpreter(context, preferred);
  const tool = await pythonTool(spec.indexUrl, interpreter, context);
  try {
    const locked = await tool.lock(spec.requirement);
    return readPins(spec.name, { tool: interpreter.tool, python: interpreter.version, ...locked });
  } catch (error) {
    const needed = neededPython(error);
    if (needed === undefined || preferred !== undefined) throw error;
    return lock(spec, context, needed);
  }
}

function resolvedName({ name, version }: Requirement): string {
  return `${name}==${version}`;
}

/** @throws InstallError if the lock is for another platform or Python. */
async function interpreterFor(name: string, context: ArtifactContext, locked?: unknown): Promise<Interpreter> {
  if (locked === undefined) return findInterpreter(context);
  const pins = readPins(name, locked);
  const interpreter = await findInterpreter(context, pins.python);
  const { platform, version } = interpreter;
  const isAnywhere = pins.platform === 'any';
  if (!isAnywhere && pins.platform !== platform)
    throw new InstallError(
      `'${name}' is locked for ${pins.platform}, but this machine is ${platform}. Lock it again with uv, which locks for all platforms.`,
    );
  const order = compareVersions(version, pins.python);
  if (isAnywhere ? order >= 0 : order === 0) return interpreter;
  throw new InstallError(
    `'${name}' is locked for Python ${pins.python}${isAnywhere ? ' and newer' : ''}, but this machine has Python ${version}. Install Python ${pins.python}, or lock it again${isAnywhere ? ' here' : ' with uv'}.`,
  );
}
