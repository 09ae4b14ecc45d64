// Plans, steps and reports of installs as text for people.
import { kindNameOf } from '../../catalog/artifact-kind.ts';
import { withoutVersion } from '../../catalog/uid.ts';
import { isNotForGateway, reasonNotForGateway } from '../../gateway/state-words.ts';
import { programsOf, variablesToSet } from '../../hub/install-outcome.ts';
import type { InstallEvent, InstallPlan, InstallReport, StepResult } from '../../install/contract.ts';
import type { Output } from './output.ts';
import { forgiving, type Progress } from './progress.ts';
import { oneLine } from './text.ts';

export function installListener(progress: Progress): (event: InstallEvent) => void {
  return forgiving((event) => {
    if (event.kind === 'started') progress.show(`${event.step}…`);
    if (event.kind !== 'finished') return;
    const { result } = event;
    const isFailed = !result.ok && !isNotForGateway(result);
    if (isFailed) progress.fail(`failed  ${stepLine(result)}`);
    else if (!isSkippedGateway(result))
      progress.tell(`${result.extra?.skipped ? 'skipped' : 'ok     '} ${stepLine(result)}`);
  });
}

/** Hidden, because most installs do not involve a gateway. */
function isSkippedGateway({ step, extra }: StepResult): boolean {
  return step === 'gateway.register' && extra?.skipped === true;
}

function stepLine(result: StepResult): string {
  const { step, elapsed_secs: seconds, extra = {} } = result;
  const took = seconds === undefined ? '' : ` (${seconds.toFixed(1)} s)`;
  const gateway = isNotForGateway(result) ? ': not for the gateway' : '';
  return `${step}${took}${gateway}${remark(extra)}`;
}

function remark({ error, warning, skipped, reason }: Record<string, unknown>): string {
  if (typeof error === 'string') return `: ${oneLine(error)}`;
  if (typeof warning === 'string') return `: ${oneLine(warning)}`;
  if (!skipped) return '';
  return typeof reason === 'string' ? `: ${oneLine(reason)}` : ': nothing to do';
}

/** `place` describes the folder. */
export function reportForPeople(report: InstallReport, { output, place }: { output: Output; place: string }): string {
  const { style } = output;
  const { plan, results } = report;
  const warnings = (report.warnings ?? []).map((each) => `${style.warning('warning')}  ${oneLine(each)}\n`).join('');
  if (report.dry_run) return `${planForPeople(plan, output)}${warnings}${dryRunEnd(report, output)}`;
  const files = [
    ...report.files_written.map((file) => `wrote    ${oneLine(file)}\n`),
    ...results.flatMap(({ extra }) => pathsIn(extra?.removed)).map((path) => `removed  ${oneLine(path)}\n`),
    ...results.flatMap(({ extra }) => pathsIn(extra?.edited)).map((path) => `edited   ${oneLine(path)}\n`),
    ...results
      .flatMap(({ extra }) => pathsIn(extra?.kept))
      .map((path) => `kept     ${oneLine(path)}, which was changed\n`),
    ...(report.ok ? programsOf(report) : []).map((path) => `program  ${oneLine(path)}\n`),
    ...(report.ok ? variablesToSet(report) : []).map(
      (name) => `set      ${oneLine(name)} in the environment of the client\n`,
    ),
  ].join('');
  const where = `${oneLine(plan.id)} in ${place}`;
  if (report.ok) return `${files}${warnings}${style.good(`Installed ${where}.`)}\n`;
  const failed = results.filter((result) => !result.ok && !isNotForGateway(result)).map(({ step }) => step);
  const end = report.files_written.length > 0 ? 'Only partly installed' : 'Not installed';
  // In a fresh clone, the lockfile lists entities that were never installed there.
  const earlier = report.lockfile.entities.find(
    ({ id }) => id !== plan.id && withoutVersion(id) === withoutVersion(plan.id),
  );
  const stays = earlier && report.files_written.length === 0 ? ` ${oneLine(earlier.id)} stays as it was.` : '';
  return `${files}${warnings}${style.bad(`${end}: ${where}.`)} Failed: ${failed.join(', ')}.${stays}\n`;
}

/** Hubs of other versions may send other types. */
function pathsIn(paths: unknown): string[] {
  return Array.isArray(paths) ? paths.map(String) : [];
}

function planForPeople({ id, artifacts, adapters, mcp_registration, removes }: InstallPlan, { style }: Output): string {
  const line = (step: string, what: string, { fault, warning }: { fault?: string; warning?: string }) => {
    if (fault !== undefined) return style.bad(`${step}: will fail: ${oneLine(fault)}`);
    return `${step}: ${oneLine(what)}${warning ? `\n     ${style.warning('warning')}  ${oneLine(warning)}` : ''}`;
  };
  const steps = [
    ...artifacts
      .filter(({ alternative }) => !alternative)
      .map((each) => line(each.step, each.reason ? `${each.command} (${each.reason})` : each.command, each)),
    ...adapters.map((each) =>
      line('adapters.write', each.note ?? `${each.path} for ${each.framework}${each.generic ? ', generic' : ''}`, each),
    ),
    ...(Object.keys(mcp_registration).length > 0 ? [registering(mcp_registration)] : []),
    'lockfile.write: hub.lock.json',
  ];
  const alternatives = artifacts
    .filter(({ alternative }) => alternative)
    .map(({ kind, spec, command }) => `  or   ${oneLine(command)} (--prefer ${kindNameOf(kind, spec)})\n`);
  const numbered = steps.map((step, index) => `${String(index + 1).padStart(3)}  ${step}\n`);
  return `${oneLine(id)}\n${numbered.join('')}${removals(removes)}${alternatives.join('')}`;
}

export function removals(paths: InstallPlan['removes'] = []): string {
  return paths.map((path) => `     removes  ${oneLine(path)}\n`).join('');
}

function registering(registration: InstallPlan['mcp_registration']): string {
  const reason = reasonNotForGateway(registration);
  return `gateway.register: ${reason ? `not for the gateway: ${oneLine(reason)}` : 'with the gateway, if one is configured'}`;
}

function dryRunEnd({ ok, plan }: InstallReport, { style }: Output): string {
  const faults = [...plan.artifacts, ...plan.adapters].filter(
    (each) => each.fault !== undefined && !('alternative' in each && each.alternative),
  ).length;
  const why =
    ok || faults === 0 ? '' : `${style.bad(`The install would fail: ${faults} of its parts cannot be installed.`)}\n`;
  return `${why}Nothing was changed (--dry-run).\n`;
}
