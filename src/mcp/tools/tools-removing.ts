// Tools for operators: remove an entity from the catalog, or block it.
import type { McpServer } from '@modelcontextprotocol/server';
import { z } from 'zod';
import { shownJson } from '../answers/short.ts';
import { exactId } from './entity-id.ts';
import { answer, answered, type McpServerOptions, toolArguments } from './tool.ts';

const ExactId = z.string().min(1).describe('<type>:<slug>@<version>');

export function offerRemoval(server: McpServer, options: McpServerOptions): void {
  server.registerTool(
    'remove_entity',
    {
      title: 'Remove an entity',
      description:
        'Removes an entity from the catalog and from the gateway. If a remote still lists it, the next sync restores it; block_entity keeps it out. Needs a token with the role operator.',
      inputSchema: toolArguments({ id: ExactId }),
      outputSchema: z.looseObject({ removed: z.boolean() }),
      annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: true, openWorldHint: true },
    },
    ({ id: given }) =>
      answered(options, async () => {
        const id = await exactId(given, 'remove_entity', options.hub);
        return answer(shownJson(await options.hub.removeEntity(id)));
      }),
  );
}

export function offerBlock(server: McpServer, options: McpServerOptions): void {
  server.registerTool(
    'block_entity',
    {
      title: 'Block an entity, or lift its block',
      description:
        'Blocks or unblocks an entity. A blocked entity stays in the catalog, but is hidden from search, removed from the gateway, and cannot be installed or registered. Needs a token with the role operator.',
      inputSchema: toolArguments({
        id: ExactId,
        blocked: z.boolean().default(true).describe('False unblocks it'),
        reason: z.string().max(1000).optional().describe('Shown to everyone who views it'),
      }),
      outputSchema: z.looseObject({ id: z.string() }),
      annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: true, openWorldHint: true },
    },
    ({ id: given, blocked, reason }) =>
      answered(options, async () => {
        const { hub } = options;
        const id = await exactId(given, 'block_entity', hub);
        const entity = await (blocked ? hub.blockEntity(id, reason) : hub.unblockEntity(id));
        const { blocked_at, blocked_reason } = entity;
        const note = 'note' in entity ? { note: entity.note } : {};
        return answer(shownJson({ id, blocked_at, blocked_reason, ...note }));
      }),
  );
}
