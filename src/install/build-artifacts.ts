// The artifact steps of an install: all are built first, and then put in place.
import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import type { Launch } from '../catalog/launch/launch.ts';
import type { Gateway } from '../gateway/gateway.ts';
import { parseJson } from '../lib/json.ts';
import type { World } from '../lib/world.ts';
import type { ArtifactContext } from './artifacts/artifact.ts';
import { readArtifact } from './artifacts/kinds.ts';
import { type InstalledArtifact, type Ownership, placeArtifact } from './artifacts/place.ts';
import type { InstallPlan, InstallRequest, LockedEntity, Lockfile, PlannedArtifact, StepResult } from './contract.ts';
import { explain, InstallError } from './errors.ts';
import { notStartable } from './launchers.ts';
import { type ArtifactOutcome, lockedFor } from './lockfile/lock-entry.ts';
import { present, runStep, type StepWatch } from './step.ts';
import type { InstallSubject } from './subject.ts';
import { makeFolderInside, readInside, writeFileInside } from './target/files.ts';
import { HUB_FOLDER, STAGING, VENDOR } from './target/places.ts';

export interface InstallJob {
  request: InstallRequest;
  subject: InstallSubject;
  launch: Launch;
  plan: InstallPlan;
  targetDir: string;
  before: { lockfile: Lockfile | undefined; error: unknown };
  /** What the lockfile says about the entity, and about all others. */
  known: LockedEntity | undefined;
  others: readonly LockedEntity[];
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

/** An image of 20 GB takes a while. */
const STEP_TIMEOUT_MS = 60 * 60_000;
/** What the hub put into `vendor`: written first, so that the next install knows the folders of one that was killed. */
const PLACED = `${HUB_FOLDER}/placed.json`;

export async function buildArtifacts(job: InstallJob, tools: InstallTools): Promise<BuiltArtifacts> {
  const { known } = job;
  const planned = job.plan.artifacts.filter((each) => !each.alternative);
  const placed = await readPlaced(job.targetDir);
  const results: StepResult[] = [];
  const artifacts: ArtifactOutcome[] = [];
  for (const [index, each] of planned.entries()) {
    const { result, value } = await runStep(each.step, job.watch, async () => {
      const locked = job.request.update ? undefined : lockedFor(planned, index, known);
      const dest = job.request.dest ?? chosenEarlier(known, index, each);
      const ownership = ownershipOf(job, placed, artifacts);
      const installed = await build(each, { job, tools, place: { locked, dest, ownership } });
      const fault = notStartable(job.launch, each, installed);
      return { extra: extraOf(installed, fault), value: installed };
    });
    results.push(result);
    artifacts.push({ planned: each, installed: value });
  }
  if (!isWorthKeeping(artifacts, known)) return { results, artifacts, isInPlace: false };
  try {
    await commitAll(job.targetDir, placed, artifacts);
    return { results, artifacts, isInPlace: true };
  } catch (error) {
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
function chosenEarlier(known: LockedEntity | undefined, index: number, { kind }: PlannedArtifact): string | undefined {
  const artifact = known?.artifacts[index];
  if (artifact?.kind !== kind || !artifact.tree || !artifact.path) return undefined;
  const isChosen = !artifact.path.startsWith(`${VENDOR}/`) && artifact.path !== artifact.spec.dest;
  return isChosen ? artifact.path : undefined;
}

interface BuildJob {
  job: InstallJob;
  tools: InstallTools;
  place: Pick<Parameters<typeof placeArtifact>[1], 'locked' | 'dest' | 'ownership'>;
}

async function build(planned: PlannedArtifact, { job, tools, place }: BuildJob): Promise<InstalledArtifact> {
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
      context: { ...tools.world, ...tools.rules, signal, stagingDir, publishedAt: subject.publishedAt },
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

async function readPlaced(targetDir: string): Promise<Map<string, string>> {
  const text = (await readInside(targetDir, PLACED)) ?? '{}';
  const read = z.record(z.string(), z.string()).safeParse(parseJson(text));
  return new Map(Object.entries(read.data ?? {}));
}

async function commitAll(
  targetDir: string,
  placed: ReadonlyMap<string, string>,
  artifacts: readonly ArtifactOutcome[],
): Promise<void> {
  const built = artifacts.flatMap(({ installed }) => (installed?.commit ? [installed] : []));
  const trees = { ...Object.fromEntries(placed), ...Object.fromEntries(built.map(({ path, tree }) => [path, tree])) };
  if (built.length > 0) await writeFileInside(targetDir, PLACED, JSON.stringify(trees));
  for (const { commit } of built) await commit?.();
}

function ownershipOf(
  { known, others }: InstallJob,
  placed: Ownership['placed'],
  built: readonly ArtifactOutcome[],
): Ownership {
  const ours = (known?.artifacts ?? []).flatMap(({ path, tree }) => (path && tree ? [[path, tree] as const] : []));
  const theirs = others.flatMap(({ id, artifacts }) =>
    artifacts.flatMap(({ path, tree }) => (path && tree ? [[path, id] as const] : [])),
  );
  // Two artifacts of one manifest cannot have the same folder.
  const taken = built.flatMap(({ installed }) => installed?.path ?? []);
  const own = taken.map((path) => [path, 'another artifact of this manifest'] as const);
  return { ours: new Map(ours), others: new Map([...theirs, ...own]), placed };
}

function extraOf(installed: InstalledArtifact, fault: string | undefined): Record<string, unknown> {
  const { resolved, integrity, path, extra, warnings = [], skipped } = installed;
  const skip = skipped ? { skipped: true, reason: skipped } : {};
  const warning = [...warnings, ...(fault ? [fault] : [])].join(' ');
  return present({ resolved, integrity, path, ...extra, ...skip, warning });
}
