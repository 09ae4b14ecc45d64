// All commands, in the order in which help lists them.
import type { CommandTable } from './command.ts';
import { backupCommands } from './commands/backup.ts';
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
import { installCommands } from './commands/install/install.ts';
import { installedCommands } from './commands/install/installed.ts';
import { updateCommand } from './commands/install/update.ts';
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
    updateCommand,
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
    ...backupCommands,
    ...completionCommands,
  ],
  groups: {
    remotes: 'manage the catalogs that this hub reads',
    policy: 'show, test and apply the admission policy',
    views: 'manage views of the registry, each with its own address',
    tokens: 'manage tokens for people and programs',
    webhooks: 'manage webhooks, which send events to other programs',
    pending: 'manage MCP servers that are not registered with the gateway',
  },
  sections: {
    search: { title: 'Search and show', commands: ['search', 'show', 'open', 'catalog', 'export'] },
    install: { title: 'Install', commands: ['install', 'update', 'list', 'outdated', 'uninstall', 'verify'] },
    entities: { title: 'Publish, block and remove', commands: ['publish', 'validate', 'remove', 'block', 'unblock'] },
    remotes: { title: 'Remotes and the gateway', commands: ['remotes', 'ingest', 'sync', 'pending'] },
    governance: {
      title: 'Policy, approvals and trust',
      commands: ['policy', 'approvals', 'approve', 'reject', 'revoke', 'trust'],
    },
    access: { title: 'Views, tokens, audit and webhooks', commands: ['views', 'tokens', 'audit', 'webhooks'] },
    service: {
      title: 'Run and check a hub',
      commands: ['serve', 'version', 'mcp', 'doctor', 'backup', 'completion', 'complete'],
    },
  },
};
