// The steps of an install, in their order: artifacts, adapters, gateway, lockfile.
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Launch } from '../catalog/launch/launch.ts';
import { verifyAdapter } from './adapters/locked-adapter.ts';
import { type WrittenAdapters, writeAdapters } from './adapters/write-adapters.ts';
import { type BuiltArtifacts, buildArtifacts } from './build-artifacts.ts';
import type { InstallReport, LockedAdapter, LockedEntity, Lockfile, StepResult } from './contract.ts';
import { LOCKFILE_NAME } from './contract.ts';
import { collectGarbage, type Removed, removeIfUnused, removeParts } from './garbage.ts';
import type { InstallJob, InstallTools } from './job.ts';
import { removeOldLaunchers, takenNames, writeLaunchers } from './launchers.ts';
import { lockEntry } from './lockfile/lock-entry.ts';
import {
  EMPTY_LOCKFILE,
  findLocked,
  foundLockfile,
  mergeLockfile,
  withoutEntity,
  writeLockfile,
} from './lockfile/lockfile.ts';
import { shownPlan } from './plan.ts';
import { REGISTER_STEP, registerStep } from './register-step.ts';
import { startOf } from './start.ts';
import { changeState } from './state.ts';
import { runStep, type StepWatch } from './step.ts';
import type { InstallSubject } from './subject.ts';
import { HUB_FOLDER } from './target/places.ts';
import { STAGING } from './target/target-queue.ts';

export async function runSteps(job: InstallJob, tools: InstallTools): Promise<InstallReport> {
  const { request, subject, plan, targetDir, before, signal } = job;
  const watch: StepWatch = { onEvent: job.onEvent, log: tools.world.log };
  const known = findLocked(before.lockfile, subject.uid);
  try {
    const built = await buildArtifacts(job, known, { ...tools, watch });
    const start = built.isInPlace
      ? startOf({
          launch: job.launch,
          slug: subject.slug,
          artifacts: built.artifacts,
          taken: takenNames(before.lockfile, subject.uid),
        })
      : { launchers: [], launch: job.launch };
    const adapters = await adaptersStep(job, known, { watch, launch: start.launch, isInPlace: built.isInPlace });
    const registered = await registerStep(watch, { ...tools, subject, signal });
    const entry = lockEntry(subject, { ...built, ...start, adapters: adapters.written.locked });
    const lock = await lockfileStep(job, known, { watch, built, entry });
    const results = [...built.results, adapters.result, registered, lock.result];
    await noteOutcome(targetDir, { results, subject, now: tools.world.now() });
    return {
      ok: isOk(results),
      dry_run: false,
      target: request.target,
      warnings: subject.warnings,
      plan: shownPlan(plan),
      results,
      files_written: [...adapters.files, ...(lock.isWritten ? [LOCKFILE_NAME] : [])],
      lockfile: lock.lockfile ?? EMPTY_LOCKFILE,
    };
  } finally {
    await rm(join(targetDir, HUB_FOLDER, STAGING), { recursive: true, force: true }).catch(() => {});
    await removeIfUnused(targetDir);
  }
}

function isOk(results: readonly StepResult[]): boolean {
  return results.every(({ step, ok }) => ok || step === REGISTER_STEP);
}

const NOTHING_WRITTEN: WrittenAdapters = { locked: [], kept: [], changed: [], warnings: [], errors: [] };
const NOT_INSTALLED = 'The artifacts could not be installed, so the target is left as it was.';

async function adaptersStep(
  { request, targetDir, subject, plan, before }: InstallJob,
  known: LockedEntity | undefined,
  { watch, launch, isInPlace }: { watch: StepWatch; launch: Launch; isInPlace: boolean },
): Promise<{ result: StepResult; written: WrittenAdapters; files: string[] }> {
  const { result, value: written = NOTHING_WRITTEN } = await runStep('adapters.write', watch, async () => {
    if (!isInPlace) return { extra: { skipped: true, reason: NOT_INSTALLED }, value: NOTHING_WRITTEN };
    if (plan.adapters.length === 0) return { extra: { skipped: true }, value: NOTHING_WRITTEN };
    if (subject.isFromLockfile) return checkAdapters(targetDir, known);
    const job = {
      targetDir,
      subject,
      launch,
      planned: plan.adapters,
      before: known?.adapters ?? [],
      lockfile: before.lockfile,
    };
    const value = await writeAdapters(job);
    // What a person changed stays, but a frozen install cannot vouch for it.
    const warnings = [...value.warnings, ...(request.frozen ? [] : value.changed)];
    const errors = [...value.errors, ...(request.frozen ? value.changed : [])];
    const generic = plan.adapters
      .filter((each) => each.generic)
      .map((each) => `${each.framework}/${each.template_key}`);
    const extra = {
      files: value.locked.map(({ path }) => path),
      ...(generic.length > 0 ? { generic } : {}),
      ...(value.kept.length > 0 ? { kept: value.kept } : {}),
      ...(warnings.length > 0 ? { warning: warnings.join(' ') } : {}),
      ...(errors.length > 0 ? { error: errors.join(' ') } : {}),
    };
    return { ok: errors.length === 0, extra, value };
  });
  return { result, written, files: [...written.locked.map(({ path }) => path), ...written.kept] };
}

/** Without a manifest, adapters can only be compared with the lockfile. */
async function checkAdapters(targetDir: string, known: LockedEntity | undefined) {
  const locked = known?.adapters ?? [];
  const found = await Promise.all(locked.map(async (each) => ({ each, ...(await verifyAdapter(targetDir, each)) })));
  const wrong = found.filter(({ outcome }) => outcome !== 'same').map(({ each }) => each.path);
  const error = `The manifest was not found, and without it these cannot be written again: ${wrong.join(', ')}.`;
  const extra = wrong.length > 0 ? { error } : { skipped: true };
  return { ok: wrong.length === 0, extra, value: NOTHING_WRITTEN };
}

interface LockfileOutcome {
  result: StepResult;
  /** As it is on disk. */
  lockfile: Lockfile | undefined;
  isWritten: boolean;
}

/** Launchers and folders follow the lockfile: they are switched and removed in this step. */
async function lockfileStep(
  { request, targetDir, before }: InstallJob,
  known: LockedEntity | undefined,
  { watch, built, entry }: { watch: StepWatch; built: BuiltArtifacts; entry: LockedEntity },
): Promise<LockfileOutcome> {
  let onDisk = before.lockfile ?? foundLockfile(before.error);
  let isWritten = false;
  const { result } = await runStep('lockfile.write', watch, async () => {
    if (before.error) throw before.error;
    const path = LOCKFILE_NAME;
    if (!built.isInPlace) return { extra: { path, skipped: true, reason: NOT_INSTALLED }, value: undefined };
    const launchers = request.frozen ? (known?.launchers ?? []) : (entry.launchers ?? []);
    await writeLaunchers(
      targetDir,
      launchers,
      built.artifacts.map(({ installed }) => installed),
    );
    if (request.frozen) return { extra: { path, frozen: true, skipped: true }, value: undefined };
    onDisk = mergeLockfile(before.lockfile, entry);
    await writeLockfile(targetDir, onDisk);
    isWritten = true;
    const { entities } = withoutEntity(onDisk, entry.id);
    const { removed, kept } = await removeEarlier(known, entry, { targetDir, others: entities });
    await removeOldLaunchers(targetDir, onDisk.entities);
    const warning =
      kept.length > 0 ? `Changed since the last install, and left as they are: ${kept.join(', ')}.` : undefined;
    return {
      extra: { path, ...(removed.length > 0 ? { removed } : {}), ...(warning ? { warning } : {}) },
      value: undefined,
    };
  });
  if (onDisk && !before.error) await collectGarbage(targetDir, onDisk).catch(() => {});
  return { result, lockfile: onDisk, isWritten };
}

/** What the earlier version of the entity had in place and this one does not. */
function removeEarlier(
  known: LockedEntity | undefined,
  entry: LockedEntity,
  { targetDir, others }: { targetDir: string; others: readonly LockedEntity[] },
): Promise<Removed> {
  const isSameAdapter = (one: LockedAdapter, other: LockedAdapter) =>
    one.path === other.path && one.entry === other.entry;
  const adapters = (known?.adapters ?? []).filter((old) => !entry.adapters.some((each) => isSameAdapter(each, old)));
  const artifacts = (known?.artifacts ?? []).filter((old) => !entry.artifacts.some(({ path }) => path === old.path));
  return removeParts(targetDir, { adapters, artifacts }, { isForced: false, others });
}

/** Times and failures belong to this machine, not into the lockfile. */
async function noteOutcome(
  targetDir: string,
  { results, subject, now }: { results: readonly StepResult[]; subject: InstallSubject; now: Date },
): Promise<void> {
  const failed = results.filter(({ ok }) => !ok).map(({ step }) => step);
  const outcome = { at: now.toISOString(), ok: isOk(results), failed };
  await changeState(targetDir, (state) => ({
    ...state,
    installs: { ...state.installs, [subject.uid]: outcome },
  })).catch(() => {});
}
