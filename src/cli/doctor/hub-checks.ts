// Checks of a hub, as far as callers can see it.
import { HubError } from '../../errors.ts';
import type { HubOperations } from '../../hub-operations.ts';
import { searchQuery } from '../../search/search-query.ts';
import { VERSION } from '../../version.ts';
import { plural } from '../output/text.ts';
import type { Check, Finding } from './finding.ts';

/** Of one elsewhere. */
export function serverChecks(hub: HubOperations, url: string): Check[] {
  return [
    { subject: 'hub', look: () => versionFinding(hub, url) },
    { subject: 'database', look: () => databaseFinding(hub) },
    { subject: 'catalog', look: () => catalogFinding(hub) },
    { subject: 'token', look: () => tokenFinding(hub) },
    {
      subject: 'gateway',
      look: async () => ((await hub.config()).gateway_configured ? { outcome: 'ok', found: 'configured' } : NO_GATEWAY),
    },
    { subject: 'model', look: () => modelFinding(hub) },
    { subject: 'remotes', look: () => remotesFinding(hub) },
  ];
}

export const NO_GATEWAY: Finding = {
  outcome: 'warning',
  found: 'not configured',
  advice: 'Servers stay pending. Set MCP_GATEWAY_URL and MCP_GATEWAY_TOKEN to register them.',
};

async function versionFinding(hub: HubOperations, url: string): Promise<Finding> {
  const { version } = await hub.health({ checkDb: false });
  const found = `${url} runs version ${version}`;
  if (version === VERSION) return { outcome: 'ok', found };
  return {
    outcome: 'warning',
    found,
    advice: `This command is of version ${VERSION}; use the same, if something fails.`,
  };
}

async function databaseFinding(hub: HubOperations): Promise<Finding> {
  const [{ db }, { database }] = await Promise.all([hub.health({ checkDb: true }), hub.config()]);
  if (db === 'ok') return { outcome: 'ok', found: `${database} answers` };
  const advice = 'See whether it runs, and whether its disk is full; the log of the hub has more.';
  return { outcome: 'failed', found: `${database} does not answer`, advice };
}

export async function catalogFinding(hub: HubOperations): Promise<Finding> {
  const { total } = await hub.listCatalog({ text: '', sort: 'updated_at', limit: 1, offset: 0 });
  if (total > 0) return { outcome: 'ok', found: plural(total, 'entity', 'entities') };
  const advice = "Add a remote ('hub remotes add <url>') and read it ('hub sync').";
  return { outcome: 'warning', found: 'empty', advice };
}

/** A real search by meaning: everything that it needs must work. */
export async function modelFinding(hub: HubOperations): Promise<Finding> {
  const { degraded } = await hub.search(searchQuery({ text: 'a tool that reads files', mode: 'semantic', limit: 1 }));
  if (degraded === undefined) return { outcome: 'ok', found: 'search by meaning works' };
  const advice = 'Search goes on by words. Reinstall with optional dependencies, or set EMBEDDING_BASE_URL.';
  return { outcome: 'warning', found: degraded, advice };
}

async function tokenFinding(hub: HubOperations): Promise<Finding> {
  try {
    await hub.listPending({ text: '', errorOnly: false, limit: 1, offset: 0 });
    return { outcome: 'ok', found: 'admin routes are open to you' };
  } catch (error) {
    if (!(error instanceof HubError) || error.code !== 'unauthorized') throw error;
    const advice = 'Set HUB_TOKEN to the API_TOKEN of the hub, if you want to change something.';
    return { outcome: 'warning', found: 'admin routes are closed to you', advice };
  }
}

async function remotesFinding(hub: HubOperations): Promise<Finding> {
  const { items } = await hub.listRemotes();
  const failed = items.filter(({ last_status }) => last_status === 'failed');
  if (failed.length === 0) return { outcome: 'ok', found: `${plural(items.length, 'remote')}, none of which failed` };
  const found = failed.map(({ url, last_error }) => `${url}: ${last_error}`).join('; ');
  return { outcome: 'warning', found, advice: "'hub sync' tries them again." };
}
