// What the lockfile says about one install.
import { isLoopbackHost, withoutBrackets } from '../../lib/address.ts';
import { withoutCredentials } from '../../lib/credentials.ts';
import { jsonDigest } from '../../lib/json-digest.ts';
import { shownAddress } from '../../lib/secret-address.ts';
import type { InstalledArtifact } from '../artifacts/place.ts';
import {
  type InstallPlan,
  LOCKFILE_NAME,
  type LockedAdapter,
  type LockedArtifact,
  type LockedEntity,
  type LockedLauncher,
  type PlannedArtifact,
} from '../contract.ts';
import type { InstallSubject } from '../subject.ts';
import { mismatch } from './lockfile.ts';

/** One artifact of a plan; `installed` is undefined when its step failed. */
export interface ArtifactOutcome {
  planned: PlannedArtifact;
  installed: InstalledArtifact | undefined;
}

type Parts = { artifacts: ArtifactOutcome[]; adapters: LockedAdapter[]; launchers: LockedLauncher[] };

export function lockEntry(subject: InstallSubject, { artifacts, adapters, launchers }: Parts): LockedEntity {
  const { uid, type, name, version, manifestUrl, sourceUrl, manifestDigest } = subject;
  const commit = artifacts.find(({ planned }) => planned.step === 'git.checkout')?.installed?.resolved;
  const source = shown(sourceUrl);
  const manifestAddress = isLoopback(manifestUrl) ? source : (shown(manifestUrl) ?? source);
  return {
    id: uid,
    type,
    name,
    version,
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

/** Lockfiles are shared, so addresses are written without their secrets. */
function shown(address: string | null): string | null {
  return address === null ? null : shownAddress(address);
}

/** The address of a hub on this machine leads nowhere on another one. */
function isLoopback(address: string | null): boolean {
  return isLoopbackHost(withoutBrackets(URL.parse(address ?? '')?.hostname ?? ''));
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

type ArtifactOfManifest = Pick<LockedArtifact, 'kind' | 'spec'>;

export function isSameArtifact(one: ArtifactOfManifest, other: ArtifactOfManifest): boolean {
  const [ours, theirs] = [one, other].map(({ spec }) => jsonDigest(withoutCredentials(spec)));
  return one.kind === other.kind && ours === theirs;
}

/** Only artifacts and adapters count: a manifest may change its texts. @throws HubError `lockfile_mismatch` */
export function assertSamePlan({ artifacts, adapters }: InstallPlan, locked: LockedEntity): void {
  const chosen = artifacts.filter((each) => !each.alternative);
  const added = chosen.find((each) => !lockedFor(each, locked) && each.fault === undefined);
  if (added) throw mismatch(`${LOCKFILE_NAME} does not have the artifact '${added.command}'. ${TRY_WITHOUT}`);
  if (chosen.length < locked.artifacts.length)
    throw mismatch(`${LOCKFILE_NAME} has artifacts that the manifest no longer lists. ${TRY_WITHOUT}`);
  const unlocked = adapters.find(
    (each) =>
      each.fault === undefined &&
      each.note === undefined &&
      !locked.adapters.some((one) => one.framework === each.framework && one.template_key === each.template_key),
  );
  if (unlocked)
    throw mismatch(`${LOCKFILE_NAME} does not have the adapter for '${unlocked.framework}'. ${TRY_WITHOUT}`);
}

const TRY_WITHOUT = 'Bring the manifest back, or install without frozen, which locks the new one';
