// What the lockfile says about one install.
import { withoutCredentials } from '../../lib/credentials.ts';
import { jsonDigest } from '../../lib/json-digest.ts';
import { shownAddress } from '../../lib/secret-address.ts';
import type { ArtifactOutcome } from '../artifacts/place.ts';
import type { LockedAdapter, LockedArtifact, LockedEntity, LockedLauncher, PlannedArtifact } from '../contract.ts';
import type { InstallSubject } from '../subject.ts';

export interface InstallOutcome {
  artifacts: readonly ArtifactOutcome[];
  adapters: readonly LockedAdapter[];
  launchers: readonly LockedLauncher[];
}

export function lockEntry(subject: InstallSubject, { artifacts, adapters, launchers }: InstallOutcome): LockedEntity {
  const { uid, type, name, version, manifestUrl, sourceUrl, manifestDigest } = subject;
  const commit = artifacts.find(({ planned }) => planned.step === 'git.checkout')?.installed?.resolved;
  return {
    id: uid,
    type,
    name,
    version,
    artifacts: artifacts.map(lockedArtifact),
    adapters: [...adapters],
    ...(launchers.length > 0 ? { launchers: [...launchers] } : {}),
    provenance: {
      manifest_url: fetchable(manifestUrl) ?? fetchable(sourceUrl),
      // Clients fetch the manifest from here, even if it came with the request.
      source_url: fetchable(sourceUrl) ?? fetchable(manifestUrl),
      manifest_digest: manifestDigest,
      ...(commit ? { commit } : {}),
    },
  };
}

/** Lockfiles are shared: an address must work on another machine and hold no secrets. */
function fetchable(address: string | null): string | null {
  if (address === null || !URL.canParse(address)) return null;
  const { hostname } = new URL(address);
  const isLoopback = /^(localhost|127\.\d+\.\d+\.\d+|\[::1\]|0\.0\.0\.0)$/.test(hostname);
  return isLoopback ? null : shownAddress(address);
}

function lockedArtifact({ planned, installed }: ArtifactOutcome): LockedArtifact {
  const [kind, spec] = [planned.kind, withoutCredentials(planned.spec)];
  if (!installed) return { kind, spec, resolved: null, integrity: null, path: null, ok: false };
  const { resolved, integrity, path, tree, pins } = installed;
  return {
    ...{ kind, spec, resolved, integrity, path, ok: true },
    ...(tree ? { tree } : {}),
    ...(pins ? { pins: { ...pins } } : {}),
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
  const [ours, theirs] = [one, other].map(({ spec }) => jsonDigest(withoutCredentials(spec)));
  return one.kind === other.kind && ours === theirs;
}
