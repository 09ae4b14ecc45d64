// Tools for operators: pending servers, and the sync that registers them.
import type { McpServer } from '@modelcontextprotocol/server';
import { z } from 'zod';
import type { SyncReport } from '../../remotes/contract.ts';
import { gatewayText } from '../answers/present.ts';
import { countThatFit, shortened, shortLines, shortText, shownJson } from '../answers/short.ts';
import { answer, answered, type McpServerOptions, PUBLISHER_TEXT_NOTE, progressReporter, shortAnswer } from './tool.ts';
import { toolArguments } from './tool-arguments.ts';

const MOST_PENDING = 50;

export function offerPending(server: McpServer, options: McpServerOptions): void {
  server.registerTool(
    'list_pending',
    {
      title: 'Servers that are not in the gateway',
      description: `Lists MCP servers that are not registered with the gateway, or whose update failed there, each with the reason. Needs a token with the role operator. ${PUBLISHER_TEXT_NOTE}`,
      inputSchema: toolArguments({
        query: z
          .string()
          .max(200)
          .default('')
          .describe('Only servers whose id, name, title, summary, tags or error contain these words'),
        words: z.string().max(200).default('').describe('The same as query'),
        error_only: z.boolean().default(false).describe('Only servers whose registration, or its update, failed'),
        registrable: z
          .boolean()
          .optional()
          .describe('Only servers that can be registered (true), or only those that never can (false)'),
        limit: z.number().int().min(1).max(MOST_PENDING).default(20).describe('Maximum number of servers'),
        offset: z.number().int().min(0).default(0).describe('Number of servers to skip'),
      }),
      outputSchema: z.object({
        items: z.array(z.looseObject({ uid: z.string() })),
        total: z.number(),
        unregistrable: z.number().optional().describe('Pending servers that can never be registered'),
        next_offset: z.number().optional().describe('Offset of the next servers, if there are more'),
      }),
      annotations: { readOnlyHint: true, openWorldHint: false },
    },
    ({ query, words, error_only: errorOnly, registrable, limit, offset }) =>
      answered(options, async () => {
        const text = `${query} ${words}`.trim();
        const page = { text, errorOnly, registrable, limit, offset };
        const { items, total, unregistrable } = await options.hub.listPending(page);
        const lines = items.map((item) => `${item.uid}: ${gatewayText(item) ?? item.reason ?? 'not tried yet'}`);
        const hopeless = unregistrable ? ` Servers that can never be registered: ${unregistrable}.` : '';
        const head = `${total} ${errorOnly ? 'failed' : 'pending'}.${hopeless}`;
        const shown = items.map((item) => shownJson(item));
        const count = countThatFit(shown, lines);
        const next = offset + count;
        const hasMore = count > 0 && total > next;
        const more = hasMore ? [`${total - next} more; continue with offset ${next}.`] : [];
        return answer([head, ...lines.slice(0, count), ...more], {
          items: shown.slice(0, count),
          total,
          unregistrable,
          ...(hasMore && { next_offset: next }),
        });
      }),
  );
}

export function offerSync(server: McpServer, options: McpServerOptions): void {
  server.registerTool(
    'sync_remotes',
    {
      title: 'Sync the catalog',
      description:
        'Reads all remotes again and registers new MCP servers with the gateway. May take minutes. Needs a token with the role operator.',
      inputSchema: toolArguments({
        force: z
          .boolean()
          .default(false)
          .describe('Also try servers that can never be registered with their current manifests'),
      }),
      outputSchema: z.looseObject({ synced: z.boolean() }),
      annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: true, openWorldHint: true },
    },
    ({ force }, context) =>
      answered(options, async () => {
        const notify = progressReporter(context);
        const report = await options.hub.syncRemotes(
          ({ running, registering, registering_total }) => {
            for (const { url, done, total } of running) notify(`${shortText(url)}: ${done} of ${total}`);
            if (registering !== null) notify(`${registering} of ${registering_total} servers registered or failed`);
          },
          { force },
        );
        const { ingested, count, registered, failed, errors, note, results } = report;
        // A hub older than this program returns none.
        const counts = (results ?? []).map(({ url, stats }) => [url, stats.failed] as const);
        const refused = Object.fromEntries(counts.filter(([, manifests]) => manifests > 0));
        const faults = Object.entries(errors).map(([url, error]) => `${shortText(url)}: ${shortText(error)}`);
        const text = `${ingested.length} of ${count} remotes read; ${registered} servers registered, ${failed} failed.`;
        const lines = Object.entries(refused).map(
          ([url, manifests]) =>
            `${shortText(url)}: manifests refused: ${manifests} ('hub remotes rejections' says why)`,
        );
        const notes = (results ?? []).flatMap(({ url, stats }) =>
          remarks(stats).map((text) => `${shortText(url)}: ${shortText(text)}`),
        );
        return shortAnswer(
          [text, ...shortLines([...faults, ...lines, ...notes]), ...(note ? [shortText(note)] : [])],
          shortened({ ...report, refused }),
          "'hub remotes list' and 'hub remotes rejections' show everything.",
        );
      }),
  );
}

/** Further remarks of an ingest: its note, and published versions whose content changed. */
function remarks({ note, changed = [] }: IngestStats): string[] {
  return [...(note ? [note] : []), ...(changed.length > 0 ? [`content changed: ${changed.join(', ')}`] : [])];
}

type IngestStats = SyncReport['results'][number]['stats'];
