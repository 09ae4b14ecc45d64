// What the lockfile says about one install.
import { withoutCredentials } from '../lib/credentials.ts';
import { jsonDigest } from '../lib/json-digest.ts';
import { shownAddress } from '../lib/secret-address.ts';
import type { InstalledArtifact } from './artifacts/artifact-installer.ts';
import type { LockedAdapter, LockedArtifact, LockedEntity, PlannedArtifact } from './contract.ts';
import type { InstallSubject } from './subject.ts';

export interface ArtifactOutcome {
  planned: PlannedArtifact;
  /** Undefined when its step failed. */
  installed: InstalledArtifact | undefined;
  /** When a later artifact of the same install put another version in its place, which is not the one that was asked for. */
  isDisplaced?: boolean;
  /** When its step failed, and what an earlier install locked is in place. */
  stillThere?: LockedArtifact;
  /** The version of the entity that locked it. */
  stillThereOf?: string;
}

export function lockEntry(
  subject: InstallSubject,
  artifacts: readonly ArtifactOutcome[],
  adapters: readonly LockedAdapter[],
): LockedEntity {
  const { uid, type, name, version, manifestUrl, sourceUrl, manifestDigest } = subject;
  const locked = artifacts.map((each) => lockedArtifact(each, uid));
  const commit = locked.find(({ ok }, index) => ok && artifacts[index]?.planned.step === 'git.checkout')?.resolved;
  return {
    id: uid,
    type,
    name,
    version,
    artifacts: locked,
    adapters: [...adapters],
    provenance: {
      manifest_url: shownOrNull(manifestUrl),
      // Clients fetch the manifest from here, also when it came with the request.
      source_url: shownOrNull(sourceUrl ?? manifestUrl),
      manifest_digest: manifestDigest,
      ...(commit ? { commit } : {}),
    },
  };
}

/** Lockfiles go into repositories. */
function shownOrNull(address: string | null): string | null {
  return address === null ? null : shownAddress(address);
}

function lockedArtifact(outcome: ArtifactOutcome, uid: string): LockedArtifact {
  const { planned, installed, stillThere, stillThereOf, isDisplaced } = outcome;
  const { kind } = planned;
  // Lockfiles are shared, and whoever installs by one has the manifest.
  const spec = withoutCredentials(planned.spec);
  // What another version put there in other words is not what this one asks for.
  if (!installed && stillThere && (stillThereOf === uid || isSameArtifact(planned, stillThere))) return stillThere;
  if (!installed) return { kind, spec, resolved: null, integrity: null, path: null, ok: false };
  const { resolved, integrity, path, platform, tree, dependencies, trees = {} } = installed;
  const others = dependencies?.map((each) => ({ resolved: each.resolved, integrity: each.integrity }));
  return {
    ...{ kind, spec, resolved, integrity, path, ok: !isDisplaced },
    ...(isDisplaced ? { displaced_by: uid } : {}),
    ...(platform ? { platform } : {}),
    ...(tree ? { tree } : {}),
    ...(others?.length ? { dependencies: others } : {}),
    ...(Object.keys(trees).length > 0 ? { trees: { ...trees } } : {}),
  };
}

/** The entry of the same artifact; the second of two equal ones for the second. */
export function lockedFor(
  planned: readonly PlannedArtifact[],
  index: number,
  locked: LockedEntity | undefined,
): LockedArtifact | undefined {
  const wanted = planned[index];
  if (!wanted || !locked) return undefined;
  const position = planned.slice(0, index).filter((each) => isSameArtifact(each, wanted)).length;
  return locked.artifacts.filter((each) => isSameArtifact(each, wanted))[position];
}

type ArtifactOfManifest = Pick<LockedArtifact, 'kind' | 'spec'>;

export function isSameArtifact(one: ArtifactOfManifest, other: ArtifactOfManifest): boolean {
  // Of both: lockfiles of earlier releases hold more of a spec.
  const [ours, theirs] = [one, other].map(({ spec }) => jsonDigest(withoutCredentials(spec)));
  return one.kind === other.kind && ours === theirs;
}
