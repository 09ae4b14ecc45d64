// What an install will do, as data.
import { alternativesOf, type Launch, launchOf } from '../catalog/launch/launch.ts';
import { withoutCredentials } from '../lib/credentials.ts';
import { isJsonObject, type JsonObject } from '../lib/json.ts';
import { planAdapters } from './adapters/plan-adapters.ts';
import type { ArtifactContext } from './artifacts/artifact.ts';
import { kindNameOf } from './artifacts/kind-name.ts';
import { readArtifact } from './artifacts/kinds.ts';
import type { InstallPlan, InstallRequest, LockedEntity, PlannedAdapter, PlannedArtifact } from './contract.ts';
import { invalidRequest } from './errors.ts';
import { lockedFor } from './lockfile/lock-entry.ts';
import type { LockedEntities } from './lockfile/lockfile.ts';
import type { InstallSubject } from './subject.ts';

export interface PlanJob extends LockedEntities {
  subject: InstallSubject;
  request: Pick<InstallRequest, 'clients' | 'prefer' | 'dest'>;
  context: ArtifactContext;
}

export interface PlannedInstall {
  plan: InstallPlan;
  launch: Launch;
}

export async function planInstall(job: PlanJob): Promise<PlannedInstall> {
  const { subject, request, known } = job;
  const { artifacts, chosen } = await chooseAlternatives(planArtifacts(subject), job);
  const artifact = chosen === undefined ? undefined : subject.artifacts[chosen];
  const launch = launchOf(subject, artifact ? { artifact } : {});
  const adapters = subject.isFromLockfile
    ? lockedAdapters(known)
    : planAdapters({ ...job, launch, clients: request.clients ?? [] });
  const registration = subject.mcpRegistration ?? {};
  return { plan: { id: subject.uid, artifacts, adapters, mcp_registration: registration }, launch };
}

function lockedAdapters(locked: LockedEntity | undefined): PlannedAdapter[] {
  const adapters = locked?.adapters ?? [];
  return adapters.map(({ framework, template_key, path }) => ({ framework, template_key, path, generic: false }));
}

/** The plan without the secrets of the manifest: others read reports. */
export function shownPlan(plan: InstallPlan): InstallPlan {
  return {
    ...plan,
    artifacts: plan.artifacts.map((each) => ({ ...each, spec: withoutCredentials(each.spec) })),
    mcp_registration: withoutCredentials(plan.mcp_registration),
  };
}

function planArtifacts({ artifacts, document }: InstallSubject): PlannedArtifact[] {
  return artifacts.map((artifact) => {
    const kind = typeof artifact.kind === 'string' ? artifact.kind : '';
    const spec = withDigestOfPackage(isJsonObject(artifact.spec) ? artifact.spec : {}, document);
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

/** Registries keep the digest of a bundle beside the artifact, in `packages`. */
function withDigestOfPackage(spec: JsonObject, { packages }: JsonObject): JsonObject {
  if (String(spec.registry).toLowerCase() !== 'mcpb' || !Array.isArray(packages)) return spec;
  const identifier = spec.package ?? spec.url;
  const found = packages.filter(isJsonObject).find((each) => each.identifier === identifier);
  const digest = found?.fileSha256 ?? found?.file_sha256;
  const isKnown = spec.fileSha256 ?? spec.file_sha256 ?? spec.digest;
  return typeof digest === 'string' && !isKnown ? { ...spec, fileSha256: digest } : spec;
}

/** Installs one of several packages of a server: the locked or preferred one, or the first that this machine can run. */
async function chooseAlternatives(planned: PlannedArtifact[], job: PlanJob) {
  const indexes = alternativesOf(job.subject.document);
  if (indexes.length < 2) return { artifacts: planned, chosen: undefined };
  const chosen = await chooseOne(indexes, planned, job);
  const reason = `An alternative to '${planned[chosen]?.command}', which is installed.`;
  const artifacts = planned.map((each, index) =>
    index === chosen || !indexes.includes(index) ? each : { ...each, alternative: true, reason },
  );
  return { artifacts, chosen };
}

async function chooseOne(indexes: readonly number[], planned: PlannedArtifact[], job: PlanJob): Promise<number> {
  const { prefer } = job.request;
  const offers = [...planned.entries()]
    .filter(([index]) => indexes.includes(index))
    .map(([index, artifact]) => ({ index, artifact, name: kindNameOf(artifact.kind, artifact.spec) }));
  const candidates = prefer ? offers.filter(({ name }) => name === prefer) : offers;
  if (candidates.length === 0) {
    const names = [...new Set(offers.map(({ name }) => name))].join(', ');
    throw invalidRequest('prefer', `no package is of the kind '${prefer}'; choose one of: ${names}`);
  }
  const locked = candidates.find(({ artifact }) => lockedFor(artifact, job.known));
  if (locked) return locked.index;
  for (const { index, artifact } of candidates) {
    const read = readArtifact(artifact.kind, artifact.spec);
    if (!('fault' in read) && !(await read.kind.unavailable?.(read.spec, job.context))) return index;
  }
  return candidates[0]?.index ?? 0;
}
