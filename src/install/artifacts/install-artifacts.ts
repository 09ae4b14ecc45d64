// The artifact steps of an install, one after the other; a failing one costs no other its turn.
import type { LockedArtifact, LockedEntity, Lockfile, PlannedArtifact, StepResult } from '../contract.ts';
import { displacedExtra, findDisplaced, type Neighbour, neighboursInPlace } from '../displaced.ts';
import { explain, isUnexpected } from '../explain.ts';
import { knownPlaces } from '../known-places.ts';
import { knownTrees } from '../known-trees.ts';
import { type ArtifactOutcome, lockedFor } from '../lock-entry.ts';
import { HUB_FOLDER } from '../places.ts';
import { movedExtra, settle } from '../settled.ts';
import { runStep, type StepWatch } from '../step.ts';
import { treeOf } from '../tree.ts';
import { type InstallContext, InstallError, type InstalledArtifact } from './artifact-installer.ts';
import { installerKindOf } from './installer-kind.ts';
import { type ReadyArtifact, readArtifact } from './installers.ts';
import { makeScratch, type Scratch } from './scratch.ts';

export interface ArtifactsJob {
  planned: readonly PlannedArtifact[];
  /** In a frozen install: what the lockfile says. */
  locked: LockedEntity | undefined;
  /** As it was before. */
  lockfile: Lockfile | undefined;
  uid: string;
  watch: StepWatch;
  context: Omit<InstallContext, 'scratchDir' | 'workDir' | 'locked' | 'knownPlaces'>;
}

const STEP_TIMEOUT_MS = 30 * 60_000;

export async function installArtifacts(
  job: ArtifactsJob,
): Promise<{ results: StepResult[]; outcomes: ArtifactOutcome[]; displaced: Neighbour[] }> {
  const results: StepResult[] = [];
  let outcomes: ArtifactOutcome[] = [];
  const displaced: Neighbour[] = [];
  for (const [index, planned] of job.planned.entries()) {
    const { result, value } = await runStep(planned.step, job.watch, async () => {
      const { targetDir } = job.context;
      const kind = installerKindOf(planned.kind, planned.spec);
      const neighbours = await neighboursInPlace(job.lockfile, { kind, uid: job.uid }, targetDir);
      const lostWith = async (what: string) => {
        const lost = await findDisplaced(neighbours, kind, targetDir);
        displaced.push(...lost);
        return displacedExtra(lost, what);
      };
      const installed = await installOne(planned, index, { ...job, done: installedIn(outcomes) }).catch(
        async (error: unknown) => {
          throw withExtra(error, await lostWith(`'${planned.command}', which failed`));
        },
      );
      const settled = await settle(outcomes, { kind, installed }, targetDir);
      outcomes = settled.outcomes;
      const { resolved } = installed;
      const [moved, lost] = [movedExtra(settled.moved, resolved), await lostWith(resolved ?? planned.command)];
      const warning = [installed.extra?.warning, moved.warning, lost.warning].filter(Boolean).join(' ');
      return { extra: { ...extraOf(installed), ...lost, ...(warning ? { warning } : {}) }, value: installed };
    });
    results.push(result);
    outcomes.push({ planned, installed: value });
  }
  return { results, outcomes, displaced };
}

function installedIn(outcomes: readonly ArtifactOutcome[]): InstalledArtifact[] {
  return outcomes.flatMap(({ installed }) => installed ?? []);
}

/** With what the steps before have installed. */
type Job = ArtifactsJob & { done: readonly InstalledArtifact[] };

async function installOne(planned: PlannedArtifact, index: number, job: Job): Promise<InstalledArtifact> {
  const { context } = job;
  if (context.signal.aborted) throw new InstallError('This was not begun, because the hub is ending: install again.');
  const artifact = readArtifact(planned.kind, planned.spec);
  const fault = planned.fault ?? ('fault' in artifact ? artifact.fault : undefined);
  if ('fault' in artifact || fault !== undefined) throw new InstallError(fault ?? 'It cannot be installed.');
  const scratch = await makeScratch(context.targetDir);
  const work = installIn(scratch, artifact, { planned, index, job });
  await work.catch(() => {});
  const failure = await scratch.remove().catch((error: NodeJS.ErrnoException) => error);
  return failure ? withWarning(await work, failure) : work;
}

async function installIn(
  scratch: Scratch,
  artifact: ReadyArtifact,
  { planned, index, job }: { planned: PlannedArtifact; index: number; job: Job },
): Promise<InstalledArtifact> {
  const { context } = job;
  const signal = AbortSignal.any([context.signal, AbortSignal.timeout(STEP_TIMEOUT_MS)]);
  try {
    const locked = lockedFor(job.planned, index, job.locked);
    const installed = await artifact.install({
      ...context,
      scratchDir: scratch.dir,
      workDir: scratch.workDir,
      signal,
      knownPlaces: knownPlaces(job.lockfile, job.uid, planned),
      knownTrees: knownTrees(job.lockfile, job.done),
      ...(locked ? { locked, lockedOthers: lockedOthers(locked, job.locked) } : {}),
    });
    const fault = await scratch.fault();
    if (fault) throw fault;
    const kind = installerKindOf(planned.kind, planned.spec);
    const tree = installed.isUnchecked ? undefined : await treeOf(kind, installed, context.targetDir);
    return { ...installed, ...(tree ? { tree } : {}) };
  } catch (error) {
    if (signal.aborted) throw stopped(context.signal.aborted, error);
    // Where a folder was replaced meanwhile, the system only says that files are gone, or that links are in the way.
    throw (await scratch.fault()) ?? error;
  }
}

/** Such as an old folder with something in it that belongs to another user: what is installed is in its place all the same. */
function withWarning(installed: InstalledArtifact, { code }: NodeJS.ErrnoException): InstalledArtifact {
  const warning = `What was there before could not be removed whole${code ? ` (${code})` : ''}, and the rest of it is in ${HUB_FOLDER} of the target: remove it by hand.`;
  return {
    ...installed,
    extra: { ...installed.extra, warning: [installed.extra?.warning, warning].filter(Boolean).join(' ') },
  };
}

function lockedOthers(own: LockedArtifact, entity: LockedEntity | undefined): string[] {
  const kind = installerKindOf(own.kind, own.spec);
  const others = (entity?.artifacts ?? []).filter((each) => each !== own);
  return others.flatMap((each) =>
    each.ok && each.resolved !== null && installerKindOf(each.kind, each.spec) === kind ? [each.resolved] : [],
  );
}

/** What the hub itself is to blame for stays as it is, so that the log has it. */
function withExtra(error: unknown, extra: Record<string, unknown>): unknown {
  if (Object.keys(extra).length === 0 || isUnexpected(error)) return error;
  const known = error instanceof InstallError ? error.extra : {};
  return new InstallError(explain(error), { cause: error, extra: { ...known, ...extra } });
}

/** Programs, downloads and archives each say in their own way that they were stopped, and none of them knows why. */
function stopped(isEnding: boolean, cause: unknown): InstallError {
  const why = isEnding ? 'because the hub is ending: install again' : `after ${STEP_TIMEOUT_MS / 60_000} minutes`;
  return new InstallError(`This was stopped, ${why}.`, { cause });
}

function extraOf({ resolved, integrity, path, extra }: InstalledArtifact): Record<string, unknown> {
  const known = Object.entries({ resolved, integrity, path }).filter(([, value]) => value !== null);
  return { ...Object.fromEntries(known), ...extra };
}
