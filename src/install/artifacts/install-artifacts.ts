// The artifact steps of an install, one after the other; a failing one costs no other its turn.
import { randomUUID } from 'node:crypto';
import { realpath, rm } from 'node:fs/promises';
import { relative } from 'node:path';
import { makeFolderInside, PathError, pathInside } from '../../lib/files.ts';
import type { LockedEntity, Lockfile, PlannedArtifact, StepResult } from '../contract.ts';
import { type Displaced, displacedExtra, findDisplaced } from '../displaced.ts';
import { isUnexpected } from '../explain.ts';
import { knownPlaces } from '../known-places.ts';
import { type ArtifactOutcome, lockedFor } from '../lock-entry.ts';
import { HUB_FOLDER } from '../places.ts';
import { runStep, type StepWatch } from '../step.ts';
import { treeOf } from '../tree.ts';
import { type InstallContext, InstallError, type InstalledArtifact } from './artifact-installer.ts';
import { installerKindOf } from './installer-kind.ts';
import { readArtifact } from './installers.ts';

export interface ArtifactsJob {
  planned: readonly PlannedArtifact[];
  /** In a frozen install: what the lockfile says. */
  locked: LockedEntity | undefined;
  /** As it was before. */
  lockfile: Lockfile | undefined;
  uid: string;
  watch: StepWatch;
  context: Omit<InstallContext, 'scratchDir' | 'locked' | 'knownPlaces'>;
}

const STEP_TIMEOUT_MS = 30 * 60_000;

export async function installArtifacts(
  job: ArtifactsJob,
): Promise<{ results: StepResult[]; outcomes: ArtifactOutcome[]; displaced: Displaced[] }> {
  const results: StepResult[] = [];
  const outcomes: ArtifactOutcome[] = [];
  const displaced: Displaced[] = [];
  for (const [index, planned] of job.planned.entries()) {
    const { result, value } = await runStep(planned.step, job.watch, async () => {
      const installed = await installOne(planned, index, job);
      const kind = installerKindOf(planned.kind, planned.spec);
      const lost = await findDisplaced(job.lockfile, { kind, uid: job.uid, installed }, job.context.targetDir);
      displaced.push(...lost);
      return { extra: { ...extraOf(installed), ...displacedExtra(lost, installed.resolved) }, value: installed };
    });
    results.push(result);
    outcomes.push({ planned, installed: value });
  }
  return { results, outcomes, displaced };
}

async function installOne(planned: PlannedArtifact, index: number, job: ArtifactsJob): Promise<InstalledArtifact> {
  const { context } = job;
  if (context.signal.aborted) throw new InstallError('This was not begun, because the hub is ending: install again.');
  const artifact = readArtifact(planned.kind, planned.spec);
  const fault = planned.fault ?? ('fault' in artifact ? artifact.fault : undefined);
  if ('fault' in artifact || fault !== undefined) throw new InstallError(fault ?? 'It cannot be installed.');
  const scratchDir = await makeFolderInside(context.targetDir, `${HUB_FOLDER}/scratch-${randomUUID()}`);
  const signal = AbortSignal.any([context.signal, AbortSignal.timeout(STEP_TIMEOUT_MS)]);
  try {
    const locked = lockedFor(job.planned, index, job.locked);
    const installed = await artifact.install({
      ...context,
      scratchDir,
      signal,
      knownPlaces: knownPlaces(job.lockfile, job.uid, planned),
      ...(locked ? { locked } : {}),
    });
    const tree = await treeOf(installerKindOf(planned.kind, planned.spec), installed, context.targetDir);
    return { ...installed, ...(tree ? { tree } : {}) };
  } catch (error) {
    if (signal.aborted) throw stopped(context.signal.aborted, error);
    throw isUnexpected(error) ? ((await linkInTheWay(context.targetDir, scratchDir)) ?? error) : error;
  } finally {
    await rm(scratchDir, { recursive: true, force: true, maxRetries: 3 });
  }
}

/** Where a folder was replaced by a link meanwhile, the system only says that files are gone. */
async function linkInTheWay(targetDir: string, scratchDir: string): Promise<Error | undefined> {
  const isMoved = (await realpath(targetDir).catch(() => targetDir)) !== targetDir;
  if (isMoved)
    return new InstallError('The target was replaced by a link while the install ran: links are not followed.');
  return pathInside(targetDir, relative(targetDir, scratchDir)).then(
    () => undefined,
    (error: unknown) =>
      error instanceof PathError
        ? new InstallError(
            `${HUB_FOLDER} in the target was replaced by a link or a file while the install ran: remove it and install again.`,
            { cause: error },
          )
        : undefined,
  );
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
