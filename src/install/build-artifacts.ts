// The artifact steps of an install: all are built first, and then put in place.
import { randomUUID } from 'node:crypto';
import { homedir } from 'node:os';
import type { Launch } from '../catalog/launch/launch.ts';
import type { Gateway } from '../gateway/gateway.ts';
import type { World } from '../lib/world.ts';
import type { ArtifactContext } from './artifacts/artifact.ts';
import { readDest } from './artifacts/destination.ts';
import { readArtifact } from './artifacts/kinds.ts';
import { type InstalledArtifact, type Ownership, type PlaceJob, placeArtifact } from './artifacts/place.ts';
import { STEP_TIMEOUT_MS } from './artifacts/program.ts';
import type {
  InstallPlan,
  InstallRequest,
  LockedArtifact,
  LockedEntity,
  Lockfile,
  PlannedArtifact,
  StepResult,
} from './contract.ts';
import { explain, InstallError } from './errors.ts';
import { type ArtifactOutcome, lockedFor } from './lockfile/lock-entry.ts';
import type { LockedEntities } from './lockfile/lockfile.ts';
import { present, runStep, type StepWatch } from './step.ts';
import type { InstallSubject } from './subject.ts';
import { makeFolderInside } from './target/files.ts';
import { HUB_FOLDER, STAGING, VENDOR } from './target/places.ts';

export interface InstallJob extends LockedEntities {
  request: InstallRequest;
  subject: InstallSubject;
  launch: Launch;
  plan: InstallPlan;
  targetDir: string;
  lockfile: Lockfile | undefined;
  signal: AbortSignal;
  watch: StepWatch;
}

export interface InstallTools {
  gateway: Pick<Gateway, 'registerOne'>;
  isGatewayConfigured: boolean;
  world: Pick<World, 'run' | 'fetch' | 'download' | 'vetAddress' | 'log' | 'now'>;
  rules: Pick<ArtifactContext, 'allowPrivateNetwork' | 'trust'>;
}

export interface BuiltArtifacts {
  results: StepResult[];
  artifacts: ArtifactOutcome[];
  /** They are in place. Otherwise the target is as it was. */
  isInPlace: boolean;
}

export async function buildArtifacts(job: InstallJob, tools: InstallTools): Promise<BuiltArtifacts> {
  const { known } = job;
  const planned = job.plan.artifacts.filter((each) => !each.alternative);
  const results: StepResult[] = [];
  const artifacts: ArtifactOutcome[] = [];
  for (const [index, each] of planned.entries()) {
    const { result, value } = await runStep(each.step, job.watch, async () => {
      const locked = job.request.update ? undefined : lockedFor(each, known);
      const dest = job.request.dest ?? chosenEarlier(known?.artifacts[index], each);
      const ownership = ownershipOf(job, artifacts);
      const installed = await build(each, { locked, dest, ownership }, { job, tools });
      return { extra: extraOf(installed), value: installed };
    });
    results.push(result);
    artifacts.push({ planned: each, installed: value });
  }
  if (!isWorthKeeping(artifacts, known)) return { results, artifacts, isInPlace: false };
  const undo: ((() => Promise<void>) | undefined)[] = [];
  try {
    for (const { installed } of artifacts) undo.unshift(await installed?.commit?.());
    return { results, artifacts, isInPlace: true };
  } catch (error) {
    for (const back of undo) await back?.();
    const failed = { step: 'artifacts.place', ok: false, extra: { error: explain(error) } };
    return { results: [...results, failed], artifacts, isInPlace: false };
  }
}

/** An earlier version that works is not replaced by a part of a new one. */
function isWorthKeeping(artifacts: readonly ArtifactOutcome[], known: LockedEntity | undefined): boolean {
  if (artifacts.every(({ installed }) => installed)) return true;
  return known === undefined && artifacts.some(({ installed }) => installed && !installed.skipped);
}

/** A folder that the person chose with `dest` stays chosen. */
function chosenEarlier(earlier: LockedArtifact | undefined, { kind }: PlannedArtifact): string | undefined {
  if (!earlier?.tree || !earlier.path || earlier.kind !== kind) return undefined;
  const isChosen = !earlier.path.startsWith(`${VENDOR}/`) && earlier.path !== earlier.spec.dest;
  return isChosen ? readDest(earlier.path) : undefined;
}

export function contextOf(
  { publishedAt }: InstallSubject,
  { world, rules }: InstallTools,
  rest: Pick<ArtifactContext, 'signal' | 'stagingDir'>,
): ArtifactContext {
  return { ...world, ...rules, ...rest, home: homedir(), publishedAt };
}

type Place = Pick<PlaceJob, 'locked' | 'dest' | 'ownership'>;

async function build(
  planned: PlannedArtifact,
  place: Place,
  { job, tools }: { job: InstallJob; tools: InstallTools },
): Promise<InstalledArtifact> {
  const { request, subject, targetDir } = job;
  if (job.signal.aborted) throw new InstallError('Not started, because the install was stopped. Install again.');
  const artifact = readArtifact(planned.kind, planned.spec);
  if ('fault' in artifact) throw new InstallError(artifact.fault);
  const signal = AbortSignal.any([job.signal, AbortSignal.timeout(STEP_TIMEOUT_MS)]);
  const stagingDir = await makeFolderInside(targetDir, `${HUB_FOLDER}/${STAGING}/${randomUUID()}`);
  try {
    return await placeArtifact(artifact, {
      ...place,
      targetDir,
      context: contextOf(job.subject, tools, { signal, stagingDir }),
      isFrozen: request.frozen,
      isForced: request.force ?? false,
      slug: subject.slug,
    });
  } catch (error) {
    if (!signal.aborted) throw error;
    const why = job.signal.aborted ? 'before it was finished. Install again' : 'because it took too long';
    throw new InstallError(`Stopped ${why}.`, { cause: error });
  }
}

function ownershipOf({ known, others }: InstallJob, built: readonly ArtifactOutcome[]): Ownership {
  const ours = (known?.artifacts ?? []).flatMap(({ path, tree }) => (path && tree ? [[path, tree] as const] : []));
  const theirs = others.flatMap(({ id, artifacts }) =>
    artifacts.flatMap(({ path, tree }) => (path && tree ? [[path, id] as const] : [])),
  );
  // Two artifacts of one manifest cannot have the same folder.
  const taken = built.flatMap(({ installed }) => installed?.path ?? []);
  const own = taken.map((path) => [path, 'another artifact of this manifest'] as const);
  return { ours: new Map(ours), others: new Map([...theirs, ...own]) };
}

function extraOf({ resolved, integrity, path, extra, warnings = [], skipped }: InstalledArtifact) {
  const skip = skipped ? { skipped: true, reason: skipped } : {};
  return present({ resolved, integrity, path, ...extra, ...skip, warning: warnings.join(' ') });
}
