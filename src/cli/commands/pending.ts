// `hub pending`: MCP servers that are in the catalog and not in the gateway.
import type { BulkRemoval, PendingItem, PendingPage } from '../../gateway/contract.ts';
import { gatewayLine, gatewayState } from '../../gateway/state-words.ts';
import { command } from '../command.ts';
import { UsageError } from '../exit-codes.ts';
import { flag, paging } from '../options.ts';
import type { Output } from '../output/output.ts';
import { oneLine, plural } from '../output/text.ts';
import { syncAndTell } from './remotes.ts';

export const pendingCommands = [
  command({
    path: ['pending', 'list'],
    summary: 'list MCP servers that are not registered into the gateway, and why',
    kind: 'hub',
    args: [{ name: '[words...]', description: 'that must all occur in the id, the name or the error' }],
    options: {
      errorOnly: flag('--error-only', 'only those with an error; also registered ones whose update failed'),
      ...paging('servers', { most: 1000, fallback: 100 }),
    },
    examples: [
      ['hub pending list', ''],
      ['hub pending list timeout --error-only', 'those whose error speaks of a timeout'],
    ],
    async run({ args, options: { errorOnly, limit, offset }, output, access }) {
      const hub = await access.open({ mustExist: true });
      const page = await hub.listPending({ text: args.join(' '), errorOnly, limit, offset });
      output.answer(page, () => pendingForPeople(page, { output, nothing: nothingListed(page, { args, errorOnly }) }));
      return 'ok';
    },
  }),
  command({
    path: ['pending', 'delete'],
    summary: 'remove servers from the catalog that are not registered',
    kind: 'hub',
    args: [{ name: '[uids...]', description: 'of the servers to remove' }],
    options: {
      all: flag('--all', 'all that are pending'),
      errorOnly: flag('--error-only', 'only those with an error'),
    },
    examples: [
      ['hub pending delete mcp_server:pdf-tables@1.0.0', 'one'],
      ['hub pending delete --all --error-only', 'all that could not be registered'],
    ],
    async run({ args, options: { all, errorOnly }, output, access }) {
      if (args.length === 0 && !all)
        throw new UsageError('Say which servers to remove: by uid, or all of them with --all.');
      if (args.length > 0 && all) throw new UsageError('Give uids or --all, not both.');
      const hub = await access.open({ mustExist: true });
      const removal = await hub.removeManyPending({
        ...(args.length > 0 ? { uids: [...args] } : {}),
        all,
        error_only: errorOnly,
      });
      output.answer(removal, () => removalForPeople(removal, output));
      // What is left out of a sweep is no failure; a server that was named and stays is one.
      const reasons = args.map((uid) => removal.skipped[uid]).filter((reason) => reason !== undefined);
      if (reasons.length === 0) return 'ok';
      return reasons.every((reason) => reason === 'not found') ? 'notFound' : 'failed';
    },
  }),
  command({
    path: ['pending', 'retry'],
    summary: 'try all pending servers again, now',
    details:
      'A sync that does not wait for the time of the next try: remotes are read first, so that manifests are current.',
    kind: 'hub',
    options: {},
    examples: [['hub pending retry', 'after the gateway was mended']],
    async run(call) {
      const { failed, errors } = await syncAndTell(call, { force: true, mustExist: true });
      return failed === 0 && Object.keys(errors).length === 0 ? 'ok' : 'failed';
    },
  }),
];

function nothingListed(
  { total }: PendingPage,
  { args, errorOnly }: { args: readonly string[]; errorOnly: boolean },
): string {
  if (total > 0) return `There are no more; ${plural(total, 'server')} in all.`;
  if (args.length > 0) return `No pending server ${errorOnly ? 'with an error ' : ''}matches these words.`;
  return errorOnly ? 'No server has an error.' : 'No server is pending.';
}

function pendingForPeople(
  { items, total }: PendingPage,
  { output, nothing }: { output: Output; nothing: string },
): string {
  if (items.length === 0) return `${nothing}\n`;
  const { style } = output;
  const rows = output.table(items, [
    { title: 'Server', text: ({ uid }) => uid },
    { title: 'Transport', text: ({ transport }) => transport },
    { title: 'Tries', text: ({ tries }) => String(tries), isNumber: true },
    {
      title: 'Error',
      text: errorOf,
      style: (text) => style.bad(text),
      isFlexible: true,
    },
  ]);
  return `${rows}\n${style.faint(`${items.length} of ${plural(total, 'server')}`)}\n`;
}

/** Those that are not registered say so by being listed. */
function errorOf(item: PendingItem): string {
  return item.gateway_registered_at ? gatewayLine(gatewayState(item, () => '')) : (item.gateway_error ?? '');
}

function removalForPeople({ removed, skipped }: BulkRemoval, { style }: Output): string {
  const stayed = Object.entries(skipped).map(
    ([uid, reason]) => `${style.warning('stays')}  ${oneLine(uid)}: ${oneLine(reason)}\n`,
  );
  return `${removed.map((uid) => `removed  ${oneLine(uid)}\n`).join('')}${stayed.join('')}${plural(removed.length, 'server')} removed.\n`;
}
