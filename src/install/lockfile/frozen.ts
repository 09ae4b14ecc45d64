// Frozen installs: exactly what the lockfile says, or an error.
import { HubError } from '../../errors.ts';
import { type InstallPlan, LOCKFILE_NAME, type LockedEntity, type Lockfile } from '../contract.ts';
import { lockedFor } from './lock-entry.ts';
import { findLocked } from './lockfile.ts';

/** @throws HubError `lockfile_mismatch` */
export function lockedEntity(lockfile: Lockfile | undefined, id: string): LockedEntity {
  if (!lockfile)
    throw mismatch(
      `there is no ${LOCKFILE_NAME} in the target. Put the lockfile of an earlier install there, or install without frozen, which writes one`,
    );
  const locked = findLocked(lockfile, id);
  if (!locked)
    throw mismatch(
      `${LOCKFILE_NAME} in the target does not hold '${id.slice(0, 120)}'. Install it without frozen first`,
    );
  const hasOtherVersion = id.includes('@') && id !== locked.id;
  if (!hasOtherVersion) return locked;
  throw mismatch(
    `${LOCKFILE_NAME} has '${locked.id}', and '${id.slice(0, 120)}' was requested. Request the locked version, or install without frozen, which replaces it`,
  );
}

/** Only artifacts and adapters count: a manifest may change its texts. @throws HubError `lockfile_mismatch` */
export function assertSamePlan({ artifacts, adapters }: InstallPlan, locked: LockedEntity): void {
  const chosen = artifacts.filter((each) => !each.alternative);
  const added = chosen.find((each, index) => !lockedFor(chosen, index, locked) && each.fault === undefined);
  if (added) throw mismatch(`${LOCKFILE_NAME} does not have the artifact '${added.command}'. ${TRY_WITHOUT}`);
  if (chosen.length < locked.artifacts.length)
    throw mismatch(`${LOCKFILE_NAME} has artifacts that the manifest no longer lists. ${TRY_WITHOUT}`);
  const unlocked = adapters.find(
    (each) =>
      each.fault === undefined &&
      each.note === undefined &&
      !locked.adapters.some((one) => one.framework === each.framework && one.template_key === each.template_key),
  );
  if (unlocked)
    throw mismatch(`${LOCKFILE_NAME} does not have the adapter for '${unlocked.framework}'. ${TRY_WITHOUT}`);
}

const TRY_WITHOUT = 'Bring the manifest back, or install without frozen, which locks the new one';

/** `why` is the end of a sentence, and what to do about it. */
function mismatch(why: string): HubError {
  return new HubError('lockfile_mismatch', `A frozen install is not possible: ${why}.`);
}
