// Checks of a hub that need only its public operations.
import { HubError } from '../../errors.ts';
import type { Diagnosis, HubOperations } from '../../hub/operations.ts';
import { VERSION } from '../../version.ts';
import { plural } from '../output/text.ts';
import { gatewayFinding, llmFinding, meaningFinding, modelFinding, NO_GATEWAY } from './diagnosis-findings.ts';
import type { Check, Finding } from './finding.ts';

/** Checks of a hub on another machine. */
export function serverChecks(hub: HubOperations, url: string): Check[] {
  return [
    { subject: 'hub', look: () => versionFinding(hub, url) },
    { subject: 'database', look: () => databaseFinding(hub) },
    { subject: 'token', look: () => tokenFinding(hub) },
    ...hubChecks(hub),
  ];
}

/** Checks of any hub that can be opened. */
export function hubChecks(hub: HubOperations): Check[] {
  let diagnosis: Promise<Diagnosis | undefined> | undefined;
  const diagnose = () => {
    diagnosis ??= diagnosisOf(hub);
    return diagnosis;
  };
  return [
    { subject: 'catalog', look: () => catalogFinding(hub) },
    { subject: 'gateway', look: async () => gatewayFrom(await diagnose(), hub) },
    { subject: 'model', look: async () => modelFrom(await diagnose(), hub) },
    { subject: 'llm', look: async () => llmFrom(await diagnose()) },
    { subject: 'remotes', look: () => remotesFinding(hub) },
  ];
}

/** Returns undefined if the caller is not allowed to diagnose, or the hub is too old. */
async function diagnosisOf(hub: HubOperations): Promise<Diagnosis | undefined> {
  return hub.diagnose().catch((error) => {
    if (error instanceof HubError && ['unauthorized', 'forbidden', 'route_not_found'].includes(error.code))
      return undefined;
    throw error;
  });
}

const WITH_TOKEN =
  'To test it, set HUB_TOKEN to the API_TOKEN of the hub, or to a token with the role operator or higher.';

async function gatewayFrom(diagnosis: Diagnosis | undefined, hub: HubOperations): Promise<Finding> {
  if (diagnosis) return gatewayFinding(diagnosis);
  if (!(await hub.config()).gateway_configured) return NO_GATEWAY;
  return { outcome: 'warning', found: 'configured, but not tested', advice: WITH_TOKEN };
}

async function modelFrom(diagnosis: Diagnosis | undefined, hub: HubOperations): Promise<Finding> {
  if (!diagnosis) return meaningFinding(hub, WITH_TOKEN);
  const model = modelFinding(diagnosis);
  if (model.outcome !== 'ok') return model;
  const meaning = await meaningFinding(hub);
  return meaning.outcome === 'ok' ? model : meaning;
}

function llmFrom(diagnosis: Diagnosis | undefined): Finding | undefined {
  return diagnosis && llmFinding(diagnosis);
}

async function versionFinding(hub: HubOperations, url: string): Promise<Finding> {
  const { version } = await hub.health({ checkDb: false });
  const found = `${url} runs version ${version}`;
  if (version === VERSION) return { outcome: 'ok', found };
  return {
    outcome: 'warning',
    found,
    advice: `This command has version ${VERSION}. If something fails, use the same version on both sides.`,
  };
}

export async function databaseFinding(hub: HubOperations): Promise<Finding> {
  const [{ db }, { database }] = await Promise.all([hub.health({ checkDb: true }), hub.config()]);
  if (db === 'ok') return { outcome: 'ok', found: `${database} answers` };
  const advice = 'Check that it is running and that its disk is not full; the log of the hub says more.';
  return { outcome: 'failed', found: `${database} does not answer`, advice };
}

async function catalogFinding(hub: HubOperations): Promise<Finding> {
  const { total } = await hub.listCatalog({ text: '', sort: 'updated_at', limit: 1, offset: 0 });
  if (total > 0) return { outcome: 'ok', found: plural(total, 'entity', 'entities') };
  const advice = "Add a remote ('hub remotes add <url>') and read it ('hub sync').";
  return { outcome: 'warning', found: 'empty', advice };
}

async function tokenFinding(hub: HubOperations): Promise<Finding> {
  try {
    await hub.listPending({ text: '', errorOnly: false, limit: 1, offset: 0 });
    return { outcome: 'ok', found: 'protected routes are open to you' };
  } catch (error) {
    if (!(error instanceof HubError) || !['unauthorized', 'forbidden'].includes(error.code)) throw error;
    const advice =
      'To change something, set HUB_TOKEN to the API_TOKEN of the hub, or to a token with a sufficient role.';
    const found = error.code === 'forbidden' ? 'its role may not operate the hub' : 'protected routes need a token';
    return { outcome: 'warning', found, advice };
  }
}

async function remotesFinding(hub: HubOperations): Promise<Finding> {
  const { items } = await hub.listRemotes();
  if (items.length === 0) return { outcome: 'ok', found: 'none yet' };
  const failed = items.filter(({ last_status }) => last_status === 'failed');
  if (failed.length === 0) return { outcome: 'ok', found: `${plural(items.length, 'remote')}, none failed` };
  const found = failed.map(({ url, last_error }) => `${url}: ${last_error}`).join('; ');
  return { outcome: 'warning', found, advice: "'hub sync' tries them again." };
}
