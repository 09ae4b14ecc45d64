// `hub remotes`, `hub ingest` and `hub sync`.

import { REGISTER_MODES } from '../../policy/contract.ts';
import type { Remote, RemoteList, RemoteRemoved, SyncProgress, SyncReport } from '../../remotes/contract.ts';
import { type Call, command } from '../command.ts';
import { type Ending, UsageError } from '../exit-codes.ts';
import { flag, oneOf, text, wholeNumber } from '../options.ts';
import type { Output } from '../output/output.ts';
import { forgiving } from '../output/progress.ts';
import { ingestForPeople, progressLine, syncForPeople } from '../output/sync-report.ts';
import { oneLine, plural, shownMoment } from '../output/text.ts';
import { checkName, isAddress, type RemoteNames, remoteNames } from '../remote-names.ts';
import { rejectionsCommand } from './rejections.ts';

const REMOTE_URL = { name: '<url>', description: 'address of an index document, or of an MCP registry' };
const REMOTE = { name: '<remote>', description: 'address or name of a remote', names: 'remotes' } as const;

const SETTINGS = {
  name: text('--name <name>', 'short name to use instead of the address'),
  priority: wholeNumber(
    '--priority <number>',
    'if several remotes list an entity, the one with the highest priority owns it',
    { min: -1000, max: 1000, fallback: undefined },
  ),
  register: oneOf('--register <which>', 'which of its servers to register with the gateway', REGISTER_MODES),
};

export const remoteCommands = [
  command({
    path: ['remotes', 'list'],
    isShort: true,
    summary: 'list the remotes with the outcome of their last sync',
    kind: 'hub',
    options: {},
    examples: [['hub remotes list', '']],
    async run({ output, access }) {
      const remotes = await (await access.open()).listRemotes();
      return output.answer(remotes, () => remotesForPeople(remotes, output));
    },
  }),
  command({
    path: ['remotes', 'add'],
    summary: 'add a remote; the next sync reads it',
    details:
      'Credentials for a private index or registry come from the hub settings REMOTE_CREDENTIALS or REMOTE_CREDENTIALS_FILE, never from the address.',
    kind: 'hub',
    args: [REMOTE_URL],
    options: SETTINGS,
    examples: [
      ['hub remotes add https://catalog.example.org/index.json', ''],
      ['hub remotes add https://catalog.example.org/index.json --name team --priority 10', ''],
    ],
    async run({ args: [url = ''], options, output, access }) {
      if (access.serverUrl === undefined) await checkRemote(url, options.name);
      const outcome = await (await access.open({ mayCreate: true })).addRemote(url, options);
      const isChanged = Object.values(options).some((value) => value !== undefined);
      const done = outcome.added ? 'Added' : isChanged ? 'Changed' : 'Already added';
      return output.answer(outcome, () => `${done}: ${oneLine(outcome.url)}\n`);
    },
  }),
  command({
    path: ['remotes', 'set'],
    summary: 'change the name, priority or registration of a remote, or enable or disable it',
    details:
      'If several remotes list an entity, it belongs to the one with the highest priority; if priorities are equal, to the one that provided it first. The next sync takes the manifest of the entity from its owner. Syncs skip disabled remotes.',
    kind: 'hub',
    args: [REMOTE],
    options: {
      ...SETTINGS,
      enable: flag('--enable', 'include it in syncs'),
      disable: flag('--disable', 'exclude it from syncs'),
    },
    examples: [
      ['hub remotes set https://catalog.example.org/index.json --name team', ''],
      ['hub remotes set team --priority 10', ''],
      ['hub remotes set team --register approved', 'register only its approved servers'],
      ['hub remotes set team --disable', ''],
    ],
    async run({ args: [reference = ''], options: { enable, disable, ...settings }, output, access }) {
      if (enable && disable) throw new UsageError('Use --enable or --disable, not both.');
      const enabled = enable ? true : disable ? false : undefined;
      if ([settings.name, settings.priority, settings.register, enabled].every((each) => each === undefined))
        throw new UsageError('Say what to change: --name, --priority, --register, --enable or --disable.');
      const hub = await access.open();
      await checkName(reference, hub);
      const remote = await hub.changeRemote(reference, { ...settings, enabled });
      const passedOn = remote.note ? `\n${oneLine(remote.note)}\n` : '';
      return output.answer(remote, () => `${remotesForPeople({ items: [remote], count: 1 }, output)}${passedOn}`);
    },
  }),
  command({
    path: ['remotes', 'remove'],
    summary: 'remove a remote',
    details:
      'Entities that no other remote lists are marked as missing and hidden from search; --purge removes them instead, from the gateway too.',
    kind: 'hub',
    args: [REMOTE],
    options: { purge: flag('--purge', 'also remove the entities that only this remote lists') },
    examples: [
      ['hub remotes remove https://catalog.example.org/index.json', ''],
      ['hub remotes remove team --purge', 'and the entities that only it lists'],
    ],
    async run({ args: [reference = ''], options: { purge }, output, access }) {
      const hub = await access.open();
      await checkName(reference, hub);
      const outcome = await hub.removeRemote(reference, { purge });
      output.answer(outcome, () => removalForPeople(outcome));
      return outcome.removed ? 'ok' : 'notFound';
    },
  }),
  rejectionsCommand,
  command({
    path: ['ingest'],
    summary: 'read one remote or all remotes into the catalog',
    details:
      "Checks every manifest that the index lists. An address that is not in the list of remotes is read once and not added. To register servers as well, use 'hub sync'.",
    kind: 'hub',
    args: [
      { name: '[remote]', description: 'address or name of a remote, or the address of any index', names: 'remotes' },
    ],
    options: {
      acceptShrunk: flag('--accept-shrunk', 'accept an index that lists less than half of its earlier entries'),
    },
    examples: [
      ['hub ingest', 'all remotes'],
      ['hub ingest https://catalog.example.org/index.json', 'one index, even if it is not in the list of remotes'],
    ],
    async run({ args: [url], options: { acceptShrunk }, output, access }) {
      const isNew = url !== undefined && isAddress(url);
      if (isNew && access.serverUrl === undefined) await checkRemote(url);
      const hub = await access.open({ mayCreate: isNew || hasSeeds(access) });
      if (url !== undefined) await checkName(url, hub);
      const names = await remoteNames(hub);
      const ingest = (onProgress: ProgressListener) => hub.ingest(url, onProgress, { acceptShrunk });
      const report = await followed({ output, access, names }, ingest);
      const isOk = report.results.every(({ ok }) => ok);
      return output.answer(report, () => ingestForPeople(report, output, names), isOk ? 'ok' : 'failed');
    },
  }),
  command({
    path: ['sync'],
    summary: 'read all remotes, then register new and changed MCP servers with the gateway',
    details:
      'Checks every manifest and tries every pending server again, except those that cannot be registered with their current manifests, or that their remote no longer lists. The exit code is 1 if a remote could not be read, or if registration stopped, for example because the gateway could not be reached. Servers that the gateway refuses stay pending and do not make the sync fail.',
    kind: 'hub',
    options: {
      force: flag('--force', 'also try servers that cannot be registered, or that their remote no longer lists'),
    },
    examples: [
      ['hub sync', ''],
      ['hub sync --hub https://hub.example.org', 'on another hub; the token comes from HUB_TOKEN'],
    ],
    run: ({ options: { force }, ...call }) =>
      syncAndReport(call, {
        force,
        mayCreate: hasSeeds(call.access),
        isOk: ({ errors, stopped }) => Object.keys(errors).length === 0 && !stopped,
      }),
  }),
];

/** Checks the remote before a catalog is created for it. @throws HubError `invalid_request` */
async function checkRemote(url: string, name?: string): Promise<void> {
  const { assertName, normalizedUrl } = await import('../../remotes/remotes.ts');
  normalizedUrl(url);
  assertName(name);
}

/** Whether a new catalog would have remotes to read. */
function hasSeeds(access: Pick<Call['access'], 'serverUrl' | 'config'>): boolean {
  return access.serverUrl === undefined && access.config().seedRemotes.length > 0;
}

interface SyncChoices {
  /** Also tries servers that are usually skipped. */
  force: boolean;
  mayCreate: boolean;
  isOk: (report: SyncReport) => boolean;
}

export async function syncAndReport(
  { output, access }: Pick<Call, 'output' | 'access'>,
  { force, mayCreate, isOk }: SyncChoices,
): Promise<Ending> {
  const hub = await access.open({ mayCreate });
  const names = await remoteNames(hub);
  const report = await followed({ output, access, names }, (onProgress) => hub.syncRemotes(onProgress, { force }));
  return output.answer(report, () => syncForPeople(report, output, names), isOk(report) ? 'ok' : 'failed');
}

type ProgressListener = (progress: SyncProgress) => void;

/** Runs a long operation and shows its progress. */
async function followed<T>(
  { output, access, names }: Pick<Call, 'output' | 'access'> & { names: RemoteNames },
  work: (onProgress: ProgressListener) => Promise<T>,
): Promise<T> {
  return output.working(async (progress) => {
    const result = await work(forgiving((now) => progress.show(progressLine(now, names))));
    progress.show('making it searchable…');
    await access.settle();
    return result;
  });
}

function remotesForPeople({ items }: RemoteList, output: Output): string {
  if (items.length === 0) return "No remotes. 'hub remotes add <url>' adds one.\n";
  const { style } = output;
  const table = output.table(items, [
    { title: 'Remote', text: ({ url }) => url },
    ...(items.some(({ name }) => name) ? [{ title: 'Name', text: ({ name }: Remote) => name ?? '' }] : []),
    ...(items.some(({ priority }) => priority !== 0)
      ? [{ title: 'Priority', text: ({ priority }: Remote) => String(priority), isNumber: true }]
      : []),
    ...(items.some(({ register }) => register !== 'all')
      ? [{ title: 'Registers', text: ({ register }: Remote) => register }]
      : []),
    { title: 'Entities', text: ({ entities }) => entities.toLocaleString('en-US'), isNumber: true },
    { title: 'Last sync', text: ({ last_sync_at }) => (last_sync_at ? shownMoment(last_sync_at) : 'never') },
    {
      title: 'Outcome',
      text: ({ enabled, last_status, last_error }) => (enabled ? (last_error ?? last_status ?? '') : 'disabled'),
      style: (text, { last_status }) => (last_status === 'failed' ? style.bad(text) : style.good(text)),
      isFlexible: true,
    },
  ]);
  return `${table}${items.map(noteForPeople).join('')}`;
}

function noteForPeople({ url, name, last_note }: Remote): string {
  return last_note ? `\n${oneLine(name ?? url)}\n    ${oneLine(last_note)}\n` : '';
}

function removalForPeople({ removed, url, purged, missing, note }: RemoteRemoved): string {
  if (!removed) return `No remote has the address ${oneLine(url)}.\n`;
  const gone = purged > 0 ? `${plural(purged, 'entity', 'entities')} removed.\n` : '';
  const left =
    missing > 0
      ? `${plural(missing, 'entity', 'entities')} marked as missing: 'hub catalog --missing' shows them.\n`
      : '';
  return `Removed: ${oneLine(url)}\n${gone}${left}${note ? `${oneLine(note)}\n` : ''}`;
}
