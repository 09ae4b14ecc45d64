// Reads from the report of an install what its user needs to know next; for the command line and MCP.
import { CLIENTS, neededVariables } from '../catalog/client-config.ts';
import type { InstallReport, LockedEntity } from '../install/contract.ts';
import { isJsonObject } from '../lib/json.ts';

/** Only for a server that no client was configured for; `option` is how the user names clients. */
export function clientAdvice({ ok, dry_run, plan }: InstallReport, option: string): string[] {
  const isWithoutClient = ok && !dry_run && plan.id.startsWith('mcp_server:') && plan.adapters.length === 0;
  return isWithoutClient ? [`No MCP client was configured. To configure one, use ${option} ${CLIENTS.join('|')}.`] : [];
}

/** Whether an entry for it is in the configuration of a client. */
export function isInClient(report: InstallReport): boolean {
  return lockedOf(report)?.adapters.some(({ entry }) => entry !== undefined) ?? false;
}

/** Entries to paste into the user's own files, which installs never write. */
export function pastesOf({ results }: Pick<InstallReport, 'results'>): { file: string; text: string }[] {
  return results.flatMap(({ extra }) => (Array.isArray(extra?.paste) ? extra.paste : []));
}

/** Variables that the clients read from their environment. */
export function variablesToSet(report: InstallReport): string[] {
  const written = lockedOf(report)?.adapters.map((each) => each.written);
  return [...new Set(written?.flatMap((each) => (isJsonObject(each) ? neededVariables(each) : [])))];
}

/** Paths of the programs that start it, relative to the target. */
export function programsOf(report: InstallReport): string[] {
  return lockedOf(report)?.launchers?.map(({ name }) => `.hub/bin/${name}`) ?? [];
}

function lockedOf({ plan, lockfile }: InstallReport): LockedEntity | undefined {
  return lockfile.entities.find(({ id }) => id === plan.id);
}
