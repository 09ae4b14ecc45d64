// `hub remotes`, `hub ingest` and `hub sync`.
import type { IngestReport, IngestRun, RemoteList, SyncProgress, SyncReport } from '../../remotes/contract.ts';
import { type Call, command } from '../command.ts';
import { flag } from '../options.ts';
import type { Output } from '../output/output.ts';
import { forgiving } from '../output/progress.ts';
import { oneLine, plural, shownMoment } from '../output/text.ts';
import { rejectionsCommand } from './rejections.ts';

const REMOTE_URL = { name: '<url>', description: 'address of an index document, or of an MCP registry' };

export const remoteCommands = [
  command({
    path: ['remotes', 'list'],
    summary: 'list the remotes, and how their last sync went',
    kind: 'hub',
    options: {},
    examples: [['hub remotes list', '']],
    async run({ output, access }) {
      const remotes = await (await access.open({ mustExist: true })).listRemotes();
      output.answer(remotes, () => remotesForPeople(remotes, output));
      return 'ok';
    },
  }),
  command({
    path: ['remotes', 'add'],
    summary: 'add a remote; the next sync reads it',
    kind: 'hub',
    args: [REMOTE_URL],
    options: {},
    examples: [['hub remotes add https://catalog.example.org/index.json', '']],
    async run({ args: [url = ''], output, access }) {
      const outcome = await (await access.open()).addRemote(url);
      output.answer(outcome, () => `${outcome.added ? 'Added' : 'Was there already'}: ${oneLine(outcome.url)}\n`);
      return 'ok';
    },
  }),
  command({
    path: ['remotes', 'remove'],
    summary: 'remove a remote; what came from it stays in the catalog',
    kind: 'hub',
    args: [REMOTE_URL],
    options: {},
    examples: [['hub remotes remove https://catalog.example.org/index.json', '']],
    async run({ args: [url = ''], output, access }) {
      const outcome = await (await access.open({ mustExist: true })).removeRemote(url);
      output.answer(outcome, () => `${outcome.removed ? 'Removed' : 'No such remote'}: ${oneLine(outcome.url)}\n`);
      return outcome.removed ? 'ok' : 'notFound';
    },
  }),
  rejectionsCommand,
  command({
    path: ['ingest'],
    summary: 'read one remote, or all of them, into the catalog',
    details: 'An address that is no remote is read once and not kept. Registers nothing; that is what sync does.',
    kind: 'hub',
    args: [{ ...REMOTE_URL, name: '[url]' }],
    options: {
      acceptShrunk: flag('--accept-shrunk', 'believe an index that lists less than half of what it did'),
    },
    examples: [
      ['hub ingest', 'all remotes'],
      ['hub ingest https://catalog.example.org/index.json', 'one index, whether it is a remote or not'],
    ],
    async run({ args: [url], options: { acceptShrunk }, output, access }) {
      const hub = await access.open();
      const report = await followed({ output, access }, (onProgress) => hub.ingest(url, onProgress, { acceptShrunk }));
      output.answer(report, () => ingestForPeople(report, output));
      return report.results.every(({ ok }) => ok) ? 'ok' : 'failed';
    },
  }),
  command({
    path: ['sync'],
    summary: 'read all remotes, then register new MCP servers into the gateway',
    details:
      'Ends with exit code 1 when a remote could not be read, or the registration stopped, as it does where the gateway cannot be reached. Servers that the gateway refuses stay pending, which is no failure of the sync.',
    kind: 'hub',
    options: { force: flag('--force', 'also try servers again whose last failure was a short while ago') },
    examples: [
      ['hub sync', ''],
      ['hub sync --hub https://hub.example.org', 'on a hub elsewhere; the token comes from HUB_TOKEN'],
    ],
    async run({ options: { force }, ...call }) {
      const { errors, note } = await syncAndTell(call, { force });
      return Object.keys(errors).length === 0 && note === undefined ? 'ok' : 'failed';
    },
  }),
];

/** `force`: servers that failed a short while ago are tried again too. */
export async function syncAndTell(
  { output, access }: Pick<Call, 'output' | 'access'>,
  { force, mustExist = false }: { force: boolean; mustExist?: boolean },
): Promise<SyncReport> {
  const hub = await access.open({ mustExist });
  const report = await followed({ output, access }, (onProgress) => hub.syncRemotes(onProgress, { force }));
  output.answer(report, () => syncForPeople(report, output));
  return report;
}

/** Long work, with what is going on beside the answer. */
async function followed<T>(
  { output, access }: Pick<Call, 'output' | 'access'>,
  work: (onProgress: (progress: SyncProgress) => void) => Promise<T>,
): Promise<T> {
  return output.working(async (progress) => {
    const result = await work(forgiving((now) => progress.show(progressLine(now))));
    progress.show('making it searchable …');
    await access.settle();
    return result;
  });
}

function progressLine({ running, registering, registering_total }: SyncProgress): string {
  const ingests = running.map(({ url, done, total, per_second, seconds_left, failed }) => {
    const left = seconds_left === null ? '' : `, ${Math.ceil(seconds_left)} s left`;
    const refused = failed > 0 ? `, ${failed} refused` : '';
    return `${url}: ${done} of ${total}, ${Math.round(per_second)} a second${left}${refused}`;
  });
  const registration =
    registering === null
      ? []
      : [`registering: ${registering} of ${plural(registering_total ?? registering, 'server')}`];
  return [...ingests, ...registration].join(' · ') || 'starting';
}

function remotesForPeople({ items }: RemoteList, output: Output): string {
  if (items.length === 0) return "No remotes. 'hub remotes add <url>' adds one.\n";
  const { style } = output;
  return output.table(items, [
    { title: 'Remote', text: ({ url }) => url },
    { title: 'Entities', text: ({ entities }) => entities.toLocaleString('en-US'), isNumber: true },
    { title: 'Last sync', text: ({ last_sync_at }) => (last_sync_at ? shownMoment(last_sync_at) : 'never') },
    {
      title: 'Outcome',
      text: ({ last_status, last_error }) => last_error ?? last_status ?? '',
      style: (text, { last_status }) => (last_status === 'failed' ? style.bad(text) : style.good(text)),
      isFlexible: true,
    },
  ]);
}

function ingestForPeople({ results }: IngestReport, { style }: Output): string {
  if (results.length === 0) return "No remotes. 'hub remotes add <url>' adds one.\n";
  return results
    .map(({ url, ok, error, stats }) => {
      const mark = ok ? style.good('ok') : style.bad('failed');
      const counts = `${countsLine(stats)}; ${stats.elapsed_secs.toFixed(1)} s`;
      const refused = stats.errors.map((each) => `    ${oneLine(`${each.url}: ${each.error}`)}\n`).join('');
      const said = [error, stats.note].filter(Boolean).map((text) => `    ${oneLine(text ?? '')}\n`);
      const more = stats.failed > stats.errors.length ? `    ${rejectionsAdvice(url)}\n` : '';
      return `${mark}  ${oneLine(url)}\n    ${counts}\n${said.join('')}${refused}${more}`;
    })
    .join('');
}

type Counts = Pick<IngestRun, 'created' | 'updated' | 'unchanged' | 'failed' | 'missing'>;

function countsLine({ created, updated, unchanged, failed, missing }: Counts): string {
  return `${created} new, ${updated} changed, ${unchanged} as before, ${failed} refused, ${missing} gone`;
}

function rejectionsAdvice(url: string): string {
  return `'hub remotes rejections ${oneLine(url)}' tells why each was refused.`;
}

function syncForPeople(report: SyncReport, { style }: Output): string {
  // A hub that is older than this program tells no counts.
  const counts = new Map((report.results ?? []).map(({ url, stats }) => [url, stats]));
  const read = report.ingested.map((url) => {
    const stats = counts.get(url);
    const why = stats && stats.failed > 0 ? `    ${rejectionsAdvice(url)}\n` : '';
    return `${style.good('ok')}  ${oneLine(url)}\n${stats ? `    ${countsLine(stats)}\n` : ''}${why}`;
  });
  const failed = Object.entries(report.errors).map(
    ([url, error]) => `${style.bad('failed')}  ${oneLine(`${url}: ${error}`)}\n`,
  );
  const remotes = report.count === 0 ? ["No remotes. 'hub remotes add <url>' adds one.\n"] : [...read, ...failed];
  const registration = report.synced || report.registered + report.failed > 0;
  const servers = registration
    ? `${plural(report.registered, 'server')} registered, ${report.failed} failed${report.failed > 0 ? " ('hub pending list' tells why)" : ''}.\n`
    : 'Nothing was registered.\n';
  return `${report.seeded ? 'Began with the remotes of HUB_REMOTES.\n' : ''}${remotes.join('')}${servers}${report.note ? `${oneLine(report.note)}\n` : ''}`;
}
