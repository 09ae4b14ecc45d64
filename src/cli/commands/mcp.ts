// `hub mcp`: the hub for MCP clients that start it as a child process.
import { HubError } from '../../errors.ts';
import type { McpHub } from '../../mcp/tools/tool.ts';
import { type Call, command } from '../command.ts';
import { NotFoundError } from '../exit-codes.ts';
import { oneLine } from '../output/text.ts';
import { hasSeeds } from './remotes.ts';

export const mcpCommands = [
  command({
    path: ['mcp'],
    summary: 'serve the hub to an MCP client over standard input and output',
    details:
      'Put this command into the configuration of an MCP client, which then starts it. With --hub or HUB_URL, the tools use that hub, and HUB_TOKEN enables those that need a token. Otherwise they use the local catalog.',
    kind: 'hub without answer',
    options: {},
    examples: [
      ['hub mcp', 'on the local catalog'],
      ['HUB_TOKEN=… hub mcp --hub https://hub.example.org', 'on another hub'],
    ],
    async run({ access, terminal }) {
      if (process.stdin.isTTY)
        terminal.writeError(
          "hub: Waiting for an MCP client on standard input; 'hub mcp --help' says how to configure one.\n",
        );
      const { serveMcpOnStdio } = await import('../../mcp/stdio.ts');
      const onFailure = (error: unknown) =>
        terminal.writeError(`${error instanceof Error ? error.message : String(error)}\n`);
      const isLocal = access.serverUrl === undefined;
      const hub = isLocal ? await openedWhenNeeded(access, terminal) : await access.open();
      // The folders of a remote hub are unknown here.
      const targetFolder = isLocal
        ? async (target: string) => (await access.openLocal()).targetFolder(target)
        : undefined;
      await serveMcpOnStdio({ hub, targetFolder, shutdown: terminal.shutdown, input: process.stdin, onFailure });
      return 'ok';
    },
  }),
];

/** Clients start this in any folder, even if they only read, so the catalog is created with the first write. */
async function openedWhenNeeded(access: Call['access'], { writeError }: Call['terminal']): Promise<McpHub> {
  const forReading = () =>
    access.open({ mustExist: true, via: 'mcp' }).catch((error: unknown) => {
      throw error instanceof NotFoundError ? new HubError('entity_not_found', error.message) : error;
    });
  // Invalid settings are reported at startup instead of with the first request.
  await forReading().catch((error: unknown) => {
    if (!(error instanceof HubError) || error.code !== 'entity_not_found') throw error;
    writeError(`hub: ${oneLine(error.message)}\n`);
  });
  return {
    search: async (...given) => (await forReading()).search(...given),
    listCatalog: async (...given) => (await forReading()).listCatalog(...given),
    getEntity: async (...given) => (await forReading()).getEntity(...given),
    getManifest: async (...given) => (await forReading()).getManifest(...given),
    // An install needs an entity of an existing catalog.
    install: async (...given) => (await forReading()).install(...given),
    listPending: async (...given) => (await forReading()).listPending(...given),
    removeEntity: async (...given) => (await forReading()).removeEntity(...given),
    blockEntity: async (...given) => (await forReading()).blockEntity(...given),
    unblockEntity: async (...given) => (await forReading()).unblockEntity(...given),
    syncRemotes: async (...given) =>
      (await (hasSeeds(access) ? access.open({ via: 'mcp' }) : forReading())).syncRemotes(...given),
  };
}
