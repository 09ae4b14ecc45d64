// Whether an artifact is still what an install put in place.
import { lstat } from 'node:fs/promises';
import { absent } from '../../lib/absent.ts';
import { treeDigest } from '../../lib/file-digest.ts';
import { pathInside } from '../../lib/path-inside.ts';
import { readPlainText } from '../../lib/plain-file.ts';
import type { Run } from '../../lib/world.ts';
import type { InstallerKind } from '../artifacts/artifact-installer.ts';
import { installerKindOf } from '../artifacts/installer-kind.ts';
import { isLayoutOf } from '../artifacts/oci-layout.ts';
import { ownPlatform } from '../artifacts/oci-manifest.ts';
import type { LockedArtifact } from '../contract.ts';
import { treeSkips } from '../tree.ts';
import { different, type Found, missing, SAME, unchecked } from './check.ts';
import { verifyNpmPackage } from './npm.ts';
import { verifyPythonPackage } from './python.ts';

export interface VerifyContext {
  /** Absolute, with links resolved. */
  targetDir: string;
  run: Run;
  signal: AbortSignal;
}

type Verify = (artifact: LockedArtifact, context: VerifyContext) => Promise<Found>;

export async function verifyArtifact(artifact: LockedArtifact, context: VerifyContext): Promise<Found> {
  if (artifact.displaced_by !== undefined)
    return missing(
      `${artifact.resolved} went when ${artifact.displaced_by} was installed into the same environment: install it again, or into another target`,
    );
  if (!artifact.ok) return missing('was not in place when the lockfile was written: install it again');
  return VERIFIERS[installerKindOf(artifact.kind, artifact.spec)](artifact, context);
}

const ENGINE_TIMEOUT_MS = 30_000;

/** A new kind does not compile until it is known here how it is looked at. */
const VERIFIERS: Readonly<Record<InstallerKind, Verify>> = {
  git: verifyCheckout,
  zip: verifyTree,
  mcpb: verifyTree,
  npm: verifyNpmPackage,
  pypi: verifyPythonPackage,
  oci: (artifact, context) => (artifact.path === null ? verifyImage : verifyImageFolder)(artifact, context),
  remote: async () => SAME,
  unsupported: async () => unchecked('nothing is known of its kind'),
};

/** Without git itself: what somebody wrote into the settings of a repository could make it run anything. */
async function verifyCheckout(artifact: LockedArtifact, context: VerifyContext): Promise<Found> {
  const { path, resolved } = artifact;
  const file = await pathInside(context.targetDir, `${path}/.git/HEAD`);
  const head = await readPlainText(file).catch(absent);
  if (head === undefined) return missing('there is no repository');
  const commit = head.trim();
  if (commit !== resolved) return different(`is at '${commit.slice(0, 100)}', and should be at commit ${resolved}`);
  return verifyTree(artifact, context);
}

async function verifyTree({ kind, path, spec, tree }: LockedArtifact, { targetDir }: VerifyContext): Promise<Found> {
  const folder = await pathInside(targetDir, path ?? '');
  const found = await lstat(folder).catch(absent);
  if (!found?.isDirectory()) return missing('the folder is gone');
  if (typeof tree !== 'string') return unchecked('the lockfile has no digest of the folder: install again to add it');
  const skips = treeSkips(installerKindOf(kind, spec));
  return (await treeDigest(folder, skips)) === tree ? SAME : different('files in the folder were changed');
}

/** Whether docker or podman still has it, by its digest. */
async function verifyImage({ resolved }: LockedArtifact, { run, targetDir, signal }: VerifyContext): Promise<Found> {
  const args = ['image', 'inspect', '--format', '{{.Id}}', '--', resolved ?? ''];
  const outcomes = await Promise.all(
    ['docker', 'podman'].map((program) =>
      run({ program, args, cwd: targetDir, timeoutMs: ENGINE_TIMEOUT_MS, signal }).catch(() => undefined),
    ),
  );
  if (outcomes.some((outcome) => outcome?.exitCode === 0)) return SAME;
  const isKnownToBeGone = outcomes.some((outcome) => /no such image|image not known/i.test(outcome?.stderr ?? ''));
  return isKnownToBeGone ? missing('the image is gone') : unchecked('neither docker nor podman answers');
}

/** By the digest of the folder, or, where that is of another platform, by those that the image itself is made of. */
async function verifyImageFolder(artifact: LockedArtifact, context: VerifyContext): Promise<Found> {
  const found = await verifyTree(artifact, context);
  if (found.outcome !== 'different' || artifact.platform === undefined) return found;
  const { os, architecture } = ownPlatform();
  if (artifact.platform === `${os}/${architecture}`) return found;
  const folder = await pathInside(context.targetDir, artifact.path ?? '');
  return (await isLayoutOf(artifact.integrity ?? '', folder)) ? SAME : found;
}
