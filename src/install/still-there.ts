// Artifacts that could not be installed again: whether what an earlier install put in place is there all the same.
import { installerKindOf } from './artifacts/installer-kind.ts';
import { readArtifact } from './artifacts/installers.ts';
import type { LockedArtifact, LockedEntity } from './contract.ts';
import { type ArtifactOutcome, isSameArtifact, lockedFor } from './lock-entry.ts';
import { overlap } from './places.ts';
import { type VerifyContext, verifyArtifact } from './verify/artifacts.ts';

/** With the entry of the lockfile for each that is: a host that is down today must not cost a project what it has locked. */
export async function withWhatIsThere(
  outcomes: readonly ArtifactOutcome[],
  known: LockedEntity | undefined,
  context: VerifyContext,
): Promise<ArtifactOutcome[]> {
  const planned = outcomes.map((each) => each.planned);
  const earlier = outcomes.map(({ installed }, index) => (installed ? undefined : lockedFor(planned, index, known)));
  for (const [index, { installed }] of outcomes.entries())
    if (!installed) earlier[index] ??= earlierForm(index, outcomes, known, earlier);
  return Promise.all(
    outcomes.map(async (outcome, index) => {
      const locked = earlier[index];
      return locked && (await isThere(locked, context))
        ? { ...outcome, stillThere: locked, stillThereOf: known?.id }
        : outcome;
    }),
  );
}

/** Of an artifact that the manifest now describes in other words: what is in its place, or was at its position. */
function earlierForm(
  index: number,
  outcomes: readonly ArtifactOutcome[],
  known: LockedEntity | undefined,
  taken: readonly (LockedArtifact | undefined)[],
): LockedArtifact | undefined {
  const wanted = outcomes[index]?.planned;
  if (!wanted) return undefined;
  const kind = installerKindOf(wanted.kind, wanted.spec);
  const isLeft = (locked: LockedArtifact) =>
    installerKindOf(locked.kind, locked.spec) === kind &&
    !taken.includes(locked) &&
    !outcomes.some(({ planned }) => isSameArtifact(planned, locked)) &&
    // Python packages share one environment, and are looked for by their names.
    (kind === 'pypi' || !outcomes.some(({ installed }) => isOver(installed?.path, locked.path)));
  const artifact = readArtifact(wanted.kind, wanted.spec);
  const place = 'fault' in artifact ? undefined : artifact.place;
  const atPosition = known?.artifacts[index];
  return (
    known?.artifacts.find((locked) => locked.path === place && isLeft(locked)) ??
    (atPosition && isLeft(atPosition) ? atPosition : undefined)
  );
}

function isOver(path: string | null | undefined, other: string | null): boolean {
  return typeof path === 'string' && other !== null && overlap(path, other);
}

/** What cannot be looked at, as when the engine with the image does not answer, is not known to be gone. */
async function isThere(locked: LockedArtifact, context: VerifyContext): Promise<boolean> {
  const found = await verifyArtifact(locked, context).catch(() => undefined);
  return found?.outcome === 'same' || found?.outcome === 'unchecked';
}
