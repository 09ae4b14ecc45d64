// Artifacts that could not be installed again: whether what an earlier install put in place is there all the same.
import type { LockedArtifact, LockedEntity } from './contract.ts';
import { type ArtifactOutcome, lockedFor } from './lock-entry.ts';
import { type VerifyContext, verifyArtifact } from './verify/artifacts.ts';

/** With the entry of the lockfile for each that is: a host that is down today must not cost a project what it has locked. */
export async function withWhatIsThere(
  outcomes: readonly ArtifactOutcome[],
  known: LockedEntity | undefined,
  context: VerifyContext,
): Promise<ArtifactOutcome[]> {
  const planned = outcomes.map((each) => each.planned);
  return Promise.all(
    outcomes.map(async (outcome, index) => {
      const locked = outcome.installed ? undefined : lockedFor(planned, index, known);
      return locked && (await isThere(locked, context)) ? { ...outcome, stillThere: locked } : outcome;
    }),
  );
}

async function isThere(locked: LockedArtifact, context: VerifyContext): Promise<boolean> {
  const found = await verifyArtifact(locked, context).catch(() => undefined);
  return found?.outcome === 'same';
}
