// Launchers in `.hub/bin`, which start exactly what was installed, and the server's command that uses them.
import { chmod, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { kindNameOf } from '../catalog/artifact-kind.ts';
import { bundleVariables } from '../catalog/launch/bundle.ts';
import { type Launch, startInstalled } from '../catalog/launch/launch.ts';
import { asText, type JsonObject } from '../lib/json.ts';
import type { Program } from './artifacts/artifact.ts';
import type { InstalledArtifact } from './artifacts/place.ts';
import type { BuiltArtifacts, InstallJob } from './build-artifacts.ts';
import type { LockedEntity, LockedLauncher } from './contract.ts';
import { launcherText } from './launcher-text.ts';
import { assertWritable, pathInside, writeFileInside } from './target/files.ts';
import { HUB_FOLDER, safeName } from './target/places.ts';

const BIN = `${HUB_FOLDER}/bin`;

export function launcherPath(name: string): string {
  return `${BIN}/${name}`;
}

/** A name that is unique in the lockfile. */
export function launcherName(
  wanted: string,
  { subject: { slug }, others }: { subject: { slug: string }; others: readonly Pick<LockedEntity, 'launchers'>[] },
): string {
  const taken = namesOf(others);
  const names = [wanted, `${lastPart(slug)}-${wanted}`, `${slug}-${wanted}`].map((name) => safeName(name));
  return names.find((name) => !taken.has(name)) ?? `${names.at(-1)}-${taken.size}`;
}

function namesOf(entities: readonly Pick<LockedEntity, 'launchers'>[]): Set<string> {
  return new Set(entities.flatMap(({ launchers = [] }) => launchers.map(({ name }) => name)));
}

export async function writeLaunchers(
  targetDir: string,
  entity: Pick<LockedEntity, 'name' | 'launchers'>,
  artifacts: readonly { installed: InstalledArtifact | undefined }[],
): Promise<void> {
  for (const launcher of entity.launchers ?? []) {
    const artifact = artifacts[launcher.artifact]?.installed;
    if (!artifact) continue;
    const text = launcherText(launcher, artifact, entity);
    await chmod(await writeFileInside(targetDir, launcherPath(launcher.name), text), 0o755);
  }
}

/** @throws InstallError if the lockfile or the target does not allow one to be written. */
export async function assertLaunchersWritable(
  targetDir: string,
  entity: Pick<LockedEntity, 'launchers'>,
): Promise<void> {
  for (const { name } of entity.launchers ?? []) await assertWritable(targetDir, launcherPath(name));
}

export async function removeOldLaunchers(targetDir: string, entities: readonly LockedEntity[]): Promise<void> {
  const wanted = namesOf(entities);
  const folder = await pathInside(targetDir, BIN);
  const old = (await readdir(folder).catch(() => [])).filter((name) => !wanted.has(name));
  await Promise.all(old.map((name) => rm(join(folder, name), { force: true, recursive: true })));
}

type InstalledParts = Pick<InstallJob & BuiltArtifacts, 'launch' | 'subject' | 'artifacts' | 'others'>;

export interface Started {
  launchers: LockedLauncher[];
  /** The input of configurations and glue code. */
  launch: Launch;
  /** Why the server may not start, although its package is installed. */
  warning?: string;
}

/** Every Python environment has its interpreter, which is not a program of the entity. */
const INTERPRETER = 'python';

export function startOf(parts: InstalledParts): Started {
  const { launch, artifacts } = parts;
  const launchers: LockedLauncher[] = [];
  for (const [artifact, { installed }] of artifacts.entries())
    for (const program of programNames(installed?.programs ?? [])) {
      const name = launcherName(program, { ...parts, others: [...parts.others, { launchers }] });
      launchers.push({ name, artifact, program });
    }
  const unchanged = { launchers, launch };
  if (launch.kind === 'remote') return unchanged;
  return startPackage(parts, launchers) ?? startBundle(parts, launchers) ?? startCommand(parts, launchers) ?? unchanged;
}

function programNames(programs: readonly Program[]): string[] {
  return programs.map(({ name }) => name).filter((name) => name !== INTERPRETER);
}

/** A command such as `npx pkg` or `docker run image` whose package was installed. */
function startPackage(parts: InstalledParts, launchers: LockedLauncher[]): Started | undefined {
  const { launch, artifacts } = parts;
  if (launch.kind !== 'command' || !launch.package) return undefined;
  const { kind, name, program } = launch.package;
  const artifact = artifacts.findIndex(
    ({ planned }) => kindNameOf(planned.kind, planned.spec) === kind && isNamed(planned.spec, name),
  );
  const installed = artifacts[artifact]?.installed;
  if (!installed) return undefined;
  if (kind === 'oci') {
    const image = installed.resolved;
    return image === null
      ? undefined
      : serverLauncher(parts, launchers, { artifact }, (path) => startInstalled(launch, path, image));
  }
  const start = (path: string) => startInstalled(launch, path);
  if (program === INTERPRETER) return serverLauncher(parts, launchers, { artifact, program }, start);
  const names = programNames(installed.programs ?? []);
  const chosen = mainProgram(names, program ?? name);
  const launcher = launchers.find((each) => each.artifact === artifact && each.program === chosen);
  if (launcher) return { launchers, launch: start(launcherPath(launcher.name)) };
  const warning =
    names.length === 0
      ? `The package '${name}' has no program, so this server cannot be started.`
      : `The package '${name}' has the programs ${names.join(', ')}, and the manifest does not say which one to use, so this server may not start.`;
  return { launchers, launch, warning };
}

function isNamed(spec: JsonObject, name: string): boolean {
  return plainName(asText(spec.package) ?? asText(spec.image) ?? '') === plainName(name);
}

/** The program named like the package, the only program, or the only one for MCP. */
function mainProgram(names: readonly string[], wanted: string): string | undefined {
  const short = plainName(wanted.split('/').at(-1) ?? wanted);
  const named = names.find((name) => plainName(name) === short);
  const candidates = names.length === 1 ? names : names.filter((name) => /(^|[-_])mcp([-_]|$)/i.test(name));
  return named ?? (candidates.length === 1 ? candidates[0] : undefined);
}

/** Drops an image's tag and digest and a package's extras; Python treats `-` and `_` alike. */
function plainName(name: string): string {
  return name
    .replace(/@sha256:.*$|(?<=\/[^/]*):[^/]*$|\[.*$/, '')
    .replace(/^docker\.io\/(library\/)?/, '')
    .replace(/[-_.]+/g, '-')
    .toLowerCase();
}

/** The server's launcher takes precedence over a program of the same name. */
function serverLauncher(
  parts: InstalledParts,
  launchers: readonly LockedLauncher[],
  own: Omit<LockedLauncher, 'name'> & { artifact: number },
  start: (path: string) => Launch,
): Started {
  const name = launcherName(lastPart(parts.subject.slug), parts);
  const others = launchers.filter((each) => each.name !== name);
  return { launchers: [...others, { name, ...own }], launch: start(launcherPath(name)) };
}

function lastPart(slug: string): string {
  return slug.split('/').at(-1) ?? slug;
}

/** An MCP bundle contains its own start command. */
function startBundle(parts: InstalledParts, launchers: LockedLauncher[]): Started | undefined {
  const artifact = parts.artifacts.findIndex(({ installed }) => installed?.bundle);
  const bundle = parts.artifacts[artifact]?.installed?.bundle;
  if (!bundle) return undefined;
  const env = bundleVariables(bundle, parts.subject.name);
  const start = (path: string): Launch => ({ kind: 'command', command: path, args: [], env, isInTarget: true });
  return serverLauncher(parts, launchers, { artifact }, start);
}

/** Any other command runs in the checkout's folder, or with the interpreter of the installed environment. */
function startCommand(parts: InstalledParts, launchers: LockedLauncher[]): Started | undefined {
  const { launch, artifacts } = parts;
  if (launch.kind !== 'command' || launch.package) return undefined;
  const runsPython = /^python(3(\.\d+)?)?$/.test(launch.command);
  const artifact = artifacts.findIndex(({ installed }) => {
    if (!installed?.path) return false;
    const { programs = [] } = installed;
    return programs.length === 0 || (runsPython && programs.some(({ name }) => name === INTERPRETER));
  });
  const found = artifacts[artifact]?.installed;
  if (!found) return undefined;
  const own = found.programs?.length ? { program: INTERPRETER } : { command: [launch.command] };
  const start = (path: string): Launch => ({ ...launch, command: path, isInTarget: true });
  return serverLauncher(parts, launchers, { artifact, ...own }, start);
}
