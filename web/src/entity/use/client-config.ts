// Renders the entry of a server in the configuration of MCP clients, in the layouts that an install writes.
import { CLIENT_LAYOUTS, CLIENTS, clientEntry, clientText } from '../../../../src/catalog/client-config.ts';
import type { EntityRecord } from '../../../../src/catalog/contract.ts';
import { contentsOf } from '../../../../src/catalog/launch/contents.ts';

interface ClientConfig {
  client: string;
  file: string;
  text: string;
  note?: string;
}

/** If empty, `reason` is a sentence that explains why. */
export interface ConnectedClients {
  configs: ClientConfig[];
  reason?: string;
}

/** `manifest` is the full document, which has more details than the catalog entry. */
export function clientConfigs(entity: EntityRecord, manifest: Record<string, unknown> = {}): ConnectedClients {
  const { named, launch } = contentsOf(entity, manifest);
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
