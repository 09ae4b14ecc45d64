// Plans an install as data, before anything is written.
import { kindNameOf } from '../catalog/artifact-kind.ts';
import { alternativesOf, type Launch, launchOf } from '../catalog/launch/launch.ts';
import { invalidRequest } from '../errors.ts';
import { asObject, type JsonObject } from '../lib/json.ts';
import { withoutCredentials } from '../lib/secrets/credentials.ts';
import { planAdapters } from './adapters/plan-adapters.ts';
import type { ArtifactContext } from './artifacts/artifact.ts';
import { readArtifact } from './artifacts/kinds.ts';
import type { InstallPlan, InstallRequest, PlannedArtifact } from './contract.ts';
import { lockedFor } from './lockfile/lock-entry.ts';
import type { LockedEntities } from './lockfile/lockfile.ts';
import type { InstallSubject } from './subject.ts';

export interface PlanJob extends LockedEntities {
  subject: InstallSubject;
  request: Pick<InstallRequest, 'clients' | 'prefer' | 'update' | 'frozen'>;
  context: ArtifactContext;
}

export async function planInstall(job: PlanJob): Promise<{ plan: InstallPlan; launch: Launch }> {
  const { subject, request } = job;
  const { artifacts, chosen } = await chooseAlternatives(planArtifacts(subject), job);
  const artifact = chosen === undefined ? undefined : subject.artifacts[chosen];
  const launch = launchOf(subject, artifact ? { artifact } : {});
  const isBundle = artifacts.some((each) => !each.alternative && kindNameOf(each.kind, each.spec) === 'mcpb');
  // A lockfile records the written files, not the launch; a bundle's launch is known only after it is built.
  const reason = !request.frozen && !isBundle && launch.kind === 'none' ? launch.reason : undefined;
  const adapters = planAdapters({ ...job, unreachable: reason, clients: request.clients ?? [] });
  const registration = subject.mcpRegistration ?? {};
  return { plan: { id: subject.uid, artifacts, adapters, mcp_registration: registration }, launch };
}

/** Whether it is known that a step will fail. */
export function hasFault({ artifacts, adapters }: InstallPlan): boolean {
  const chosen = [...artifacts.filter(({ alternative }) => !alternative), ...adapters];
  return chosen.some(({ fault }) => fault !== undefined);
}

/** Removes the manifest's secrets, because others read reports. */
export function shownPlan(plan: InstallPlan): InstallPlan {
  return {
    ...plan,
    artifacts: plan.artifacts.map((each) => ({ ...each, spec: withoutCredentials(each.spec) })),
    mcp_registration: withoutCredentials(plan.mcp_registration),
  };
}

function planArtifacts({ artifacts }: InstallSubject): PlannedArtifact[] {
  return artifacts.map((artifact) => {
    const kind = typeof artifact.kind === 'string' ? artifact.kind : '';
    const spec = asObject(artifact.spec);
    const read = readArtifact(kind, spec);
    const shared = { kind: kind || 'unknown', spec, reason: reasonOf(kind, artifact) };
    if ('fault' in read) return { ...shared, ...read, command: `nothing: ${read.fault}` };
    return { ...shared, step: read.kind.step, command: read.kind.describe(read.spec) };
  });
}

function reasonOf(kind: string, { reason }: JsonObject): string {
  if (typeof reason === 'string' && reason.trim() !== '') return reason.slice(0, 300);
  return `The manifest lists it under artifacts${kind ? ` as '${kind.slice(0, 60)}'` : ''}.`;
}

/** Selects one of several packages of a server: the locked or preferred one, or the first that this machine can run. */
async function chooseAlternatives(planned: PlannedArtifact[], job: PlanJob) {
  const { prefer, update } = job.request;
  const kinds = planned.map(({ kind, spec }) => kindNameOf(kind, spec));
  // An update keeps the kind that was chosen earlier, if the new version offers it.
  if (prefer && !update && !kinds.includes(prefer))
    throw invalidRequest('prefer', `there is no ${prefer} package, only: ${[...new Set(kinds)].join(', ') || 'none'}`);
  const indexes = alternativesOf(job.subject.document);
  if (indexes.length < 2) return { artifacts: planned, chosen: undefined };
  const preferred = indexes.filter((index) => kinds[index] === prefer);
  const chosen = await chooseOne(preferred.length > 0 ? preferred : indexes, planned, job);
  const reason = `An alternative to '${planned[chosen]?.command}', which is installed.`;
  const artifacts = planned.map((each, index) =>
    index === chosen || !indexes.includes(index) ? each : { ...each, alternative: true, reason },
  );
  return { artifacts, chosen };
}

async function chooseOne(indexes: readonly number[], planned: PlannedArtifact[], job: PlanJob): Promise<number> {
  const candidates = [...planned.entries()].filter(([index]) => indexes.includes(index));
  const [locked] = candidates.find(([, artifact]) => lockedFor(artifact, job.known)) ?? [];
  if (locked !== undefined) return locked;
  for (const [index, { kind, spec }] of candidates) {
    const read = readArtifact(kind, spec);
    if (!('fault' in read) && !(await read.kind.unavailable?.(read.spec, job.context))) return index;
  }
  return indexes[0] ?? 0;
}
