// `hub install`.
import { CLIENTS } from '../../../catalog/client-config.ts';
import { HubError } from '../../../errors.ts';
import { clientAdvice, pastesOf } from '../../../hub/install-outcome.ts';
import {
  type InstallReport,
  type InstallRequest,
  LOCKFILE_VERSION,
  type LockedEntity,
  type Lockfile,
  PREFERENCES,
} from '../../../install/contract.ts';
import { type Call, command } from '../../command.ts';
import { type Ending, NotFoundError, UsageError } from '../../exit-codes.ts';
import { type OwnInstall, openOwnInstall } from '../../hub/own-install.ts';
import { catalogId, findInLockfile } from '../../names.ts';
import { flag, oneOf, someOf, text } from '../../options.ts';
import { installListener, reportForPeople } from '../../output/install-report.ts';
import { oneLine } from '../../output/text.ts';
import { readManifest } from '../../read-manifest.ts';

export const RIGHTS = {
  force: flag('--force', 'replace existing folders and entries, even if they were changed or not created by the hub'),
  allowScripts: flag('--allow-scripts', 'run the install scripts of npm packages'),
  allowBuild: flag('--allow-build', 'build Python packages that have no wheel'),
  dryRun: flag('--dry-run', 'show what would be done, and change nothing'),
};

const INSTALL_OPTIONS = {
  target: text('--target <folder>', 'folder to install into; default: the current one'),
  client: someOf('--client <name>', 'MCP client to configure, repeatable', CLIENTS),
  prefer: oneOf('--prefer <kind>', 'kind of package to install if there are alternatives', PREFERENCES),
  dest: text('--dest <path>', 'folder in the target for a checkout or an archive; default: vendor/<name>'),
  manifest: text(
    '--manifest <file>',
    'install this manifest, or the server.json of an MCP registry: a file, an address, or - for standard input; also saved in the local catalog, if one exists',
  ),
  frozen: flag('--frozen', 'install exactly what hub.lock.json says; without a name, everything in it'),
  prerelease: flag('--prerelease', 'without a version: use the newest one, even if it is a pre-release'),
  ...RIGHTS,
  onHub: flag('--on-hub', 'install on the machine of the hub (--hub); --target is a folder on that machine'),
};

type InstallOptions = Call<typeof INSTALL_OPTIONS>['options'];

export const installCommands = [
  command({
    path: ['install'],
    summary: 'install entities into a folder on this machine, and lock them in hub.lock.json',
    details:
      'Uses the catalog of --hub or HUB_URL, otherwise the local one. A name is an id (<type>:<slug>@<version>) or a short name, with or without a version; without a version, the newest stable one is installed. Packages go into .hub, checkouts and archives into vendor, and launchers for programs into .hub/bin. Commit hub.lock.json, so that --frozen can restore the same installation elsewhere. With --json, prints the report of the API, plus the full path of the folder as target_path (not with --on-hub); for several names, or --frozen without a name, an object whose `reports` has one report for each entity.',
    kind: 'hub',
    args: [
      {
        name: '[name...]',
        description: 'what to install; optional with --manifest or --frozen',
        names: 'entities',
      },
    ],
    options: INSTALL_OPTIONS,
    examples: [
      ['hub install io.github.modelcontextprotocol/time --client claude', 'with the configuration for Claude'],
      ['hub install time@2026.10.10 --dry-run', 'what installing this version would do'],
      ['hub install time --hub https://hub.example.org', 'from the catalog of another hub'],
      ['hub install --frozen', 'everything in hub.lock.json, for example in CI'],
      ['hub install --manifest ./manifest.yaml --target ./project', 'your own manifest'],
      ['hub install time --hub https://hub.example.org --on-hub --target project', 'on the machine of the hub'],
    ],
    async run({ args, options, ...call }) {
      checkOptions(args, options, call);
      return options.onHub ? installOnHub(args, options, call) : installHere(args, options, call);
    },
  }),
];

export type Surroundings = Omit<Call, 'args' | 'options'>;

/** Checks the options before anything is opened. @throws UsageError */
function checkOptions(names: readonly string[], options: InstallOptions, { access }: Surroundings): void {
  const { manifest, frozen, onHub, target, dest, client, prefer, allowScripts, allowBuild } = options;
  if (names.length === 0 && manifest === undefined && !frozen)
    throw new UsageError(
      'Say what to install: a name, a manifest with --manifest, or everything locked with --frozen.',
    );
  if (frozen && ((manifest ?? dest ?? prefer) !== undefined || client.length > 0))
    throw new UsageError(
      '--frozen installs what hub.lock.json says: leave out --manifest, --client, --prefer and --dest.',
    );
  if (names.length > 1 && (manifest ?? dest) !== undefined)
    throw new UsageError('--manifest and --dest are for one entity at a time.');
  if (!onHub) return;
  if (access.serverUrl === undefined) throw new UsageError('Name the hub that should install with --hub or HUB_URL.');
  if (target === undefined) throw new UsageError('Name the folder on the machine of the hub with --target.');
  if (allowScripts || allowBuild)
    throw new UsageError('--allow-scripts and --allow-build are for this machine, not for --on-hub.');
  if (names.length === 0 && manifest === undefined)
    throw new UsageError('With --on-hub, name what to install: the lockfile is on the machine of the hub.');
}

async function installHere(names: readonly string[], options: InstallOptions, call: Surroundings): Promise<Ending> {
  const { output } = call;
  const target = options.target ?? '.';
  await using own = await openOwnInstall(call, options);
  const requests = await output.working(async (progress) => {
    progress.show('looking it up…');
    return requestsFor(names, { ...requestOf(options), target }, { options, own, call });
  });
  const place = await own.folderOf(target);
  const reports = await installAll(requests, own, call);
  for (const advice of reports.flatMap((report) => clientAdvice(report, '--client'))) output.note(advice);
  return answerReports(reports, { isList: names.length !== 1 && options.manifest === undefined, place, call });
}

async function installOnHub(names: readonly string[], options: InstallOptions, call: Surroundings): Promise<Ending> {
  const { access, terminal } = call;
  const hub = await access.open();
  await using own = await openOwnInstall(call, { withCatalog: false });
  const base = { ...requestOf(options), target: options.target ?? '' };
  const source = options.manifest && (await readManifest(options.manifest, { terminal, ...own }));
  const requests = source
    ? [{ ...base, ...source, id: names[0] ?? source.id }]
    : await Promise.all(names.map(async (name) => ({ ...base, id: await idOf(name, options, call) })));
  const reports = await installAll(requests, hub, call);
  const place = `'${oneLine(base.target)}' on the machine of the hub`;
  return answerReports(reports, { isList: names.length > 1, place, call, isElsewhere: true });
}

type OpenRequest = Omit<InstallRequest, 'id'>;

export function requestOf(options: Partial<InstallOptions>): Omit<OpenRequest, 'target'> {
  const { client = [], prefer, dest, force = false, dryRun = false, frozen = false, prerelease = false } = options;
  const clients = client.length > 0 ? { clients: [...client] } : {};
  return { ...clients, prefer, dest, force, dry_run: dryRun, frozen, prerelease, update: false };
}

async function requestsFor(
  names: readonly string[],
  base: OpenRequest,
  { options, own, call }: { options: InstallOptions; own: OwnInstall; call: Surroundings },
): Promise<InstallRequest[]> {
  if (options.manifest !== undefined) {
    const source = await readManifest(options.manifest, { ...own, terminal: call.terminal });
    return [{ ...base, ...source, id: names[0] ?? source.id }];
  }
  if (options.frozen) {
    const lockfile = await lockfileIn(base.target, own);
    return entitiesFor(names, lockfile, await own.folderOf(base.target)).map(({ id }) => ({ ...base, id }));
  }
  return Promise.all(names.map(async (name) => ({ ...base, id: await idOf(name, options, call) })));
}

async function idOf(name: string, { prerelease }: { prerelease: boolean }, call: Surroundings): Promise<string> {
  return catalogId(name, await call.access.open(), { prerelease });
}

/** @throws NotFoundError */
export async function lockfileIn(target: string, own: Pick<OwnInstall, 'lockfile' | 'folderOf'>): Promise<Lockfile> {
  const lockfile = await own.lockfile(target);
  if (lockfile) return lockfile;
  throw new NotFoundError(`${await own.folderOf(target)} has no hub.lock.json; 'hub install <name>' creates one.`);
}

/** Returns all entities if no names are given. */
export function entitiesFor(names: readonly string[], lockfile: Lockfile, place: string): readonly LockedEntity[] {
  return names.length > 0 ? names.map((name) => findInLockfile(name, lockfile, place)) : lockfile.entities;
}

/** Sequential, because the installs share the lockfile. If several are requested, a refused one does not stop the others. */
export async function installAll(
  requests: readonly InstallRequest[],
  installer: Pick<OwnInstall, 'install'>,
  { output, terminal }: Surroundings,
  isOneOfSeveral = requests.length > 1,
): Promise<InstallReport[]> {
  const reports: InstallReport[] = [];
  for (const request of requests) {
    terminal.shutdown.throwIfAborted();
    if (requests.length > 1) output.note(`${request.id}…`);
    const report = await output.working((progress) =>
      installer.install(request, installListener(progress)).catch((error: unknown) => {
        if (!isOneOfSeveral || !(error instanceof HubError)) throw error;
        progress.fail(`failed  ${oneLine(error.message)}`);
        return refusedReport(request, error);
      }),
    );
    reports.push(report);
  }
  return reports;
}

const NOTHING: Lockfile = { version: LOCKFILE_VERSION, entities: [] };

function refusedReport({ id, target, dry_run }: InstallRequest, { message }: HubError): InstallReport {
  const results = [{ step: 'install', ok: false, extra: { error: message } }];
  const plan = { id, artifacts: [], adapters: [], mcp_registration: {} };
  return { ok: false, dry_run, target, warnings: [], plan, results, files_written: [], lockfile: NOTHING };
}

interface Answer {
  /** JSON output is a list of reports instead of a single one. */
  isList: boolean;
  place: string;
  isElsewhere?: boolean;
  call: Pick<Call, 'output' | 'terminal'>;
}

function answerReports(
  reports: readonly InstallReport[],
  { isList, place, isElsewhere, call: { output, terminal } }: Answer,
): Ending {
  const folder = isElsewhere ? {} : { target_path: place };
  for (const { file, text } of reports.flatMap(pastesOf)) {
    output.note(`Add this to ${file}:`);
    output.product(text);
  }
  const ok = reports.every((report) => report.ok);
  const answer = isList ? { ok, ...folder, reports } : { ...reports[0], ...folder };
  const forPeople = () =>
    reports.map((report) => reportForPeople(report, { output, place: oneLine(place) })).join('\n');
  const ending = output.answer(answer, forPeople, ok ? 'ok' : 'failed');
  // The report names the stopped step; programs expect an error.
  if (!ok) terminal.shutdown.throwIfAborted();
  return ending;
}
