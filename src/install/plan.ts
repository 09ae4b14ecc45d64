// What an install will do, as data: nothing is decided later.
import { withoutCredentials } from '../lib/credentials.ts';
import { isJsonObject, type JsonObject } from '../lib/json.ts';
import { planAdapters } from './adapters/plan-adapters.ts';
import { type ReadyArtifact, readArtifact, type SpecFault } from './artifacts/installers.ts';
import type { InstallPlan, Lockfile, PlannedArtifact } from './contract.ts';
import { placesOfOthers } from './known-places.ts';
import { overlap } from './places.ts';
import type { InstallSubject } from './subject.ts';

/** Pure: the same entity gives the same plan, beside the same others in the lockfile of its target. */
export function planInstall(subject: InstallSubject, lockfile?: Lockfile): InstallPlan {
  const { artifacts, places } = planArtifacts(subject);
  return {
    id: subject.uid,
    artifacts,
    adapters: planAdapters(subject, { places, others: placesOfOthers(lockfile, subject.uid) }),
    mcp_registration: subject.mcpRegistration ?? {},
  };
}

/** As anybody may see it: what is carried out needs the secrets of a manifest, and whoever reads a report does not. */
export function shownPlan(plan: InstallPlan): InstallPlan {
  return {
    ...plan,
    artifacts: plan.artifacts.map((each) => ({ ...each, spec: withoutCredentials(each.spec) })),
    mcp_registration: withoutCredentials(plan.mcp_registration),
  };
}

/** `places` are where they go. */
function planArtifacts({ artifacts, document }: InstallSubject): { artifacts: PlannedArtifact[]; places: string[] } {
  const planned: PlannedArtifact[] = [];
  const places: string[] = [];
  for (const artifact of artifacts) {
    const kind = typeof artifact.kind === 'string' ? artifact.kind : '';
    const spec = withDigestOfPackage(isJsonObject(artifact.spec) ? artifact.spec : {}, document);
    const read = readArtifact(kind, spec);
    const taken =
      'fault' in read || read.place === undefined ? undefined : places.find((each) => overlap(each, read.place ?? ''));
    const fault =
      'fault' in read ? read.fault : taken && `Another artifact of this manifest goes to '${taken}' as well.`;
    if (!('fault' in read) && read.place !== undefined) places.push(read.place);
    planned.push({
      kind: kind || 'unknown',
      step: read.step,
      spec,
      command: fault ? `nothing: ${fault}` : commandOf(read),
      reason: reasonOf(kind, artifact),
      ...(fault ? { fault } : {}),
    });
  }
  return { artifacts: planned, places };
}

function commandOf(read: ReadyArtifact | SpecFault): string {
  return 'fault' in read ? '' : read.command;
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
