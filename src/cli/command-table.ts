// Every command there is, in the order that help shows them.
import type { CommandTable } from './command.ts';
import { completionCommands } from './commands/completion.ts';
import { doctorCommands } from './commands/doctor.ts';
import { entityCommands } from './commands/entities.ts';
import { installCommands } from './commands/install.ts';
import { installedCommands } from './commands/installed.ts';
import { keepCommands } from './commands/keep.ts';
import { mcpCommands } from './commands/mcp.ts';
import { pendingCommands } from './commands/pending.ts';
import { remoteCommands } from './commands/remotes.ts';
import { searchCommands } from './commands/search.ts';
import { serviceCommands } from './commands/service.ts';
import { showCommands } from './commands/show.ts';

export const COMMAND_TABLE: CommandTable = {
  commands: [
    ...searchCommands,
    ...showCommands,
    ...installCommands,
    ...installedCommands,
    ...entityCommands,
    ...remoteCommands,
    ...pendingCommands,
    ...serviceCommands,
    ...mcpCommands,
    ...doctorCommands,
    ...keepCommands,
    ...completionCommands,
  ],
  groups: {
    remotes: 'the catalogs that this one is fed from',
    pending: 'MCP servers that are not in the gateway yet',
  },
};
