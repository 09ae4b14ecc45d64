// Tools that plan an install and carry it out.
import type { McpServer } from '@modelcontextprotocol/server';
import { z } from 'zod';
import { HubError } from '../errors.ts';
import { isNotForGateway, reasonNotForGateway } from '../gateway/state-words.ts';
import type { InstallPlan, InstallReport } from '../install/contract.ts';
import { EntityId, Prerelease } from './entity-id.ts';
import { wholeManifest } from './present.ts';
import { shortened, shortLines, shownJson } from './short.ts';
import { answeredToAdmin, FOREIGN_WORDS, type McpServerOptions, progressTeller, shortAnswer } from './tool.ts';
import { toolArguments } from './tool-arguments.ts';

const Version = z.string().max(128).optional().describe('The version, beside an id without one');

export function offerPlan(server: McpServer, options: McpServerOptions): void {
  server.registerTool(
    'plan_install',
    {
      title: 'See what an install would do',
      description: `The steps of an install, with the commands, before anything is touched. Nothing is written. Needs the admin token, as the install does. ${FOREIGN_WORDS}`,
      inputSchema: toolArguments({ id: EntityId, version: Version, prerelease: Prerelease }),
      outputSchema: z.looseObject({ id: z.string() }),
      annotations: { readOnlyHint: true, openWorldHint: false },
    },
    ({ id, version, prerelease }) =>
      answeredToAdmin(options, async () => {
        // Where it would go does not change the plan, and whoever only plans learns nothing of the hub's folders.
        const { plan, warnings = [] } = await findable(
          id,
          options.hub.install({ id, version, prerelease, target: '.', dry_run: true, frozen: false }),
        );
        // Without the registration itself, which may hold what is secret.
        const { mcp_registration: registration, ...rest } = plan;
        const isEmpty = Object.keys(registration).length === 0;
        const reason = isEmpty ? undefined : reasonNotForGateway(registration);
        const whole = { ...rest, registers: !isEmpty && reason === undefined, not_for_gateway: reason, warnings };
        return shortAnswer(planLines(shownJson(whole), plan), shortened(whole), wholeManifest(plan.id));
      }),
  );
}

export function offerInstall(server: McpServer, options: McpServerOptions): void {
  server.registerTool(
    'install_entity',
    {
      title: 'Install an entity',
      description:
        'Installs an entity into a folder: its artifacts, glue code and MCP client configuration, registration into the gateway, and a lockfile. Look at plan_install first. Needs the admin token.',
      inputSchema: toolArguments({
        id: EntityId,
        version: Version,
        prerelease: Prerelease,
        target: z.string().min(1).describe('Folder on the machine of the hub that everything is written into'),
        frozen: z.boolean().default(false).describe('Install exactly what hub.lock.json in the folder says'),
      }),
      outputSchema: z.looseObject({ ok: z.boolean() }),
      annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: true, openWorldHint: true },
    },
    ({ id, version, prerelease, target, frozen }, context) =>
      answeredToAdmin(options, async () => {
        const tell = progressTeller(context);
        const installing = options.hub.install({ id, version, prerelease, target, frozen, dry_run: false }, (event) => {
          if (event.kind === 'started') tell(event.step);
        });
        const report = await findable(id, installing);
        const { ok, results, files_written, warnings = [] } = report;
        const folder = (await options.targetFolder?.(target)) ?? report.target;
        const whole = { ok, target: folder, results, files_written, warnings };
        const place = 'hub.lock.json in the folder lists what was installed.';
        return { ...shortAnswer(reportLines(shownJson(whole), report), shortened(whole), place), isError: !ok };
      }),
  );
}

/** Callers of the API are told to send a manifest, which these tools take none of. */
async function findable<T>(id: string, installing: Promise<T>): Promise<T> {
  try {
    return await installing;
  } catch (error) {
    if (!(error instanceof HubError) || error.code !== 'entity_not_found') throw error;
    throw new HubError(
      'entity_not_found',
      `No entity '${id.slice(0, 120)}' is in the catalog. search_catalog finds what there is, with its id.`,
    );
  }
}

interface ShownPlan extends Pick<InstallPlan, 'id' | 'artifacts' | 'adapters'> {
  registers: boolean;
  not_for_gateway?: string;
  warnings: string[];
}

/** Says only what was made fit to be shown; of the whole, how much there is. */
function planLines({ id, artifacts, adapters, registers, ...rest }: ShownPlan, whole: InstallPlan): string[] {
  const lines = [
    ...shortLines(
      artifacts.map(({ step, command }) => `- ${step}: ${command}`),
      whole.artifacts.length,
    ),
    ...shortLines(
      adapters.map(({ path, framework }) => `- adapters.write: ${path} for ${framework}`),
      whole.adapters.length,
    ),
    ...(registers ? ['- gateway.register: into the gateway, if one is configured'] : []),
    ...(rest.not_for_gateway ? [`- not for the gateway: ${rest.not_for_gateway}`] : []),
    '- lockfile.write: hub.lock.json',
    ...rest.warnings.map((warning) => `Warning: ${warning}`),
  ];
  return [`Installing ${id} would:`, ...lines];
}

function reportLines(
  { ok, target, results, warnings }: Pick<InstallReport, 'ok' | 'target' | 'results' | 'warnings'>,
  whole: InstallReport,
): string[] {
  const lines = results.map(({ step, ok: isDone, extra }) => {
    if (isNotForGateway({ step, ok: isDone, extra })) return `- ${step}: not for the gateway: ${String(extra?.error)}`;
    if (isDone) return `- ${step}: ${extra?.skipped ? 'skipped' : 'ok'}${extra?.warning ? ` (${extra.warning})` : ''}`;
    return `- ${step}: failed: ${String(extra?.error ?? 'no reason given')}`;
  });
  const { id } = whole.plan;
  const head = ok ? `Installed ${id} into ${target}.` : `${id} was not installed completely into ${target}:`;
  const warned = warnings.map((warning) => `Warning: ${warning}`);
  return [head, ...shortLines(lines, whole.results.length), ...warned];
}
