// Tools for operators: install, sync, and what is not registered yet.
import type { McpServer } from '@modelcontextprotocol/server';
import { z } from 'zod';
import { reportText } from './present.ts';
import { answer, answered, type McpServerOptions, NEEDS_TOKEN, progressTeller } from './tool.ts';
import { EntityId } from './tools-reading.ts';

const MOST_PENDING = 50;

export function offerChangingTools(server: McpServer, options: McpServerOptions): void {
  const { hub, isAdmin } = options;
  server.registerTool(
    'install_entity',
    {
      title: 'Install an entity',
      description:
        'Installs an entity into a folder: its artifacts, glue code and MCP client configuration, registration into the gateway, and a lockfile. Look at plan_install first. Needs the admin token.',
      inputSchema: z.object({
        id: EntityId,
        target: z.string().min(1).describe('Folder on the machine of the hub that everything is written into'),
        frozen: z.boolean().default(false).describe('Install exactly what hub.lock.json in the folder says'),
      }),
      outputSchema: z.looseObject({ ok: z.boolean() }),
      annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: true, openWorldHint: true },
    },
    ({ id, target, frozen }, context) =>
      answered(options, async () => {
        if (!isAdmin) return NEEDS_TOKEN;
        const tell = progressTeller(context);
        const report = await hub.install({ id, target, frozen, dry_run: false }, (event) => {
          if (event.kind === 'started') tell(event.step);
        });
        const { ok, results, files_written } = report;
        return { ...answer(reportText(report), { ok, results, files_written }), isError: !ok };
      }),
  );

  server.registerTool(
    'list_pending',
    {
      title: 'Servers that are not in the gateway',
      description:
        'MCP servers of the catalog that are not registered in the gateway, with the reason of each. Needs the admin token.',
      inputSchema: z.object({
        words: z.string().max(200).default('').describe('Only servers whose name, id or error holds these words'),
        error_only: z.boolean().default(false).describe('Only those whose registration failed'),
        limit: z.number().int().min(1).max(MOST_PENDING).default(20),
        offset: z.number().int().min(0).default(0),
      }),
      outputSchema: z.object({ items: z.array(z.looseObject({ uid: z.string() })), total: z.number() }),
      annotations: { readOnlyHint: true, openWorldHint: false },
    },
    ({ words, error_only: errorOnly, limit, offset }) =>
      answered(options, async () => {
        if (!isAdmin) return NEEDS_TOKEN;
        const { items, total } = await hub.listPending({ text: words, errorOnly, limit, offset });
        const lines = items.map(({ uid, gateway_error: error }) => `${uid}: ${error ?? 'not tried yet'}`);
        return answer([`${total} ${errorOnly ? 'failed' : 'pending'}.`, ...lines].join('\n'), { items, total });
      }),
  );

  server.registerTool(
    'sync_remotes',
    {
      title: 'Sync the catalog',
      description:
        'Reads all remotes again and registers new MCP servers into the gateway. May take minutes. Needs the admin token.',
      inputSchema: z.object({
        force: z.boolean().default(false).describe('Also try servers again that failed a short while ago'),
      }),
      outputSchema: z.looseObject({ synced: z.boolean() }),
      annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: true, openWorldHint: true },
    },
    ({ force }, context) =>
      answered(options, async () => {
        if (!isAdmin) return NEEDS_TOKEN;
        const tell = progressTeller(context);
        const report = await hub.syncRemotes(
          ({ running, registering, registering_total }) => {
            for (const { url, done, total } of running) tell(`${url}: ${done} of ${total}`);
            if (registering !== null) tell(`${registering} of ${registering_total} servers registered or failed`);
          },
          { force },
        );
        const { ingested, count, registered, failed, errors } = report;
        const faults = Object.entries(errors).map(([url, error]) => `${url}: ${error}`);
        const text = `${ingested.length} of ${count} remotes read; ${registered} servers registered, ${failed} failed.`;
        return answer([text, ...faults].join('\n'), report);
      }),
  );
}
