// How a server is written into the configuration of an MCP client: the same layouts that an install writes.
import { CLIENT_LAYOUTS, CLIENTS, clientEntry, clientText } from '../../../../src/catalog/client-config.ts';
import type { EntityRecord } from '../../../../src/catalog/contract.ts';
import { launchOf } from '../../../../src/catalog/launch/launch.ts';

interface ClientConfig {
  client: string;
  file: string;
  text: string;
  note?: string;
}

/** Empty with a reason, which is a sentence. */
export interface ConnectedClients {
  configs: ClientConfig[];
  reason?: string;
}

/** `manifest` is the whole document, which says more than the entry of the catalog. */
export function clientConfigs(entity: EntityRecord, manifest: Record<string, unknown> = {}): ConnectedClients {
  const named = { name: entity.name, slug: entity.id };
  const { mcp_registration: mcpRegistration, artifacts } = entity;
  const launch = launchOf({ document: manifest, mcpRegistration, artifacts, ...named });
  if (launch.kind === 'none') return { configs: [], reason: launch.reason };
  const configs = CLIENTS.map((name) => {
    const { label: client, file, note } = CLIENT_LAYOUTS[name];
    return {
      client,
      file,
      text: clientText(name, clientEntry(name, launch, named)).trimEnd(),
      ...(note ? { note } : {}),
    };
  });
  return { configs };
}
