// `hub list`, `hub outdated`, `hub uninstall` and `hub verify`: what is installed in a folder.
import { existsSync } from 'node:fs';
import { kindNameOf } from '../../../catalog/artifact-kind.ts';
import type { EntityRecord } from '../../../catalog/contract.ts';
import { withoutVersion } from '../../../catalog/uid.ts';
import { versionKey } from '../../../catalog/version-order.ts';
import { HubError } from '../../../errors.ts';
import type { HubOperations } from '../../../hub/operations.ts';
import {
  LOCKFILE_NAME,
  type LockCheck,
  type LockedArtifact,
  type LockedEntity,
  type LockReport,
  type UninstallReport,
} from '../../../install/contract.ts';
import { command } from '../../command.ts';
import { NotFoundError, UsageError } from '../../exit-codes.ts';
import { openOwnInstall } from '../../hub/own-install.ts';
import { findInLockfile } from '../../names.ts';
import { newestOf } from '../../newest.ts';
import { flag, text } from '../../options.ts';
import type { Output } from '../../output/output.ts';
import { oneLine, plural } from '../../output/text.ts';
import { entitiesFor, lockfileIn } from './install.ts';

const TARGET = text('--target <folder>', 'folder of the installation', '.');

export const installedCommands = [
  command({
    path: ['list'],
    summary: 'list what is installed in a folder',
    details: "Reads hub.lock.json and checks the files on this machine. To list the catalog, use 'hub catalog'.",
    kind: 'local',
    options: { target: TARGET },
    examples: [
      ['hub list', 'this folder'],
      ['hub list --target ./project --json', ''],
    ],
    async run({ options: { target }, ...call }) {
      const { output } = call;
      await using own = await openOwnInstall(call, { withCatalog: false });
      const folder = await own.folderOf(target);
      if (!existsSync(folder)) throw new NotFoundError(`The folder ${folder} does not exist.`);
      const report = await own.verify(target);
      const locked = (await own.lockfile(target))?.entities ?? [];
      const entities = locked.map((entity) => installedEntity(entity, report?.checks ?? []));
      return output.answer({ target: folder, entities }, () => listForPeople(entities, { output, folder }));
    },
  }),
  command({
    path: ['outdated'],
    summary: 'list installed entities that have a newer version in the catalog',
    details:
      'Compares hub.lock.json with the newest stable versions. The exit code is 0 even if something is outdated.',
    kind: 'hub',
    args: [{ name: '[name...]', description: 'names of installed entities; all by default', names: 'installed' }],
    options: { target: TARGET },
    examples: [
      ['hub outdated', 'this folder, and the local catalog'],
      ['hub outdated --hub https://hub.example.org --json', 'for a program'],
    ],
    async run({ args, options: { target }, ...call }) {
      const { output, access } = call;
      await using own = await openOwnInstall(call, { withCatalog: false });
      const folder = await own.folderOf(target);
      const locked = entitiesFor(args, await lockfileIn(target, own), folder);
      const hub = await access.open();
      const entities = await output.working(async (progress) => {
        progress.show('comparing with the catalog…');
        return Promise.all(locked.map((entity) => compared(entity, hub)));
      });
      return output.answer({ target: folder, entities }, () => outdatedForPeople(entities, output));
    },
  }),
  command({
    path: ['uninstall'],
    summary: 'remove installed entities from a folder and its lockfile',
    details:
      'Keeps files and folders that changed since the install. If a client entry changed, refuses and removes nothing. --force removes them all.',
    kind: 'local',
    args: [{ name: '<name...>', description: 'names of installed entities', names: 'installed' }],
    options: { target: TARGET, force: flag('--force', 'also remove what changed since the install') },
    examples: [
      ['hub uninstall time', ''],
      ['hub uninstall mcp_server:io.github.modelcontextprotocol/time --target ./project', ''],
    ],
    async run({ args, options: { target, force }, ...call }) {
      const { output } = call;
      await using own = await openOwnInstall(call, { withCatalog: false });
      const folder = await own.folderOf(target);
      const lockfile = await lockfileIn(target, own);
      const reports: UninstallReport[] = [];
      const refused: { id: string; error: string }[] = [];
      for (const name of args) {
        let id = name;
        try {
          id = findInLockfile(name, lockfile, folder).id;
          reports.push(await own.uninstall({ id, target, force }));
        } catch (error) {
          if (args.length === 1 || !(error instanceof HubError || error instanceof UsageError)) throw error;
          refused.push({ id, error: error.message });
        }
      }
      const ok = refused.length === 0;
      const answer = args.length === 1 ? reports[0] : { ok, reports, refused };
      const lines = () => [
        ...reports.map((each) => uninstalledForPeople(each, folder)),
        ...refused.map(({ error }) => output.style.bad(oneLine(error)).concat('\n')),
      ];
      return output.answer({ ...answer, target_path: folder }, () => lines().join(''), ok ? 'ok' : 'failed');
    },
  }),
  command({
    path: ['verify'],
    summary: 'check the files of a folder against hub.lock.json',
    details: 'Works offline and changes nothing. The exit code is 1 if something differs.',
    kind: 'local',
    options: { target: TARGET },
    examples: [
      ['hub verify', 'this folder'],
      ['hub verify --target ./project --json', ''],
    ],
    async run({ options: { target }, ...call }) {
      const { output } = call;
      await using own = await openOwnInstall(call, { withCatalog: false });
      const report = await own.verify(target);
      if (!report)
        throw new NotFoundError(
          `${await own.folderOf(target)} has no ${LOCKFILE_NAME}; 'hub install <name>' creates one.`,
        );
      return output.answer(report, () => verifiedForPeople(report, output), report.ok ? 'ok' : 'failed');
    },
  }),
];

interface InstalledEntity {
  id: string;
  name: string;
  version: string;
  artifacts: string[];
  /** Programs in `.hub/bin`. */
  launchers: string[];
  adapters: string[];
  state: 'ok' | 'missing' | 'changed';
}

function installedEntity(locked: LockedEntity, checks: readonly LockCheck[]): InstalledEntity {
  const { id, name, version, artifacts, launchers = [], adapters } = locked;
  const outcomes = checks.filter(({ entity }) => entity === id).map(({ outcome }) => outcome);
  const isWhole = artifacts.every(({ ok }) => ok) && !outcomes.includes('missing');
  return {
    id,
    name,
    version,
    artifacts: artifacts.map(artifactText),
    launchers: launchers.map((each) => each.name),
    adapters: adapters.map(({ path }) => path),
    state: isWhole ? (outcomes.includes('different') ? 'changed' : 'ok') : 'missing',
  };
}

/** The folder, or the exact package or image. */
function artifactText({ kind, spec, resolved, path, tree }: LockedArtifact): string {
  const known = kindNameOf(kind, spec);
  return [known === 'unsupported' ? kind : known, tree ? path : (resolved ?? path)].filter(Boolean).join(' ');
}

function listForPeople(
  entities: readonly InstalledEntity[],
  { output, folder }: { output: Output; folder: string },
): string {
  const { style } = output;
  if (entities.length === 0) return `Nothing is installed in ${oneLine(folder)}.\n`;
  const rows = output.table(entities, [
    { title: 'Entity', text: ({ id }) => withoutVersion(id) },
    { title: 'Version', text: ({ version }) => version },
    {
      title: 'State',
      text: ({ state }) => state,
      style: (text, { state }) => (state === 'ok' ? style.good : style.bad)(text),
    },
    { title: 'Programs', text: ({ launchers }) => launchers.map((name) => `.hub/bin/${name}`).join(', ') },
    { title: 'Artifacts', text: ({ artifacts }) => artifacts.join(', '), isFlexible: true },
  ]);
  const isWhole = entities.every(({ state }) => state === 'ok');
  return `${rows}${isWhole ? '' : "\n'hub verify' says what differs; 'hub install --frozen' restores what is missing, and with --force also what was changed.\n"}`;
}

interface Compared {
  id: string;
  version: string;
  /** Null when the catalog has only older versions, or none. */
  newest: string | null;
  state: 'current' | 'newer version' | 'newer content' | 'not in the catalog';
}

async function compared(locked: LockedEntity, hub: HubOperations): Promise<Compared> {
  const newest = await newestOf(hub, locked);
  const { id, version } = locked;
  if (!newest) return { id, version, newest: null, state: 'not in the catalog' };
  return { id, version, newest: newest.version, state: await stateOf(locked, newest, hub) };
}

async function stateOf(
  locked: LockedEntity,
  newest: Pick<EntityRecord, 'id' | 'version'>,
  hub: HubOperations,
): Promise<Compared['state']> {
  if (versionKey(newest.version) > versionKey(locked.version)) return 'newer version';
  if (newest.id !== locked.id) return 'current';
  const { digest } = await hub.getManifest(newest.id);
  return digest === locked.provenance.manifest_digest ? 'current' : 'newer content';
}

function outdatedForPeople(entities: readonly Compared[], output: Output): string {
  const shown = entities.filter(({ state }) => state !== 'current');
  const current = entities.length - shown.length;
  const rest = current > 0 ? `${plural(current, 'entity is', 'entities are')} up to date.\n` : '';
  if (shown.length === 0) return rest || 'Nothing is installed.\n';
  const rows = output.table(shown, [
    { title: 'Entity', text: ({ id }) => withoutVersion(id) },
    { title: 'Installed', text: ({ version }) => version },
    { title: 'Newest', text: ({ newest }) => newest ?? '' },
    { title: 'State', text: ({ state }) => state },
  ]);
  const isNewer = shown.some(({ state }) => state.startsWith('newer'));
  const isUnknown = shown.some(({ newest }) => newest === null);
  return [
    `${rows}\n${rest}`,
    isNewer ? "'hub update' installs what is newer.\n" : '',
    isUnknown
      ? 'To update one that is not in the catalog, install its manifest again, or choose a hub with --hub.\n'
      : '',
  ].join('');
}

function uninstalledForPeople({ id, removed, edited, kept, work }: UninstallReport, folder: string): string {
  const changeOf = (path: string) =>
    `has changed since it was installed${work[path] ? ` (in git: ${work[path]})` : ''}: delete it if you do not need it`;
  return [
    ...removed.map((path) => `removed  ${oneLine(path)}\n`),
    ...edited.map((path) => `edited   ${oneLine(path)}\n`),
    ...kept.map((path) => `kept     ${oneLine(path)}, which ${oneLine(changeOf(path))}\n`),
    `Uninstalled ${oneLine(id)} from ${oneLine(folder)}.\n`,
  ].join('');
}

function verifiedForPeople({ ok, target, lockfile, checks }: LockReport, output: Output): string {
  if (checks.length === 0) return `${lockfile} in ${oneLine(target)} lists no files.\n`;
  const { style } = output;
  const styles: Record<LockCheck['outcome'], (text: string) => string> = {
    same: style.good,
    different: style.bad,
    missing: style.bad,
    unchecked: style.warning,
  };
  const rows = output.table(checks, [
    { title: 'Outcome', text: ({ outcome }) => outcome, style: (shown, { outcome }) => styles[outcome](shown) },
    { title: 'Entity', text: ({ entity }) => entity },
    { title: 'What', text: ({ what }) => what },
    { title: 'Where', text: ({ path }) => path ?? '' },
    { title: 'Why', text: ({ reason }) => reason ?? '', isFlexible: true },
  ]);
  const unchecked = checks.filter(({ outcome }) => outcome === 'unchecked').length;
  const end = ok
    ? style.good(`The files in ${oneLine(target)} match ${lockfile}`)
    : style.bad(`The files in ${oneLine(target)} do not match ${lockfile}`);
  return `${rows}\n${end}${unchecked > 0 ? `; ${plural(unchecked, 'artifact')} could not be checked` : ''}.\n`;
}
