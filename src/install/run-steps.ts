// The steps of an install, in order: artifacts, adapters, gateway, lockfile.
import { reasonNotForGateway } from '../gateway/state-words.ts';
import { type WrittenAdapters, writeAdapters } from './adapters/write-adapters.ts';
import { type BuiltArtifacts, buildArtifacts, type InstallJob, type InstallTools } from './build-artifacts.ts';
import {
  type InstallReport,
  LOCKFILE_NAME,
  type LockedAdapter,
  type LockedEntity,
  type Lockfile,
  type StepResult,
} from './contract.ts';
import { type Started, startOf, writeLaunchers } from './launchers.ts';
import { lockEntry } from './lockfile/lock-entry.ts';
import { EMPTY_LOCKFILE, mergeLockfile, writeLockfile } from './lockfile/lockfile.ts';
import { hasFault, shownPlan } from './plan.ts';
import { collectGarbage, removeParts } from './removal.ts';
import { present, runStep, type StepOutcome } from './step.ts';

const REGISTER_STEP = 'gateway.register';

export async function runSteps(job: InstallJob, tools: InstallTools): Promise<InstallReport> {
  const { request, subject, targetDir, known, watch } = job;
  const built = await buildArtifacts(job, tools);
  const locked = { launchers: known?.launchers ?? [], launch: job.launch };
  const start = built.isInPlace && !request.frozen ? startOf({ ...job, ...built }) : locked;
  const adapters = await runStep('adapters.write', watch, () => adaptersStep(job, start, built));
  const { locked: written = [], files = [] } = adapters.value ?? {};
  // Adapters that could not be written again keep their earlier entries.
  const isWritten = (old: LockedAdapter) => written.some(({ path }) => path === old.path);
  const kept = adapters.result.ok ? [] : (known?.adapters ?? []).filter((old) => !isWritten(old));
  const registered = await runStep(REGISTER_STEP, watch, () => register(job, tools));
  const entry = lockEntry(subject, { ...built, ...start, adapters: [...written, ...kept] });
  const lock = await runStep('lockfile.write', watch, () => lockfileStep(job, built, entry));
  const lockfile = lock.value?.lockfile ?? job.lockfile;
  if (lockfile) await collectGarbage(targetDir, lockfile).catch(() => {});
  const results = [...built.results, adapters.result, registered.result, lock.result];
  return reportOf({ ...job, lockfile }, results, [...files, ...(lock.value?.isWritten ? [LOCKFILE_NAME] : [])]);
}

/** Without results, returns the report of a dry run. */
export function reportOf(
  { request, subject, plan, lockfile = EMPTY_LOCKFILE }: Pick<InstallJob, 'request' | 'subject' | 'plan' | 'lockfile'>,
  results: StepResult[] = [],
  files_written: string[] = [],
): InstallReport {
  const { dry_run, target } = request;
  const ok = !hasFault(plan) && results.every((each) => each.ok || each.step === REGISTER_STEP);
  const { warnings } = subject;
  return { ok, dry_run, target, warnings, plan: shownPlan(plan), results, files_written, lockfile };
}

const NOT_INSTALLED = 'The artifacts could not be installed, so the target is left as it was.';

async function adaptersStep(
  job: InstallJob,
  { launch, warning }: Started,
  { isInPlace }: BuiltArtifacts,
): Promise<StepOutcome<WrittenAdapters>> {
  const { plan } = job;
  if (!isInPlace) return { extra: { skipped: true, reason: NOT_INSTALLED } };
  if (plan.adapters.length === 0) return { extra: present({ skipped: true, warning }) };
  const value = await writeAdapters({ ...job, launch, planned: plan.adapters });
  const generic = plan.adapters
    .filter((each) => each.generic && !each.note)
    .map((each) => `${each.framework}/${each.template_key}`);
  const files = value.locked.map(({ path }) => path);
  const warnings = [...(warning ? [warning] : []), ...value.warnings].join(' ');
  const extra = present({ generic, paste: value.pastes, warning: warnings, error: value.errors.join(' ') });
  return { ok: value.errors.length === 0, extra: { files, ...extra }, value };
}

/** Also switches launchers and removes old folders, which must match the lockfile. */
async function lockfileStep(
  { request, targetDir, lockfile, known, others }: InstallJob,
  built: BuiltArtifacts,
  entry: LockedEntity,
): Promise<StepOutcome<{ lockfile: Lockfile; isWritten: boolean }>> {
  const path = LOCKFILE_NAME;
  if (!built.isInPlace) return { extra: { path, skipped: true, reason: NOT_INSTALLED } };
  await writeLaunchers(targetDir, entry, built.artifacts);
  if (request.frozen) return { extra: { path, frozen: true, skipped: true } };
  const merged = mergeLockfile(lockfile, entry);
  const isWritten = await writeLockfile(targetDir, merged);
  const rules = { isForced: false, others };
  const { removed, edited, kept, work } = await removeParts(targetDir, earlierParts(known, entry), rules);
  const changed = kept.map((each) => (work[each] ? `${each} (in git: ${work[each]})` : each)).join(', ');
  const left = changed ? [`Changed since the last install, and left as they are: ${changed}.`] : [];
  const extra = present({ path, removed, edited, warning: [...left, ...boundTo(entry)].join(' ') });
  return { extra, value: { lockfile: merged, isWritten } };
}

/** Warnings about locks that do not apply to every platform. */
function boundTo({ artifacts }: LockedEntity): string[] {
  return artifacts.flatMap(({ resolved, pins }) => {
    if (!pins || pins.tool === 'npm' || pins.platform === 'any') return [];
    const advice =
      pins.tool === 'pip' ? ': to lock it for all platforms, install uv, then uninstall and reinstall this entity' : '';
    return [`${resolved} is locked for ${pins.platform} and Python ${pins.python} only${advice}.`];
  });
}

/** Parts of the entity's earlier version that this one does not have. */
function earlierParts(known: LockedEntity | undefined, entry: LockedEntity) {
  const { adapters = [], artifacts = [] } = known ?? {};
  return {
    adapters: adapters.filter(
      (old) => !entry.adapters.some((each) => each.path === old.path && each.entry === old.entry),
    ),
    artifacts: artifacts.filter((old) => !entry.artifacts.some(({ path }) => path === old.path)),
  };
}

/** A failure does not fail the install. */
async function register(job: InstallJob, tools: InstallTools): Promise<StepOutcome<never>> {
  const reason = reasonToSkip(job, tools);
  if (reason) return { extra: { skipped: true, reason } };
  const { uid, type } = job.subject;
  const registration = await tools.gateway.registerOne(uid, job.signal);
  if (!registration) return { extra: { skipped: true, reason: `Entities of the type ${type} are not registered.` } };
  const { outcome, calls } = registration;
  if (registration.outcome === 'registered') return { extra: { outcome, name: registration.name, calls } };
  return { ok: false, extra: { outcome, error: registration.error, calls } };
}

function reasonToSkip({ subject, signal }: InstallJob, { isGatewayConfigured }: InstallTools): string | undefined {
  const registration = subject.mcpRegistration ?? {};
  if (Object.keys(registration).length === 0)
    return 'The manifest has no mcp_registration: there is nothing to register.';
  if (!isGatewayConfigured) {
    const lack = reasonNotForGateway(registration);
    return lack ? `Not for the gateway: ${lack}` : 'No gateway is configured (MCP_GATEWAY_URL).';
  }
  if (!subject.isInCatalog) return 'It is not in the catalog, and only entities in the catalog are registered.';
  return signal.aborted ? 'The hub is shutting down; the next sync registers it.' : undefined;
}
