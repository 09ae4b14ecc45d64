// The step that writes the lockfile, or, in a frozen install, compares with it.
import { LOCKFILE_NAME, type LockedEntity, type Lockfile, type StepResult } from './contract.ts';
import { type Neighbour, withoutDisplaced } from './displaced.ts';
import { differences } from './frozen.ts';
import type { Leftovers } from './leftovers.ts';
import { mergeLockfile, writeLockfile } from './lockfile.ts';
import { runStep, type StepWatch } from './step.ts';

export interface LockfileJob {
  targetDir: string;
  before: { lockfile: Lockfile | undefined; error: unknown };
  /** In a frozen install: the entry that was there. */
  locked: LockedEntity | undefined;
  entry: LockedEntity;
  /** What other entities had in place until now. */
  displaced: readonly Neighbour[];
  /** Once the lockfile says what is there: takes away what is not of this install any more. */
  tidyUp: (lockfile: Lockfile) => Promise<Leftovers>;
}

interface LockfileOutcome {
  result: StepResult;
  /** As it is on disk. */
  lockfile: Lockfile | undefined;
  isWritten: boolean;
}

export async function lockfileStep(watch: StepWatch, job: LockfileJob): Promise<LockfileOutcome> {
  const { before, locked, entry } = job;
  const { result, value } = await runStep('lockfile.write', watch, async () => {
    if (before.error) throw before.error;
    if (locked) return { ...comparison(locked, entry), value: before.lockfile };
    const lockfile = withoutDisplaced(mergeLockfile(before.lockfile, entry), job.displaced, entry.id);
    await writeLockfile(job.targetDir, lockfile);
    const { removed, left } = await job.tidyUp(lockfile);
    const extra = {
      path: LOCKFILE_NAME,
      ...(removed.length > 0 ? { removed } : {}),
      ...(left.length > 0 ? { left, warning: leftWarning(left) } : {}),
    };
    return { extra, value: lockfile };
  });
  return { result, lockfile: value ?? before.lockfile, isWritten: result.ok && !locked };
}

function leftWarning(left: Leftovers['left']): string {
  return `Of the version before, this is left: ${left.map(({ path, reason }) => `${path} (${reason})`).join(', ')}.`;
}

function comparison(locked: LockedEntity, entry: LockedEntity): { ok: boolean; extra: Record<string, unknown> } {
  const found = differences(locked, entry);
  const extra = { path: LOCKFILE_NAME, frozen: true, skipped: true };
  if (found.length === 0) return { ok: true, extra };
  const error = `The install differs from the lockfile, which was left as it is: ${found.join('; ')}.`;
  return { ok: false, extra: { ...extra, error, differences: found } };
}
