// The artifact steps of an install: all are built first, and then put in place.
import { randomUUID } from 'node:crypto';
import type { Launch } from '../catalog/launch/launch.ts';
import type { Gateway } from '../gateway/gateway.ts';
import type { World } from '../lib/world.ts';
import type { ArtifactContext } from './artifacts/artifact.ts';
import { readArtifact } from './artifacts/kinds.ts';
import { type InstalledArtifact, type Ownership, placeArtifact } from './artifacts/place.ts';
import type {
  InstallListener,
  InstallPlan,
  InstallRequest,
  LockedEntity,
  Lockfile,
  PlannedArtifact,
  StepResult,
} from './contract.ts';
import { explain, InstallError } from './errors.ts';
import { notStartable } from './launchers.ts';
import { type ArtifactOutcome, lockedFor } from './lockfile/lock-entry.ts';
import { isSameEntity } from './lockfile/lockfile.ts';
import { present, runStep, type StepWatch } from './step.ts';
import type { InstallSubject } from './subject.ts';
import { makeFolderInside } from './target/files.ts';
import { HUB_FOLDER, STAGING, VENDOR } from './target/places.ts';

/** One install: the request, and what was found out about it. */
export interface InstallJob {
  request: InstallRequest;
  subject: InstallSubject;
  launch: Launch;
  plan: InstallPlan;
  targetDir: string;
  before: { lockfile: Lockfile | undefined; error: unknown };
  signal: AbortSignal;
  onEvent: InstallListener;
}

/** What an install may use. */
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

/** An image of 20 GB takes a while. */
const STEP_TIMEOUT_MS = 60 * 60_000;

export async function buildArtifacts(
  job: InstallJob,
  known: LockedEntity | undefined,
  tools: InstallTools & { watch: StepWatch },
): Promise<BuiltArtifacts> {
  const planned = job.plan.artifacts.filter((each) => !each.alternative);
  const ownership = ownershipOf(job.before.lockfile, job.subject.uid);
  const results: StepResult[] = [];
  const artifacts: ArtifactOutcome[] = [];
  for (const [index, each] of planned.entries()) {
    const locked = job.request.update ? undefined : lockedFor(planned, index, known);
    const { result, value } = await runStep(each.step, tools.watch, async () => {
      const earlier = chosenEarlier(known, index, each);
      const installed = await build(each, { job, locked, earlier, ownership: withPaths(ownership, artifacts), tools });
      const fault = notStartable(job.launch, each, installed);
      const warnings = [...installed.warnings, ...(fault ? [fault] : [])];
      return { extra: extraOf({ ...installed, warnings }), value: installed };
    });
    results.push(result);
    artifacts.push({ planned: each, installed: value });
  }
  if (!isWorthKeeping(artifacts, known)) return { results, artifacts, isInPlace: false };
  const fault = await commitAll(artifacts);
  if (fault === undefined) return { results, artifacts, isInPlace: true };
  const failed = { step: 'artifacts.place', ok: false, extra: { error: fault } };
  return { results: [...results, failed], artifacts, isInPlace: false };
}

/** An earlier version that works is not replaced by a part of a new one. */
function isWorthKeeping(artifacts: readonly ArtifactOutcome[], known: LockedEntity | undefined): boolean {
  if (artifacts.every(({ installed }) => installed)) return true;
  return known === undefined && artifacts.some(({ installed }) => installed && !installed.skipped);
}

/** A folder that the person chose with `dest` stays chosen. */
function chosenEarlier(known: LockedEntity | undefined, index: number, { kind }: PlannedArtifact): string | undefined {
  const artifact = known?.artifacts[index];
  if (artifact?.kind !== kind || !artifact.tree || !artifact.path) return undefined;
  const isChosen = !artifact.path.startsWith(`${VENDOR}/`) && artifact.path !== artifact.spec.dest;
  return isChosen ? artifact.path : undefined;
}

interface BuildJob {
  job: InstallJob;
  earlier: string | undefined;
  locked: LockedEntity['artifacts'][number] | undefined;
  ownership: Ownership;
  tools: InstallTools;
}

async function build(
  planned: PlannedArtifact,
  { job, locked, earlier, ownership, tools }: BuildJob,
): Promise<InstalledArtifact> {
  const { request, subject, targetDir } = job;
  if (job.signal.aborted) throw new InstallError('Not started, because the install was stopped. Install again.');
  if (planned.fault !== undefined) throw new InstallError(planned.fault);
  const artifact = readArtifact(planned.kind, planned.spec);
  if ('fault' in artifact) throw new InstallError(artifact.fault);
  const signal = AbortSignal.any([job.signal, AbortSignal.timeout(STEP_TIMEOUT_MS)]);
  const stagingDir = await makeFolderInside(targetDir, `${HUB_FOLDER}/${STAGING}/${randomUUID()}`);
  try {
    return await placeArtifact(artifact, {
      targetDir,
      context: { ...tools.world, ...tools.rules, signal, stagingDir, publishedAt: subject.publishedAt },
      locked,
      isFrozen: request.frozen,
      isForced: request.force ?? false,
      dest: request.dest ?? earlier,
      slug: subject.slug,
      ownership,
    });
  } catch (error) {
    if (!signal.aborted) throw error;
    const why = job.signal.aborted ? 'before it was finished. Install again' : 'because it took too long';
    throw new InstallError(`Stopped ${why}.`, { cause: error });
  }
}

async function commitAll(artifacts: readonly ArtifactOutcome[]): Promise<string | undefined> {
  try {
    for (const { installed } of artifacts) await installed?.commit();
    return undefined;
  } catch (error) {
    return explain(error);
  }
}

function ownershipOf(lockfile: Lockfile | undefined, uid: string): Ownership {
  const ours = new Map<string, string>();
  const others = new Map<string, string>();
  for (const { id, artifacts } of lockfile?.entities ?? []) {
    for (const { path, tree } of artifacts) {
      if (path === null || tree === undefined) continue;
      if (isSameEntity(id, uid)) ours.set(path, tree);
      else others.set(path, id);
    }
  }
  return { ours, others };
}

/** Two artifacts of one manifest cannot have the same folder. */
function withPaths({ ours, others }: Ownership, built: readonly ArtifactOutcome[]): Ownership {
  const paths = built.flatMap(({ installed }) => installed?.path ?? []);
  return {
    ours,
    others: new Map([...others, ...paths.map((path) => [path, 'another artifact of this manifest'] as const)]),
  };
}

function extraOf({ resolved, integrity, path, extra, warnings, skipped }: InstalledArtifact): Record<string, unknown> {
  const { bundle: _bundle, ...shown } = extra;
  const skip = skipped ? { skipped: true, reason: skipped } : {};
  return present({ resolved, integrity, path, ...shown, ...skip, warning: warnings.join(' ') });
}
