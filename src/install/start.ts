// How an installed server is started: by a launcher, or as an image with its digest.
import { type InstalledPackage, type Launch, startInstalled } from '../catalog/launch/launch.ts';
import { asObject, asText } from '../lib/json.ts';
import type { Program } from './artifacts/artifact.ts';
import { kindNameOf } from './artifacts/kind-name.ts';
import type { ArtifactOutcome } from './artifacts/place.ts';
import type { LockedLauncher } from './contract.ts';
import { launcherName, launcherPath } from './launchers.ts';

export interface InstalledParts {
  launch: Launch;
  slug: string;
  artifacts: readonly ArtifactOutcome[];
  /** Names of launchers that other entities have. */
  taken: ReadonlySet<string>;
}

export interface Started {
  launchers: LockedLauncher[];
  /** What configurations and glue code are rendered from. */
  launch: Launch;
}

/** Every Python environment offers its interpreter, which is not a program of the entity. */
const INTERPRETER = 'python';

export function startOf(parts: InstalledParts): Started {
  const names = launcherNames(parts);
  const launchers = parts.artifacts.flatMap(({ installed }, artifact) =>
    (installed?.programs ?? [])
      .filter(({ name }) => name !== INTERPRETER)
      .map(({ name: program }) => ({ name: names(program), artifact, program })),
  );
  const { launch } = parts;
  if (launch.kind === 'remote') return { launchers, launch };
  return startPackage(parts, launchers, names) ?? startBundle(parts, names) ?? startCommand(parts, launchers, names);
}

function launcherNames({ slug, taken }: InstalledParts): (wanted: string) => string {
  const known = new Map<string, string>();
  return (wanted) => {
    const name = known.get(wanted) ?? launcherName(wanted, { slug, taken });
    known.set(wanted, name);
    return name;
  };
}

/** A command such as `npx pkg` or `docker run image`, whose package was installed. */
function startPackage(
  { launch, artifacts, slug }: InstalledParts,
  launchers: LockedLauncher[],
  names: (wanted: string) => string,
): Started | undefined {
  if (launch.kind !== 'command' || !launch.package) return undefined;
  const { kind, name, program } = launch.package;
  const index = artifacts.findIndex(({ planned: { kind: planned, spec } }) => {
    const named = asText(spec.package) ?? asText(spec.image) ?? '';
    return kindNameOf(planned, spec) === kind && normalName(named) === normalName(name);
  });
  const found = artifacts[index];
  if (!found?.installed) return undefined;
  const started = (installed: InstalledPackage, all = launchers) => ({
    launchers: all,
    launch: startInstalled(launch, installed),
  });
  const { resolved, programs } = found.installed;
  if (kind === 'oci') return resolved === null ? undefined : started({ kind: 'image', reference: resolved });
  if (program === INTERPRETER) {
    const own = { name: names(lastPart(slug)), artifact: index, program };
    return started({ kind: 'program', path: launcherPath(own.name) }, withLauncher(launchers, own));
  }
  const chosen = mainProgram(programs, program ?? name);
  const launcher = launchers.find((each) => each.artifact === index && each.program === chosen);
  return launcher && started({ kind: 'program', path: launcherPath(launcher.name) });
}

function lastPart(slug: string): string {
  return slug.split('/').at(-1) ?? slug;
}

/** The command of the server itself takes precedence over a program of the same name. */
function withLauncher(launchers: readonly LockedLauncher[], own: LockedLauncher): LockedLauncher[] {
  return [...launchers.filter(({ name }) => name !== own.name), own];
}

/** Names of images without tag and digest, of packages without extras; Python does not tell `-` from `_`. */
function normalName(name: string): string {
  return name
    .replace(/@sha256:.*$|(?<=\/[^/]*):[^/]*$|\[.*$/, '')
    .replace(/^docker\.io\/(library\/)?/, '')
    .replace(/[-_.]+/g, '-')
    .toLowerCase();
}

/** The program that is named like the package, or the only one. */
function mainProgram(programs: readonly Program[], wanted: string): string | undefined {
  const names = programs.map(({ name }) => name).filter((name) => name !== INTERPRETER);
  const short = normalName(wanted.split('/').at(-1) ?? wanted);
  return names.find((name) => normalName(name) === short) ?? (names.length === 1 ? names[0] : undefined);
}

/** An MCP bundle says itself how it is started. */
function startBundle({ artifacts, slug }: InstalledParts, names: (wanted: string) => string): Started | undefined {
  const artifact = artifacts.findIndex(({ installed }) => installed?.extra.bundle !== undefined);
  const bundle = asObject(artifacts[artifact]?.installed?.extra.bundle);
  const command = asText(bundle.command);
  if (!command) return undefined;
  const name = names(lastPart(slug));
  const args = Array.isArray(bundle.args) ? bundle.args.map(String) : [];
  const isOpen = (word: string) => /\$\{user_config\./.test(word);
  const env = Object.entries(asObject(bundle.env)).map(([key, value]) => ({
    name: key,
    from: key,
    value: isOpen(String(value)) ? undefined : String(value),
    isRequired: true,
  }));
  return {
    launchers: [{ name, artifact, command: [command, ...args.filter((word) => !isOpen(word))] }],
    launch: { kind: 'command', command: launcherPath(name), args: [], env, isInTarget: true },
  };
}

/** Any other command runs in the folder of the checkout, or with the interpreter of the installed environment. */
function startCommand(
  { launch, artifacts, slug }: InstalledParts,
  launchers: LockedLauncher[],
  names: (wanted: string) => string,
): Started {
  if (launch.kind !== 'command' || launch.package) return { launchers, launch };
  const runsPython = /^python(3(\.\d+)?)?$/.test(launch.command);
  const index = artifacts.findIndex(({ installed }) => {
    if (!installed?.path) return false;
    const { programs } = installed;
    return programs.length === 0 || (runsPython && programs.some(({ name }) => name === INTERPRETER));
  });
  const found = artifacts[index]?.installed;
  if (!found) return { launchers, launch };
  const isPython = found.programs.length > 0;
  const name = names(lastPart(slug));
  const launcher = isPython
    ? { name, artifact: index, program: INTERPRETER }
    : { name, artifact: index, command: [launch.command] };
  return {
    launchers: withLauncher(launchers, launcher),
    launch: { ...launch, command: launcherPath(name), isInTarget: true },
  };
}
