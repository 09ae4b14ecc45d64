// Every command there is, in the order that help shows them.
import type { CommandTable } from './command.ts';
import { completionCommands } from './commands/completion.ts';
import { doctorCommands } from './commands/doctor.ts';
import { entityCommands } from './commands/entities.ts';
import { approvalCommands } from './commands/governance/approvals.ts';
import { auditCommands } from './commands/governance/audit.ts';
import { policyCommands } from './commands/governance/policy.ts';
import { tokenCommands } from './commands/governance/tokens.ts';
import { trustCommands } from './commands/governance/trust.ts';
import { viewCommands } from './commands/governance/views.ts';
import { webhookCommands } from './commands/governance/webhooks.ts';
import { installCommands } from './commands/install.ts';
import { installedCommands } from './commands/installed.ts';
import { keepCommands } from './commands/keep.ts';
import { mcpCommands } from './commands/mcp.ts';
import { openCommands } from './commands/open.ts';
import { pendingCommands } from './commands/pending.ts';
import { publishCommands } from './commands/publish.ts';
import { remoteCommands } from './commands/remotes.ts';
import { searchCommands } from './commands/search.ts';
import { serviceCommands } from './commands/service.ts';
import { showCommands } from './commands/show.ts';

export const COMMAND_TABLE: CommandTable = {
  commands: [
    ...searchCommands,
    ...showCommands,
    ...openCommands,
    ...installCommands,
    ...installedCommands,
    ...entityCommands,
    ...publishCommands,
    ...remoteCommands,
    ...pendingCommands,
    ...policyCommands,
    ...approvalCommands,
    ...trustCommands,
    ...viewCommands,
    ...tokenCommands,
    ...auditCommands,
    ...webhookCommands,
    ...serviceCommands,
    ...mcpCommands,
    ...doctorCommands,
    ...keepCommands,
    ...completionCommands,
  ],
  groups: {
    remotes: 'the catalogs that this one is fed from',
    policy: 'what is found, installed and registered',
    view: 'parts of the registry under addresses of their own',
    token: 'who may use the hub, and what for',
    webhook: 'programs that hear of what happens in the hub',
    pending: 'MCP servers that are not in the gateway yet',
  },
};
