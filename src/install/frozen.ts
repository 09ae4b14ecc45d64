// Frozen installs: exactly what the lockfile says, or an error.
import { HubError } from '../errors.ts';
import { jsonDigest } from '../lib/json-digest.ts';
import { installerKindOf } from './artifacts/installer-kind.ts';
import {
  LOCKFILE_NAME,
  type LockedArtifact,
  type LockedEntity,
  type Lockfile,
  type PlannedArtifact,
} from './contract.ts';
import { lockedFor } from './lock-entry.ts';
import { findLocked } from './lockfile.ts';
import type { InstallSubject } from './subject.ts';

/** Asked before anything is touched. @throws HubError `lockfile_mismatch` */
export function assertLocked(
  lockfile: Lockfile | undefined,
  subject: InstallSubject,
  planned: readonly PlannedArtifact[],
): LockedEntity {
  if (!lockfile)
    throw mismatch(
      `there is no ${LOCKFILE_NAME} in the target. Put the lockfile of an earlier install there, or install without frozen, which writes one`,
    );
  const locked = findLocked(lockfile, subject.uid);
  if (!locked)
    throw mismatch(
      `${LOCKFILE_NAME} in the target does not hold '${subject.uid}'. Install it without frozen, which adds it`,
    );
  if (locked.id !== subject.uid) throw otherVersion(locked.id, subject.uid);
  if (locked.provenance.manifest_digest !== subject.manifestDigest)
    throw mismatch(
      `the manifest of '${subject.uid}' is another than the one that was locked (${subject.manifestDigest} instead of ${locked.provenance.manifest_digest}). Bring the manifest back, or install without frozen, which locks the new one`,
    );
  const missing = planned.find((each, index) => !lockedFor(planned, index, locked)?.ok && each.fault === undefined);
  if (missing)
    throw mismatch(
      `${LOCKFILE_NAME} does not have the artifact '${missing.command}' in place${displacedBy(planned, missing, locked)}. Install without frozen, which tries it again`,
    );
  return locked;
}

function displacedBy(planned: readonly PlannedArtifact[], missing: PlannedArtifact, locked: LockedEntity): string {
  const by = lockedFor(planned, planned.indexOf(missing), locked)?.displaced_by;
  return by === undefined ? '' : `, since '${by}' was installed into the same environment`;
}

/** What is different, as the end of a sentence; empty when it is the same. */
export function differences(locked: LockedEntity, found: LockedEntity): string[] {
  const artifacts = found.artifacts.flatMap((artifact, index) => {
    const expected = locked.artifacts[index];
    if (!expected) return [`artifact ${index + 1} is not in the lockfile`];
    if (!artifact.ok && expected.ok) return [`artifact ${index + 1} (${artifact.kind}) was not installed`];
    const fields = comparedFields(artifact, expected).filter((key) => artifact[key] !== expected[key]);
    const others = jsonDigest(artifact.dependencies) === jsonDigest(expected.dependencies);
    return [
      ...(others ? [] : [`what came along with artifact ${index + 1} (${artifact.kind}) is another`]),
      ...fields.map(
        (key) => `${key} of artifact ${index + 1} (${artifact.kind}) is ${artifact[key]}, and was ${expected[key]}`,
      ),
    ];
  });
  const adapters = locked.adapters.flatMap((expected) => {
    const adapter = found.adapters.find(({ path }) => path === expected.path);
    if (!adapter) return [`the adapter ${expected.path} was not written`];
    return adapter.integrity === expected.integrity ? [] : [`the adapter ${expected.path} is another`];
  });
  return [...artifacts, ...adapters];
}

/**
 * Whether an image is a folder or in the store of a program depends on the machine, and so does which of its platforms it is
 * of; where it is a folder for the same one both times, that must be the same.
 */
function comparedFields({ kind, spec, tree, platform }: LockedArtifact, expected: LockedArtifact) {
  const always = ['resolved', 'integrity', 'ok'] as const;
  const installer = installerKindOf(kind, spec);
  // Nobody knew what was in its folder, and what is there now was fetched by its digest.
  if (installer === 'npm' && expected.tree === undefined) return [...always, 'path'] as const;
  if (installer !== 'oci') return [...always, 'tree', 'path'] as const;
  // Lockfiles that name no platform are of before it was noted.
  const isOfOther = platform !== undefined && platform !== expected.platform;
  const isComparable = tree !== undefined && expected.tree !== undefined && !isOfOther;
  return isComparable ? ([...always, 'tree'] as const) : always;
}

export function otherVersion(lockedId: string, asked: string): HubError {
  return mismatch(
    `${LOCKFILE_NAME} has '${lockedId}', and '${asked.slice(0, 120)}' was asked for. Ask for the one that is locked, or install without frozen, which replaces it`,
  );
}

/** `why` is the end of a sentence, and what to do about it. */
export function mismatch(why: string): HubError {
  return new HubError('lockfile_mismatch', `A frozen install is not possible: ${why}.`);
}
