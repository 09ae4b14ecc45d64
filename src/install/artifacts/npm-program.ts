// npm as the hub runs it: on a copy of the project, without scripts, logins or settings of the target that lead anywhere else.
import { writeFile } from 'node:fs/promises';
import { join, sep } from 'node:path';
import { type InstallContext, InstallError } from './artifact-installer.ts';
import { npmOptions } from './npm-options.ts';
import { type Registries, WHEN_MISSING } from './npm-registry.ts';
import type { NpmSpec } from './npm-spec.ts';
import { HELD_BACK, outputEnd, runProgram } from './program.ts';

export type Npm = (...args: string[]) => Promise<void>;

/** npm with the registry of the manifest, or the one that the machine is set up for, and with none of the passwords that are set up beside it. */
export async function npmIn(
  dir: string,
  { spec, registries }: { spec: NpmSpec; registries: Registries },
  context: InstallContext,
): Promise<Npm> {
  const { workDir } = context;
  const { options, ownAddresses, isGuarded, ownHosts } = registries;
  const noSettings = join(workDir, 'npmrc');
  await writeFile(noSettings, '');
  return async (command, ...args) => {
    const { exitCode, stdout, stderr } = await runProgram(
      {
        program: 'npm',
        args: [command, '--prefix', dir, ...npmOptions(workDir), ...options, ...args],
        cwd: dir,
        env: {
          npm_config_userconfig: noSettings,
          npm_config_globalconfig: join(workDir, 'npmrc-of-all'),
          ...(ownHosts.length > 0 ? { npm_config_noproxy: ownHosts.join(',') } : {}),
        },
        isGuarded,
        whenMissing: WHEN_MISSING,
        ownAddresses,
      },
      context,
    );
    // Where it works is nothing for a report: it is gone when that is read.
    if (exitCode !== 0)
      throw npmError(spec.package, `${stdout}\n${stderr}`.replaceAll(`${dir}${sep}`, '').replaceAll(dir, '.'));
  };
}

export const inNoRegistry = (name: string) =>
  `'${name}' needs something that is in no registry, which is not installed.`;

const REMOTE_REFUSED = /code EALLOWREMOTE/;

/** Whether npm would have to go to an address that it may not go to. It says the same of packages that have others in their archives. */
export function isRemoteRefused(error: unknown): boolean {
  return error instanceof InstallError && REMOTE_REFUSED.test(String(error.extra.output));
}

const CAUSES: readonly [RegExp, (name: string, found: RegExpExecArray) => string][] = [
  [HELD_BACK, (name) => `The registry leads to an address that the hub may not connect to for '${name}'.`],
  [
    /'([^'\s]+)@[^'@]*' (?:is not in this registry|could not be found)/,
    (name, [, missing = name]) => noPackage(name, missing),
  ],
  [/code E404/, (name) => `The registry has no package '${name}'.`],
  [/code ETARGET/, (name) => `The registry has no such version of '${name}'.`],
  [/code EINTEGRITY/, (name) => `What the registry sent for '${name}' is not what it announced: its digest differs.`],
  [
    REMOTE_REFUSED,
    (name) =>
      `'${name}' needs a package from an address that is not on the host of the registry, which is not installed.`,
  ],
  [/code (EALLOWGIT|EALLOWFILE|EALLOWDIRECTORY)/, inNoRegistry],
  [
    /An unknown git error occurred|code 128/,
    (name) =>
      `A package of the target's own project comes from git and could not be fetched; without it, npm does not install '${name}'.`,
  ],
  [
    /code E(?:ACCES|PERM|ROFS|NOENT)\b[\s\S]*syscall mkdir/,
    () =>
      'npm cannot make the folder for what it fetches: let the home of the user that the hub runs as be one that it may write to (HOME).',
  ],
  [
    /(?:SELF_SIGNED_CERT|UNABLE_TO_\w+_CERT|CERT_\w+)/,
    () =>
      'The certificate of the registry is none that npm trusts: name that of your authority in NODE_EXTRA_CA_CERTS.',
  ],
  [/code ERESOLVE/, (name) => `'${name}' does not go together with what is in the target's package.json.`],
  [/code (EJSONPARSE)/, () => "The target's package.json or package-lock.json cannot be read as JSON."],
  [/code (E401|E403|ENEEDAUTH)/, (name) => `The registry does not give out '${name}' without a login.`],
  [
    /code (ENOTFOUND|ECONNREFUSED|ECONNRESET|ETIMEDOUT|EAI_AGAIN|ERR_SOCKET_TIMEOUT)/,
    () => 'The registry of npm could not be reached.',
  ],
];

function noPackage(name: string, missing: string): string {
  if (missing === name) return `The registry has no package '${name}'.`;
  return `The registry has no package '${missing.slice(0, 120)}', which '${name}' or the target's own project needs.`;
}

function npmError(name: string, output: string): InstallError {
  const told = CAUSES.map(([pattern, sentence]) => ({ found: pattern.exec(output), sentence })).find(
    ({ found }) => found,
  );
  const lines = output
    .split('\n')
    .flatMap((line) => /^npm (?:error|ERR!) (?!code|A complete log)(.+)/.exec(line)?.[1] ?? []);
  const message =
    (told?.found && told.sentence(name, told.found)) ??
    `npm could not install '${name}': ${outputEnd(lines[0] ?? 'it said nothing').slice(0, 300)}.`;
  return new InstallError(message, { extra: { output: outputEnd(output) } });
}
