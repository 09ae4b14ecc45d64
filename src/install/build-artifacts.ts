// The artifact steps of an install: builds all artifacts, then moves them into place.
import { randomUUID } from 'node:crypto';
import { homedir } from 'node:os';
import type { Launch } from '../catalog/launch/launch.ts';
import type { Gateway } from '../gateway/gateway.ts';
import type { World } from '../lib/world.ts';
import type { ArtifactContext } from './artifacts/artifact.ts';
import { readDest } from './artifacts/destination.ts';
import { readArtifact } from './artifacts/kinds.ts';
import {
  type InstalledArtifact,
  type Ownership,
  type PlaceJob,
  placeArtifact,
  previewPlace,
} from './artifacts/place.ts';
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
import { explain, InstallError, isUnexpected } from './errors.ts';
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
  /** If false, the target is unchanged. */
  isInPlace: boolean;
}

export async function buildArtifacts(job: InstallJob, tools: InstallTools): Promise<BuiltArtifacts> {
  const { known } = job;
  const planned = job.plan.artifacts.filter((each) => !each.alternative);
  const results: StepResult[] = [];
  const artifacts: ArtifactOutcome[] = [];
  for (const each of planned) {
    const { result, value } = await runStep(each.step, job.watch, async () => {
      const taken = artifacts.flatMap(({ installed }) => installed?.path ?? []);
      const installed = await build(each, placeOf(each, job, taken), { job, tools });
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

type PlanningJob = Pick<InstallJob, 'request' | 'subject' | 'targetDir' | 'known' | 'others' | 'plan'>;

/** Returns each artifact's plan with what its step would report about the target, and its folder if known, without building. */
export async function previewArtifacts(job: PlanningJob, context: ArtifactContext) {
  const taken: string[] = [];
  const artifacts = await Array.fromAsync(job.plan.artifacts, async (planned): Promise<PlannedArtifact> => {
    const artifact = readArtifact(planned.kind, planned.spec);
    if (planned.alternative || 'fault' in artifact) return planned;
    try {
      const { path, warnings } = await previewPlace(artifact, { ...placeOf(planned, job, taken), context });
      // An update of a package may resolve to what is installed.
      const folder = path ?? lockedFor(planned, job.known)?.path;
      if (folder) taken.push(folder);
      return warnings.length > 0 ? { ...planned, warning: warnings.join(' ') } : planned;
    } catch (error) {
      if (isUnexpected(error)) throw error;
      return { ...planned, fault: explain(error) };
    }
  });
  return { artifacts, folders: taken };
}

/** `taken` lists the folders of the manifest's other artifacts. */
function placeOf(planned: PlannedArtifact, job: PlanningJob, taken: readonly string[]): Omit<PlaceJob, 'context'> {
  const { request, subject, targetDir, known, others, plan } = job;
  const index = plan.artifacts.filter((each) => !each.alternative).indexOf(planned);
  return {
    ...{ targetDir, slug: subject.slug, isFrozen: request.frozen, isForced: request.force ?? false },
    locked: request.update ? undefined : lockedFor(planned, known),
    dest: request.dest ?? chosenEarlier(known?.artifacts[index], planned),
    ownership: ownershipOf({ known, others }, taken),
  };
}

/** A working earlier version is not replaced by a partly built new one. */
function isWorthKeeping(artifacts: readonly ArtifactOutcome[], known: LockedEntity | undefined): boolean {
  if (artifacts.every(({ installed }) => installed)) return true;
  return known === undefined && artifacts.some(({ installed }) => installed && !installed.skipped);
}

/** A folder chosen earlier with `dest` is kept. */
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

async function build(
  planned: PlannedArtifact,
  place: Omit<PlaceJob, 'context'>,
  { job, tools }: { job: InstallJob; tools: InstallTools },
): Promise<InstalledArtifact> {
  if (job.signal.aborted) throw new InstallError('Not started, because the install was stopped. Install again.');
  const artifact = readArtifact(planned.kind, planned.spec);
  if ('fault' in artifact) throw new InstallError(artifact.fault);
  const signal = AbortSignal.any([job.signal, AbortSignal.timeout(STEP_TIMEOUT_MS)]);
  const stagingDir = await makeFolderInside(job.targetDir, `${HUB_FOLDER}/${STAGING}/${randomUUID()}`);
  try {
    return await placeArtifact(artifact, { ...place, context: contextOf(job.subject, tools, { signal, stagingDir }) });
  } catch (error) {
    if (!signal.aborted) throw error;
    const why = job.signal.aborted ? 'before it was finished. Install again' : 'because it took too long';
    throw new InstallError(`Stopped ${why}.`, { cause: error });
  }
}

function ownershipOf({ known, others }: LockedEntities, taken: readonly string[]): Ownership {
  const ours = (known?.artifacts ?? []).flatMap(({ path, tree }) => (path && tree ? [[path, tree] as const] : []));
  const theirs = others.flatMap(({ id, artifacts }) =>
    artifacts.flatMap(({ path, tree }) => (path && tree ? [[path, id] as const] : [])),
  );
  // Two artifacts of one manifest cannot have the same folder.
  const own = taken.map((path) => [path, 'another artifact of this manifest'] as const);
  return { ours: new Map(ours), others: new Map([...theirs, ...own]) };
}

function extraOf({ resolved, integrity, path, extra, warnings = [], skipped }: InstalledArtifact) {
  const skip = skipped ? { skipped: true, reason: skipped } : {};
  return present({ resolved, integrity, path, ...extra, ...skip, warning: warnings.join(' ') });
}
