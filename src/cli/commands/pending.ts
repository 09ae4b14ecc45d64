// `hub pending`: MCP servers that are in the catalog and not in the gateway.
import { transportName } from '../../catalog/transport.ts';
import { parseReference } from '../../catalog/uid.ts';
import type { BulkRemoval, PendingItem, PendingPage } from '../../gateway/contract.ts';
import { gatewayLine, gatewayState } from '../../gateway/state-words.ts';
import type { HubOperations } from '../../hub/operations.ts';
import { command } from '../command.ts';
import { UsageError } from '../exit-codes.ts';
import { fullId } from '../names.ts';
import { flag, paging } from '../options.ts';
import type { Output } from '../output/output.ts';
import { neverRegistered } from '../output/sync-report.ts';
import { oneLine, plural } from '../output/text.ts';
import type { Terminal } from '../terminal/terminal.ts';
import { syncAndReport } from './remotes.ts';

export const pendingCommands = [
  command({
    path: ['pending', 'list'],
    isShort: true,
    summary: 'list MCP servers that are not registered with the gateway, and why',
    details:
      'Servers that can never be registered, for example because they have no address, are counted but not listed.',
    kind: 'hub',
    args: [
      { name: '[words...]', description: 'words that must all occur in the id, name, title, summary, tags or error' },
    ],
    options: {
      all: flag('--all', 'also servers that can never be registered'),
      errorOnly: flag('--error-only', 'only servers with an error, including registered ones whose update failed'),
      ...paging('servers', { most: 1000, fallback: 100 }),
    },
    examples: [
      ['hub pending list', ''],
      ['hub pending list timeout --error-only', 'those whose error mentions a timeout'],
    ],
    async run({ args, options: { all, errorOnly, limit, offset }, output, access }) {
      const hub = await access.open();
      const filter = all ? {} : { registrable: true };
      const page = await hub.listPending({ text: args.join(' '), errorOnly, limit, offset, ...filter });
      const nothing = nothingListed(page, { args, errorOnly });
      return output.answer(
        page,
        () => `${pendingForPeople(page, { output, nothing })}${all ? '' : othersLine(page, output)}`,
      );
    },
  }),
  command({
    path: ['pending', 'remove'],
    summary: 'remove unregistered servers from the catalog',
    details: 'With --all, shows how many servers would be removed and asks for confirmation, unless you use --yes.',
    kind: 'hub',
    args: [{ name: '[ids...]', description: '<type>:<slug>@<version>', names: 'ids' }],
    options: {
      all: flag('--all', 'all pending servers'),
      errorOnly: flag('--error-only', 'only servers with an error'),
      yes: flag('--yes', 'do not ask for confirmation'),
    },
    examples: [
      ['hub pending remove mcp_server:io.github.modelcontextprotocol/time@2026.10.10', 'one'],
      ['hub pending remove --all --error-only', 'all servers whose registration failed'],
    ],
    async run({ args, options: { all, errorOnly, yes }, output, access, terminal }) {
      if (args.length === 0 && !all) throw new UsageError('Name the servers to remove by id, or use --all.');
      if (args.length > 0 && all) throw new UsageError('Use ids or --all, not both.');
      if (all && !yes && !terminal.ask)
        throw new UsageError(
          'Removing all pending servers needs confirmation in a terminal; to remove them without it, use --yes.',
        );
      const hub = await access.open();
      // Ids that are gone are reported as skipped; shortened ones are refused before anything is removed.
      for (const id of args) if (parseReference(id)?.version === undefined) await fullId(id, hub);
      if (all) {
        const count = await countRemovable(hub, errorOnly);
        const isWanted = count > 0 && (yes || (await isConfirmed(count, terminal)));
        const why = count === 0 ? nothingListed({ total: 0 }, { args, errorOnly }) : 'Nothing was removed.';
        if (!isWanted) {
          return output.answer(NOTHING_REMOVED, () => `${why}\n`);
        }
      }
      const removal = await hub.removeManyPending({
        ...(args.length > 0 ? { uids: [...args] } : {}),
        all,
        error_only: errorOnly,
      });
      output.answer(removal, () => removalForPeople(removal, output));
      // With --all, a server that was kept is not a failure; with explicit ids, it is.
      const reasons = args.map((uid) => removal.skipped[uid]).filter((reason) => reason !== undefined);
      if (reasons.length === 0) return 'ok';
      return reasons.every((reason) => reason === 'not found') ? 'notFound' : 'failed';
    },
  }),
  command({
    path: ['pending', 'retry'],
    summary: 'sync and try all pending servers again',
    details:
      "Tries the same servers as 'hub sync --force'. Remotes are read first, so that the manifests are up to date. The exit code is 1 if a remote could not be read, if registration stopped, or if a server could not be registered. Servers that can never be registered do not count.",
    kind: 'hub',
    options: {},
    examples: [['hub pending retry', 'after the gateway was fixed']],
    run: (call) =>
      syncAndReport(call, {
        force: true,
        mayCreate: false,
        isOk: ({ failed, unregistrable = 0, errors, stopped }) =>
          failed === unregistrable && !stopped && Object.keys(errors).length === 0,
      }),
  }),
];

const NOTHING_REMOVED: BulkRemoval = { removed: [], skipped: {}, total_removed: 0 };

/** Registered servers whose last update failed are listed among the errors, but are not removed. */
async function countRemovable(hub: HubOperations, errorOnly: boolean): Promise<number> {
  const page = await hub.listPending({ text: '', errorOnly, limit: 1, offset: 0 });
  return page.total - (page.failed_updates ?? 0);
}

async function isConfirmed(count: number, { ask }: Terminal): Promise<boolean> {
  const answer = await ask?.(`Remove ${plural(count, 'server')} from the catalog? [y/N] `);
  return /^y(es)?$/i.test(answer?.trim() ?? '');
}

function othersLine({ unregistrable = 0 }: Partial<PendingPage>, { style }: Output): string {
  return unregistrable === 0 ? '' : style.faint(neverRegistered(unregistrable));
}

function nothingListed(
  { total }: Pick<PendingPage, 'total'>,
  { args, errorOnly }: { args: readonly string[]; errorOnly: boolean },
): string {
  if (total > 0) return `End of the list; ${plural(total, 'server')} in total.`;
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
    { title: 'Transport', text: ({ transport }) => transportName(transport) },
    { title: 'Tries', text: ({ tries }) => (tries > 0 ? String(tries) : ''), isNumber: true },
    {
      title: 'Error',
      text: errorOf,
      style: (text) => style.bad(text),
      isFlexible: true,
    },
  ]);
  return `${rows}\n${style.faint(`${items.length} of ${plural(total, 'server')}`)}\n`;
}

/** Omits "not registered", which is true of every listed server. */
function errorOf(item: PendingItem): string {
  return item.gateway_registered_at
    ? gatewayLine(gatewayState(item, () => ''))
    : (item.gateway_error ?? item.reason ?? '');
}

function removalForPeople({ removed, skipped, note }: BulkRemoval, { style }: Output): string {
  const stayed = Object.entries(skipped).map(
    ([uid, reason]) => `${style.warning('kept')}  ${oneLine(uid)}: ${oneLine(reason)}\n`,
  );
  return `${removed.map((uid) => `removed  ${oneLine(uid)}\n`).join('')}${stayed.join('')}${plural(removed.length, 'server')} removed.\n${note ? `${oneLine(note)}\n` : ''}`;
}
