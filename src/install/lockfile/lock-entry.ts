// Builds the lockfile entry of an install.
import { isLoopbackHost, withoutBrackets } from '../../lib/net/address.ts';
import { withoutCredentials } from '../../lib/secrets/credentials.ts';
import { shownAddress } from '../../lib/secrets/secret-address.ts';
import type { InstalledArtifact } from '../artifacts/place.ts';
import type { LockedAdapter, LockedArtifact, LockedEntity, LockedLauncher, PlannedArtifact } from '../contract.ts';
import type { InstallSubject } from '../subject.ts';
import { isSameArtifact } from './lockfile.ts';

/** One artifact of a plan; `installed` is undefined if its step failed. */
export interface ArtifactOutcome {
  planned: PlannedArtifact;
  installed: InstalledArtifact | undefined;
}

type Parts = { artifacts: ArtifactOutcome[]; adapters: LockedAdapter[]; launchers: LockedLauncher[] };

export function lockEntry(subject: InstallSubject, { artifacts, adapters, launchers }: Parts): LockedEntity {
  const { uid, type, name, version, manifestUrl, sourceUrl, manifestDigest } = subject;
  const commit = artifacts.find(({ planned }) => planned.step === 'git.checkout')?.installed?.resolved;
  const source = shown(sourceUrl);
  // A loopback address of a hub is useless on another machine.
  const isLocal = isLoopbackHost(withoutBrackets(URL.parse(manifestUrl ?? '')?.hostname ?? ''));
  const manifestAddress = isLocal ? source : (shown(manifestUrl) ?? source);
  return {
    ...{ id: uid, type, name, version },
    artifacts: artifacts.map(lockedArtifact),
    adapters,
    ...(launchers.length > 0 ? { launchers } : {}),
    provenance: {
      manifest_url: manifestAddress,
      // Clients fetch the manifest from here, even if it came with the request.
      source_url: source ?? manifestAddress,
      manifest_digest: manifestDigest,
      ...(commit ? { commit } : {}),
    },
  };
}

/** Removes secrets from addresses, because lockfiles are shared. */
function shown(address: string | null): string | null {
  return address === null ? null : shownAddress(address);
}

function lockedArtifact({ planned, installed }: ArtifactOutcome): LockedArtifact {
  const [kind, spec] = [planned.kind, withoutCredentials(planned.spec)];
  if (!installed) return { kind, spec, resolved: null, integrity: null, path: null, ok: false };
  const { resolved, integrity, path, tree, pins } = installed;
  const more = { ...(tree ? { tree } : {}), ...(pins ? { pins } : {}) };
  return { kind, spec, resolved, integrity, path, ok: true, ...more };
}

export function lockedFor(planned: PlannedArtifact, locked: LockedEntity | undefined): LockedArtifact | undefined {
  return locked?.artifacts.find((each) => isSameArtifact(each, planned));
}
