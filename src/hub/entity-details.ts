// Reads from the manifest of an entity what its user needs to know, beyond the catalog entry; for MCP and the command line.
import { clientEntry, neededVariables } from '../catalog/client-config.ts';
import type { EntityRecord } from '../catalog/contract.ts';
import { type Contents, contentsOf } from '../catalog/launch/contents.ts';
import { variablesOf } from '../catalog/launch/launch-form.ts';
import { type ListedTool, toolsOf } from '../catalog/server.ts';
import { asObject } from '../lib/json.ts';
import type { HubOperations } from './operations.ts';

export interface EntityDetails extends Pick<Contents, 'artifacts' | 'command'> {
  tools: ListedTool[];
  /** Those that the configuration of a client reads from the environment. */
  variables: { name: string; description: string | null }[];
}

export async function readDetails(
  hub: Pick<HubOperations, 'getManifest'>,
  entity: EntityRecord,
): Promise<EntityDetails> {
  const document = asObject(JSON.parse((await hub.getManifest(entity.id)).text));
  const { named, launch, artifacts, command } = contentsOf(entity, document);
  const read = launch.kind === 'none' ? [] : neededVariables(clientEntry('claude', launch, named).entry);
  const described = new Map(variablesOf(launch).map(({ from, description }) => [from, description]));
  return {
    artifacts,
    command,
    tools: toolsOf(document),
    variables: [...new Set(read)].map((each) => ({ name: each, description: described.get(each) ?? null })),
  };
}
