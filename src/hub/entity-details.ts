// Reads from the manifest of an entity what its user needs to know, beyond the catalog entry; for MCP.
import { adapterLine } from '../catalog/client-config.ts';
import type { EntityRecord } from '../catalog/contract.ts';
import { launchOf } from '../catalog/launch/launch.ts';
import { variablesOf } from '../catalog/launch/launch-form.ts';
import { type ListedTool, toolsOf } from '../catalog/server.ts';
import { asObject } from '../lib/json.ts';
import type { HubOperations } from './operations.ts';

export interface EntityDetails {
  tools: ListedTool[];
  /** Those without a value in the manifest; named as the configuration of a client reads them. */
  variables: { name: string; description: string | null }[];
  /** What its adapters write, each in a few words. */
  adapters: string[];
}

export async function readDetails(
  hub: Pick<HubOperations, 'getManifest'>,
  { id, name, mcp_registration, artifacts, adapters }: EntityRecord,
): Promise<EntityDetails> {
  const document = asObject(JSON.parse((await hub.getManifest(id)).text));
  const launch = launchOf({ document, mcpRegistration: mcp_registration, artifacts, name, slug: id });
  return {
    tools: toolsOf(document),
    variables: variablesOf(launch)
      .filter(({ value }) => value === undefined)
      .map(({ from, description }) => ({ name: from, description: description ?? null })),
    adapters: adapters.map(adapterLine),
  };
}
