// Reads from the manifest of an entity what its user needs to know, beyond the catalog entry; for MCP.
import { clientEntry, neededVariables } from '../catalog/client-config.ts';
import type { EntityRecord } from '../catalog/contract.ts';
import { launchOf } from '../catalog/launch/launch.ts';
import { variablesOf } from '../catalog/launch/launch-form.ts';
import { type ListedTool, toolsOf } from '../catalog/server.ts';
import { parseReference } from '../catalog/uid.ts';
import { asObject } from '../lib/json.ts';
import type { HubOperations } from './operations.ts';

export interface EntityDetails {
  tools: ListedTool[];
  /** Those that the configuration of a client reads from the environment. */
  variables: { name: string; description: string | null }[];
}

export async function readDetails(
  hub: Pick<HubOperations, 'getManifest'>,
  { id, name, mcp_registration, artifacts }: EntityRecord,
): Promise<EntityDetails> {
  const document = asObject(JSON.parse((await hub.getManifest(id)).text));
  const named = { name, slug: parseReference(id)?.slug ?? name };
  const launch = launchOf({ document, mcpRegistration: mcp_registration, artifacts, ...named });
  const read = launch.kind === 'none' ? [] : neededVariables(clientEntry('claude', launch, named).entry);
  const described = new Map(variablesOf(launch).map(({ from, description }) => [from, description]));
  return {
    tools: toolsOf(document),
    variables: [...new Set(read)].map((each) => ({ name: each, description: described.get(each) ?? null })),
  };
}
