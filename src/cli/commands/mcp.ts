// `hub mcp`: the hub for MCP clients that start it themselves.
import { command } from '../command.ts';

export const mcpCommands = [
  command({
    path: ['mcp'],
    summary: 'serve the hub to an MCP client over standard input and output',
    details:
      'For the configuration of an MCP client: it starts the command and speaks to it. With --hub or HUB_URL the tools work on that hub, with HUB_TOKEN also those that need the token; without, on the local database.',
    kind: 'hub without answer',
    options: {},
    examples: [
      ['hub mcp', 'on the database of this folder'],
      ['HUB_TOKEN=… hub mcp --hub https://hub.example.org', 'on a hub elsewhere'],
    ],
    async run({ access, terminal }) {
      if (process.stdin.isTTY)
        terminal.writeError(
          "hub: Waiting for an MCP client on standard input; 'hub mcp --help' says how one is told of it.\n",
        );
      const { serveMcpOnStdio } = await import('../../mcp/stdio.ts');
      const onFailure = (error: unknown) =>
        terminal.writeError(`${error instanceof Error ? error.message : String(error)}\n`);
      const hub = await access.open();
      // Of a hub elsewhere, nobody here knows its folders.
      const local = access.serverUrl === undefined ? await access.openLocal() : undefined;
      const targetFolder = local && ((target: string) => local.targetFolder(target));
      await serveMcpOnStdio({ hub, targetFolder, shutdown: terminal.shutdown, input: process.stdin, onFailure });
      return 'ok';
    },
  }),
];
