// The step that writes the lockfile, or, in a frozen install, compares with it.
import { LOCKFILE_NAME, type LockedEntity, type Lockfile, type StepResult } from './contract.ts';
import { type Displaced, withoutDisplaced } from './displaced.ts';
import { differences } from './frozen.ts';
import { mergeLockfile, writeLockfile } from './lockfile.ts';
import { runStep, type StepWatch } from './step.ts';

export interface LockfileJob {
  targetDir: string;
  before: { lockfile: Lockfile | undefined; error: unknown };
  /** In a frozen install: the entry that was there. */
  locked: LockedEntity | undefined;
  entry: LockedEntity;
  /** What other entities had in place until now. */
  displaced: readonly Displaced[];
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
    return { extra: { path: LOCKFILE_NAME }, value: lockfile };
  });
  return { result, lockfile: value ?? before.lockfile, isWritten: result.ok && !locked };
}

function comparison(locked: LockedEntity, entry: LockedEntity): { ok: boolean; extra: Record<string, unknown> } {
  const found = differences(locked, entry);
  const extra = { path: LOCKFILE_NAME, frozen: true, skipped: true };
  if (found.length === 0) return { ok: true, extra };
  const error = `The install differs from the lockfile, which was left as it is: ${found.join('; ')}.`;
  return { ok: false, extra: { ...extra, error, differences: found } };
}
