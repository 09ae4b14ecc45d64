// Tools that plan and run an install.
import { randomUUID } from 'node:crypto';
import type { McpServer } from '@modelcontextprotocol/server';
import { z } from 'zod';
import { parseReference } from '../../catalog/uid.ts';
import { HubError } from '../../errors.ts';
import { isNotForGateway, reasonNotForGateway } from '../../gateway/state-words.ts';
import { clientAdvice, isInClient, pastesOf, programsOf, variablesToSet } from '../../hub/install-outcome.ts';
import { shown } from '../../hub/short-names.ts';
import {
  type InstallPlan,
  type InstallReport,
  InstallRequest,
  type PlannedAdapter,
  type PlannedArtifact,
} from '../../install/contract.ts';
import { wholeManifest } from '../answers/present.ts';
import { shortened, shortLines, shortText, shownJson } from '../answers/short.ts';
import { EntityId, idOf, Prerelease, SEARCH_ADVICE, WholeId } from './entity-id.ts';
import { answered, type McpServerOptions, PUBLISHER_TEXT_NOTE, progressReporter, shortAnswer } from './tool.ts';
import { toolArguments } from './tool-arguments.ts';

const Version = z.string().max(128).optional().describe('The version, if the id has none');
const { clients: Clients, prefer: Prefer } = InstallRequest.shape;

const NO_OPTIONS = { dry_run: false, frozen: false, update: false, force: false };

export function offerPlan(server: McpServer, options: McpServerOptions): void {
  server.registerTool(
    'plan_install',
    {
      title: 'See what an install would do',
      description: `Shows the steps of an install into a new folder: what will fail, warnings, and alternative packages, from which prefer selects one. Nothing is written. Needs a token with the role installer, as install_entity does. ${PUBLISHER_TEXT_NOTE}`,
      inputSchema: toolArguments({
        id: EntityId,
        version: Version,
        prerelease: Prerelease,
        clients: Clients,
        prefer: Prefer,
      }),
      outputSchema: z.looseObject({ id: z.string() }),
      annotations: { readOnlyHint: true, openWorldHint: false },
    },
    (request) =>
      answered(options, async () => {
        const id = await idOf(request, options.hub);
        const { plan, warnings = [] } = await findable(
          id,
          // A folder that does not exist, so that the content of the hub's folders neither affects the plan nor shows in it.
          options.hub.install({ ...NO_OPTIONS, ...request, id, target: randomUUID(), dry_run: true }),
        );
        // Excludes the registration, which may contain secrets.
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
        'Installs an entity into a folder: its artifacts, glue code, MCP client configuration and a lockfile. Also registers it with the gateway. A failed upgrade leaves the earlier version working; if only a part of a first install fails, the other parts stay installed. Call plan_install first. Needs a token with the role installer.',
      inputSchema: toolArguments({
        id: WholeId,
        version: Version,
        prerelease: Prerelease,
        target: z.string().min(1).describe('Folder on the machine of the hub to install into'),
        clients: Clients,
        prefer: Prefer,
        frozen: z.boolean().default(false).describe('Install exactly what hub.lock.json in the folder says'),
      }),
      outputSchema: z.looseObject({ ok: z.boolean() }),
      annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: true, openWorldHint: true },
    },
    (request, context) =>
      answered(options, async () => {
        const notify = progressReporter(context);
        const { id } = request;
        // A similar name must not be installed by mistake; and the catalog does not know which version is locked.
        if (!parseReference(id) && !request.frozen) throw needsId(id, await idOf(request, options.hub));
        const installing = options.hub.install({ ...NO_OPTIONS, ...request }, (event) => {
          if (event.kind === 'started') notify(event.step);
        });
        const report = await findable(id, installing);
        const { ok, results, files_written, warnings = [] } = report;
        const folder = (await options.targetFolder?.(request.target)) ?? report.target;
        const after = ok ? { programs: programsOf(report), next_steps: nextSteps(report) } : {};
        const whole = { ok, target: folder, results, files_written, ...after, warnings };
        const place = 'hub.lock.json in the folder lists what was installed.';
        return { ...shortAnswer(reportLines(shownJson(whole), report), shortened(whole), place), isError: !ok };
      }),
  );
}

/** The API's message suggests what these tools do not accept, such as a manifest. */
async function findable<T>(id: string, asked: Promise<T>): Promise<T> {
  try {
    return await asked;
  } catch (error) {
    if (!(error instanceof HubError) || error.code !== 'entity_not_found') throw error;
    throw new HubError('entity_not_found', `No entity '${id.slice(0, 120)}' is in the catalog. ${SEARCH_ADVICE}`);
  }
}

interface ShownPlan extends Pick<InstallPlan, 'id' | 'artifacts' | 'adapters'> {
  registers: boolean;
  not_for_gateway?: string;
  warnings: string[];
}

/** Uses only values that may be shown; from `whole`, only counts. */
function planLines({ id, artifacts, adapters, registers, ...rest }: ShownPlan, whole: InstallPlan): string[] {
  const lines = [
    ...shortLines(artifacts.map(artifactLine), { all: whole.artifacts.length }),
    ...shortLines(adapters.map(adapterLine), { all: whole.adapters.length }),
    ...(registers ? ['- gateway.register: with the gateway, if one is configured'] : []),
    ...(rest.not_for_gateway ? [`- not for the gateway: ${rest.not_for_gateway}`] : []),
    '- lockfile.write: hub.lock.json',
    ...shortLines(rest.warnings.map((warning) => `Warning: ${warning}`)),
  ];
  return [`Installing ${id} would:`, ...lines];
}

function artifactLine({ step, command, fault, alternative }: PlannedArtifact): string {
  if (alternative) return `- alternative, not installed: ${command}`;
  return fault === undefined ? `- ${step}: ${command}` : `- ${step}: will fail: ${fault}`;
}

function adapterLine({ path, framework, fault, note }: PlannedAdapter): string {
  if (note !== undefined) return `- adapters.write: nothing for ${framework}: ${note}`;
  const line = `- adapters.write: ${path} for ${framework}`;
  return fault === undefined ? line : `${line}: will fail: ${fault}`;
}

function needsId(name: string, id: string): HubError {
  return new HubError('invalid_request', `install_entity needs an id: '${shown(name)}' is ${shown(id)}.`);
}

/** What the user or the model should do after an install. */
function nextSteps(report: InstallReport): string[] {
  return [
    ...pastesOf(report).map(pasteStep),
    ...variablesToSet(report).map((name) => `Set ${name} in the environment of the client.`),
    ...clientAdvice(report, 'install_entity with clients'),
    ...(isInClient(report) ? ['Restart the client in that folder, so that it reads its configuration.'] : []),
  ];
}

/** Long texts are cut, which would break the entry. */
function pasteStep({ file, text }: { file: string; text: string }): string {
  if (text.length < 400) return `Add this to ${file}: ${text}`;
  return `Add the entry to ${file}: the web page of the hub shows it for the client.`;
}

interface ShownReport extends Pick<InstallReport, 'ok' | 'target' | 'results' | 'files_written' | 'warnings'> {
  programs?: string[];
  next_steps?: string[];
}

/** Uses only values that may be shown; from `whole`, only the id and counts. */
function reportLines(shown: ShownReport, whole: InstallReport): string[] {
  const { ok, target, files_written: files, programs = [], next_steps = [], warnings } = shown;
  const lines = shown.results.map(({ step, ok: isDone, extra }) => {
    if (isNotForGateway({ step, ok: isDone, extra })) return `- ${step}: not for the gateway: ${String(extra?.error)}`;
    const outcome = isDone
      ? extra?.skipped
        ? 'skipped'
        : 'ok'
      : `failed: ${String(extra?.error ?? 'no reason given')}`;
    return `- ${step}: ${outcome}${extra?.warning ? ` Warning: ${extra.warning}` : ''}`;
  });
  const { id } = whole.plan;
  const failed = whole.files_written.length === 0 ? 'Nothing' : 'Only a part';
  const head = ok ? `Installed ${id} into ${target}.` : `${failed} of ${id} was installed into ${target}.`;
  const after = [
    ...(files.length > 0 ? [`Files written: ${shortText(files.join(', '))}`] : []),
    ...(programs.length > 0 ? [`Programs: ${shortText(programs.join(', '))}`] : []),
    ...shortLines(next_steps),
    ...shortLines(warnings.map((warning) => `Warning: ${warning}`)),
  ];
  return [head, ...shortLines(lines, { all: whole.results.length }), ...after];
}
