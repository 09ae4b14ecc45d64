// The step that writes the lockfile, or, in a frozen install, compares with it.
import { LOCKFILE_NAME, type LockedEntity, type Lockfile, type StepResult } from './contract.ts';
import { type Neighbour, withoutDisplaced } from './displaced.ts';
import { differences } from './frozen.ts';
import { leftPackages } from './left-packages.ts';
import { findLeftovers, type RemovedLeftovers, removeLeftovers, withLeftovers } from './leftovers.ts';
import { foundLockfile, mergeLockfile, writeLockfile } from './lockfile.ts';
import { runStep, type StepWatch } from './step.ts';
import type { VerifyContext } from './verify/artifacts.ts';

export interface LockfileJob {
  targetDir: string;
  before: { lockfile: Lockfile | undefined; error: unknown };
  /** In a frozen install: the entry that was there. */
  locked: LockedEntity | undefined;
  entry: LockedEntity;
  /** What other entities had in place until now. */
  displaced: readonly Neighbour[];
  /** What the lockfile said of the entity before. */
  known: LockedEntity | undefined;
  /** Otherwise what is not of this version stays: it may be needed until all of the version is there. */
  isWhole: boolean;
  context: VerifyContext;
}

interface LockfileOutcome {
  result: StepResult;
  /** As it is on disk. */
  lockfile: Lockfile | undefined;
  isWritten: boolean;
}

export async function lockfileStep(watch: StepWatch, job: LockfileJob): Promise<LockfileOutcome> {
  const { before, locked, entry } = job;
  let onDisk = before.lockfile ?? foundLockfile(before.error);
  const write = async (lockfile: Lockfile) => {
    await writeLockfile(job.targetDir, lockfile);
    onDisk = lockfile;
  };
  const { result } = await runStep('lockfile.write', watch, async () => {
    if (before.error) throw before.error;
    if (locked) return { ...comparison(locked, entry), value: undefined };
    const lockfile = withoutDisplaced(mergeLockfile(before.lockfile, entry), job.displaced, entry.id);
    const leftovers = findLeftovers(job.known, lockfile);
    // With them at first: whatever happens until they are removed, the next install knows of them.
    const withAll = withLeftovers(lockfile, entry.id, leftovers);
    await write(withAll);
    if (!job.isWhole) return { extra: { path: LOCKFILE_NAME }, value: undefined };
    const { removed, left: leftAlone, rest } = await removeLeftovers(leftovers, job.context);
    if (withAll !== lockfile) await write(withLeftovers(lockfile, entry.id, rest));
    const left = [...leftAlone, ...(await leftPackages(job.known, lockfile, job.targetDir))];
    const extra = {
      path: LOCKFILE_NAME,
      ...(removed.length > 0 ? { removed } : {}),
      ...(left.length > 0 ? { left, warning: leftWarning(left) } : {}),
    };
    return { extra, value: undefined };
  });
  return { result, lockfile: onDisk, isWritten: result.ok && !locked };
}

function leftWarning(left: RemovedLeftovers['left']): string {
  return `Of the version before, this is left: ${left.map(({ path, reason }) => `${path} (${reason})`).join(', ')}.`;
}

function comparison(locked: LockedEntity, entry: LockedEntity): { ok: boolean; extra: Record<string, unknown> } {
  const found = differences(locked, entry);
  const extra = { path: LOCKFILE_NAME, frozen: true, skipped: true };
  if (found.length === 0) return { ok: true, extra };
  const error = `The install differs from the lockfile, which was left as it is: ${found.join('; ')}.`;
  return { ok: false, extra: { ...extra, error, differences: found } };
}
