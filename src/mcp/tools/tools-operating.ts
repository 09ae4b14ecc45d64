// Tools for operators: pending servers, and the sync that registers them.
import type { McpServer } from '@modelcontextprotocol/server';
import { z } from 'zod';
import { pageThatFits, remarkableFirst, shortened, shortText, shownJson } from '../answers/short.ts';
import {
  answer,
  answered,
  type McpServerOptions,
  PUBLISHER_TEXT_NOTE,
  progressReporter,
  shortAnswer,
  toolArguments,
} from './tool.ts';

const MOST_PENDING = 50;
const LONGEST_NOTE = 2_000;

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
        error_only: z.boolean().default(false).describe('Only servers whose registration, or its update, failed'),
        registrable: z
          .boolean()
          .default(true)
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
    ({ query, error_only: errorOnly, registrable, limit, offset }) =>
      answered(options, async () => {
        const page = { text: query, errorOnly, registrable, limit, offset };
        const { items, total, unregistrable } = await options.hub.listPending(page);
        const shown = pageThatFits(items.map((item) => shownJson(item)));
        const next = offset + shown.length;
        const hasMore = shown.length > 0 && total > next;
        return answer({ items: shown, total, unregistrable, ...(hasMore && { next_offset: next }) });
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
          .describe(
            'Also try servers that can never be registered with their current manifests, or that their remote no longer lists',
          ),
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
        const { ingested, errors, removed, results: all, ...counts } = report;
        const remotes = all.map(({ url, ok, stats: { errors: _, ...stats } }) => ({ url, ok, ...stats }));
        const results = remarkableFirst(remotes, ({ note, changed }) => note || changed.length > 0);
        return shortAnswer(
          shortened({ ...counts, errors, removed, results, ingested }, { note: LONGEST_NOTE }),
          "'hub remotes list' and 'hub remotes rejections' show everything.",
        );
      }),
  );
}
