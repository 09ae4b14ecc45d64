// The steps of an install, in their order, for whoever is alone with the target.
import type { Gateway } from '../gateway/gateway.ts';
import type { World } from '../lib/world.ts';
import { type AdapterJob, type WrittenAdapters, writeAdapters } from './adapters/write-adapters.ts';
import { installArtifacts } from './artifacts/install-artifacts.ts';
import type {
  InstallListener,
  InstallPlan,
  InstallReport,
  InstallRequest,
  LockedAdapter,
  LockedEntity,
  StepResult,
} from './contract.ts';
import { LOCKFILE_NAME } from './contract.ts';
import { assertLocked } from './frozen.ts';
import { lockEntry } from './lock-entry.ts';
import { EMPTY_LOCKFILE, findLocked, readLockfile } from './lockfile.ts';
import { lockfileStep } from './lockfile-step.ts';
import { shownPlan } from './plan.ts';
import { REGISTER_STEP, registerStep } from './register-step.ts';
import { runStep, type StepWatch } from './step.ts';
import { withWhatIsThere } from './still-there.ts';
import type { InstallSubject } from './subject.ts';

export interface InstallJob {
  request: InstallRequest;
  subject: InstallSubject;
  plan: InstallPlan;
  targetDir: string;
  signal: AbortSignal;
  onEvent: InstallListener;
}

export interface InstallTools {
  gateway: Pick<Gateway, 'registerOne'>;
  isGatewayConfigured: boolean;
  world: Pick<World, 'run' | 'fetch' | 'download' | 'vetAddress' | 'log'>;
  allowPrivateNetwork: boolean;
}

export async function carryOut(job: InstallJob, tools: InstallTools): Promise<InstallReport> {
  const { request, subject, plan, targetDir, signal } = job;
  const { run, fetch, download, vetAddress, log } = tools.world;
  const watch: StepWatch = { onEvent: job.onEvent, log };
  // Unreadable is no reason to install nothing: the step of the lockfile says so.
  const before = await readLockfile(targetDir).then(
    (lockfile) => ({ lockfile, error: undefined }),
    (error: unknown) => ({ lockfile: undefined, error }),
  );
  const known = findLocked(before.lockfile, subject.uid);
  const locked = request.frozen ? assertLocked(before.lockfile, subject, plan.artifacts) : undefined;

  const artifacts = await installArtifacts({
    planned: plan.artifacts,
    locked,
    lockfile: before.lockfile,
    uid: subject.uid,
    watch,
    context: { targetDir, signal, run, fetch, download, vetAddress, allowPrivateNetwork: tools.allowPrivateNetwork },
  });
  const adapters = await adaptersStep(job, watch, {
    before: [...(known?.adapters ?? []), ...(known?.leftovers?.adapters ?? [])],
    lockfile: before.lockfile,
  });
  const registered = await registerStep(watch, { ...tools, subject, signal });
  const outcomes = locked
    ? artifacts.outcomes
    : await withWhatIsThere(artifacts.outcomes, known, { targetDir, run, signal });
  // A frozen install says what it wrote itself.
  const entry = lockEntry(subject, outcomes, locked ? adapters.locked : withEarlier(adapters.locked, plan, known));
  const isWhole = [...artifacts.results, adapters.result].every(({ ok }) => ok);
  const lock = await lockfileStep(watch, {
    targetDir,
    before,
    locked,
    entry,
    displaced: artifacts.displaced,
    known,
    isWhole,
    context: { targetDir, run, signal },
  });

  const results = [...artifacts.results, adapters.result, registered, lock.result];
  return {
    ok: results.every(({ step, ok }) => ok || step === REGISTER_STEP),
    dry_run: false,
    target: request.target,
    warnings: subject.warnings,
    plan: shownPlan(plan),
    results,
    files_written: [
      ...new Set([
        ...artifacts.outcomes.flatMap(({ installed }) => installed?.files ?? []),
        ...adapters.files,
        ...(lock.isWritten ? [LOCKFILE_NAME] : []),
      ]),
    ],
    lockfile: lock.lockfile ?? EMPTY_LOCKFILE,
  };
}

/** What could not be written again is as the last install wrote it: without its entry nobody would know it for the hub's. */
function withEarlier(written: readonly LockedAdapter[], plan: InstallPlan, known?: LockedEntity): LockedAdapter[] {
  const isOfPlan = ({ path }: LockedAdapter) => plan.adapters.some((each) => each.path === path);
  const isWritten = ({ path }: LockedAdapter) => written.some((each) => each.path === path);
  const kept = (known?.adapters ?? []).filter((each) => isOfPlan(each) && !isWritten(each));
  const position = ({ path }: LockedAdapter) => plan.adapters.findIndex((each) => each.path === path);
  return [...written, ...kept].sort((a, b) => position(a) - position(b));
}

const NOTHING_WRITTEN: WrittenAdapters = { locked: [], kept: [], warnings: [], errors: [] };

async function adaptersStep(
  { request, targetDir, subject, plan }: InstallJob,
  watch: StepWatch,
  { before, lockfile }: Pick<AdapterJob, 'before' | 'lockfile'>,
): Promise<{ result: StepResult; locked: LockedAdapter[]; files: string[] }> {
  const { result, value } = await runStep('adapters.write', watch, async () => {
    if (plan.adapters.length === 0) return { extra: { skipped: true }, value: NOTHING_WRITTEN };
    const written = await writeAdapters({ targetDir, subject, planned: plan.adapters, before, lockfile });
    const { locked, kept } = written;
    // What somebody changed stays theirs, but is not what the lockfile says.
    const warnings = request.frozen ? [] : written.warnings;
    const errors = request.frozen ? [...written.errors, ...written.warnings] : written.errors;
    const generic = plan.adapters
      .filter((each) => each.generic)
      .map((each) => `${each.framework}/${each.template_key}`);
    const extra = {
      files: locked.map(({ path }) => path),
      ...(generic.length > 0 ? { generic } : {}),
      ...(kept.length > 0 ? { kept } : {}),
      ...(warnings.length > 0 ? { warning: warnings.join(' ') } : {}),
      ...(errors.length > 0 ? { error: errors.join(' ') } : {}),
    };
    return { ok: errors.length === 0, extra, value: written };
  });
  const { locked, kept } = value ?? NOTHING_WRITTEN;
  return { result, locked, files: [...locked.map(({ path }) => path), ...kept] };
}
