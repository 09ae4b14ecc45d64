// Tools that plan and run an install.
import { randomUUID } from 'node:crypto';
import type { McpServer } from '@modelcontextprotocol/server';
import { z } from 'zod';
import { parseReference } from '../../catalog/uid.ts';
import { HubError } from '../../errors.ts';
import { reasonNotForGateway } from '../../gateway/state-words.ts';
import { clientAdvice, isInClient, pastesOf, programsOf, variablesToSet } from '../../hub/install-outcome.ts';
import { type InstallReport, InstallRequest } from '../../install/contract.ts';
import { wholeManifest } from '../answers/present.ts';
import { remarkableFirst, shortened } from '../answers/short.ts';
import { EntityId, idOf, needsId, Prerelease, SEARCH_ADVICE, WholeId } from './entity-id.ts';
import {
  answered,
  type McpServerOptions,
  PUBLISHER_TEXT_NOTE,
  progressReporter,
  shortAnswer,
  toolArguments,
} from './tool.ts';

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
        const { mcp_registration: registration, artifacts, adapters } = plan;
        const isEmpty = Object.keys(registration).length === 0;
        const reason = isEmpty ? undefined : reasonNotForGateway(registration);
        const whole = {
          ...{ id: plan.id, warnings, registers: !isEmpty && reason === undefined, not_for_gateway: reason },
          // The spec is last, because it may be so long that the rest of its artifact is left out.
          artifacts: remarkableFirst(artifacts, isRemarkable).map(({ spec, ...rest }) => ({ ...rest, spec })),
          adapters: remarkableFirst(adapters, isRemarkable),
        };
        return shortAnswer(shortened(whole), wholeManifest(plan.id));
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
        if (!parseReference(id) && !request.frozen)
          throw needsId('install_entity', id, await idOf(request, options.hub));
        const installing = options.hub.install({ ...NO_OPTIONS, ...request }, (event) => {
          if (event.kind === 'started') notify(event.step);
        });
        const report = await findable(id, installing);
        const { ok, plan, results, files_written, warnings = [] } = report;
        const folder = (await options.targetFolder?.(request.target)) ?? report.target;
        const after = ok ? { programs: programsOf(report), next_steps: nextSteps(report) } : {};
        const steps = remarkableFirst(results, ({ ok: isDone, extra }) => !isDone || extra?.warning);
        const whole = { ok, id: plan.id, target: folder, warnings, ...after, results: steps, files_written };
        const place = 'hub.lock.json in the folder lists what was installed.';
        return { ...shortAnswer(shortened(whole), place), isError: !ok };
      }),
  );
}

function isRemarkable({ fault, warning, note }: { fault?: string; warning?: string; note?: string }): boolean {
  return [fault, warning, note].some(Boolean);
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
