// npm as the hub runs it, and what its errors mean.
import { InstallError } from '../../errors.ts';
import type { ArtifactContext } from '../artifact.ts';
import { type Causes, findCause, HELD_BACK, outputEnd, runProgram, withoutFolders } from '../program.ts';
import { NO_NPM, type NpmConfig } from './npm-config.ts';
import { fromAddress, fromElsewhere } from './npm-lock.ts';

const OPTIONS = [
  '--no-audit',
  '--no-fund',
  '--no-progress',
  '--no-update-notifier',
  '--logs-max=0',
  '--loglevel=error',
  '--fetch-retries=1',
  '--fetch-retry-mintimeout=1000',
  '--fetch-retry-maxtimeout=5000',
  // The same result on every machine, whatever a person's configuration says.
  '--no-json',
  '--no-dry-run',
  '--no-global',
  '--location=project',
  '--package-lock',
  '--lockfile-version=3',
  '--omit-lockfile-registry-resolved',
  '--save-exact',
  '--save-prod',
  '--install-strategy=hoisted',
  '--no-legacy-peer-deps',
  '--include=prod',
  '--include=optional',
  '--include=peer',
  '--bin-links',
];

/** On a shared hub, dependencies come from the registry only: a package must not send npm to any other address or file. */
const REGISTRY_ONLY = ['--allow-git=none', '--allow-file=none', '--allow-directory=none', '--allow-remote=none'];

export interface NpmRequest {
  /** Folder of the package.json. */
  folder: string;
  /** The package that is installed, for error messages. */
  name: string;
  config: NpmConfig;
}

/** @throws InstallError */
export async function runNpm(args: readonly string[], request: NpmRequest, context: ArtifactContext): Promise<void> {
  const { folder, name, config } = request;
  const [command = '', ...rest] = args;
  const allowed = context.trust.isOwnMachine ? [] : REGISTRY_ONLY;
  const { exitCode, stdout, stderr } = await runProgram(
    {
      program: 'npm',
      args: [command, '--prefix', folder, ...OPTIONS, ...allowed, ...config.options, ...rest],
      cwd: folder,
      env: config.env,
      inherit: config.inherit,
      isGuarded: config.isGuarded,
      ownAddresses: config.ownAddresses,
      whenMissing: NO_NPM,
    },
    context,
  );
  if (exitCode !== 0) throw npmError(name, withoutFolders(`${stdout}\n${stderr}`, [folder, context.stagingDir]));
}

const REMOTE_REFUSED = /code EALLOWREMOTE/;

export function isRemoteRefused(error: unknown): boolean {
  return error instanceof InstallError && REMOTE_REFUSED.test(String(error.extra.output));
}

function causes(name: string): Causes {
  return [
    [HELD_BACK, () => `The registry leads to an address that the hub may not connect to for '${name}'.`],
    [
      /'([^'\s]+)@[^'@]*' (?:is not in this registry|could not be found)/,
      ([, missing = name]) => noPackage(name, missing.slice(0, 120)),
    ],
    [/code E404/, () => noPackage(name, name)],
    [
      /code ETARGET[\s\S]*No matching version found for (\S+?)\.?\s/,
      ([, wanted = name]) => `The registry has no version ${wanted}.`,
    ],
    [/code ETARGET/, () => `The registry does not have this version of '${name}'.`],
    [/code EINTEGRITY/, () => `The registry sent other bytes than expected for '${name}': the digest differs.`],
    [REMOTE_REFUSED, () => fromAddress(name)],
    [/code (EALLOWGIT|EALLOWFILE|EALLOWDIRECTORY)/, () => fromElsewhere(name)],
    [/code 128|An unknown git error occurred/, () => `'${name}' needs a package from git, which could not be fetched.`],
    [/code EBADPLATFORM/, () => `'${name}' does not support the platform of this machine.`],
    [/code EBADENGINE/, () => `'${name}' does not support the version of Node.js on this machine.`],
    [/code ERESOLVE/, () => `The packages that '${name}' needs cannot be installed together.`],
    [/code EUSAGE[\s\S]*in sync/, () => `The locked packages of '${name}' are not complete: lock it again.`],
    [
      /code E(?:ACCES|PERM|ROFS|NOENT)\b[\s\S]*syscall mkdir/,
      () => 'npm cannot create its cache folder: set HOME to a folder that this user may write to.',
    ],
    [
      /SELF_SIGNED_CERT|UNABLE_TO_\w+_CERT|CERT_\w+/,
      () =>
        'npm does not trust the certificate of the registry: name the certificate of your authority in NODE_EXTRA_CA_CERTS.',
    ],
    [/code (?:E401|E403|ENEEDAUTH)/, () => `The registry requires a login for '${name}'.`],
    [
      /code (?:ENOTFOUND|ECONNREFUSED|ECONNRESET|ETIMEDOUT|EAI_AGAIN|ERR_SOCKET_TIMEOUT)/,
      () => 'The npm registry could not be reached.',
    ],
  ];
}

function noPackage(name: string, missing: string): string {
  const reason = missing === name ? '' : `, which '${name}' needs`;
  return `The registry has no package '${missing}'${reason}.`;
}

function npmError(name: string, output: string): InstallError {
  const lines = output
    .split('\n')
    .flatMap((line) => /^npm (?:error|ERR!) (?!code|A complete log)(.+)/.exec(line)?.[1] ?? []);
  const firstLine = outputEnd(lines[0] ?? 'it gave no reason').slice(0, 300);
  const message = findCause(output, causes(name)) ?? `npm could not install '${name}': ${firstLine}.`;
  return new InstallError(message, { extra: { output: outputEnd(output) } });
}
