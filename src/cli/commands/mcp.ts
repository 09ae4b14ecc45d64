// `hub mcp`: the hub for MCP clients that start it as a child process.
import { messageOf } from '../../errors.ts';
import { command } from '../command.ts';

export const mcpCommands = [
  command({
    path: ['mcp'],
    summary: 'serve the hub to an MCP client over standard input and output',
    details:
      'Put this command into the configuration of an MCP client, which then starts it. With --hub or HUB_URL, the tools use that hub, and HUB_TOKEN enables those that need a token. Otherwise they use the local catalog, which is created if it is missing.',
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
      const onFailure = (error: unknown) => terminal.writeError(`${messageOf(error)}\n`);
      const isLocal = access.serverUrl === undefined;
      const hub = await access.open({ mayCreate: true, via: 'mcp' });
      // The folders of a remote hub are unknown here.
      const targetFolder = isLocal
        ? async (target: string) => (await access.openLocal()).targetFolder(target)
        : undefined;
      await serveMcpOnStdio({ hub, targetFolder, shutdown: terminal.shutdown, input: process.stdin, onFailure });
      return 'ok';
    },
  }),
];
