// Digests of what was put in place, for artifacts whose own digest is that of something else: of an archive, of a commit.
import { join } from 'node:path';
import { type TreeSkips, treeDigest } from '../lib/file-digest.ts';
import type { InstalledArtifact, InstallerKind } from './artifacts/artifact-installer.ts';
import { MARK } from './artifacts/destination.ts';

const SKIPS: Partial<Record<InstallerKind, TreeSkips>> = {
  // Not what git keeps beside, for submodules too: whoever looks with git at a checkout changes that.
  git: { skip: [MARK], skipNames: ['.git'] },
  zip: { skip: [MARK] },
  mcpb: { skip: [MARK] },
  // Only where it is a folder: docker and podman keep images in a place of their own.
  oci: { skip: [MARK] },
  // What a package needs is installed into it as well, and is not of it.
  npm: { skip: ['node_modules'] },
};

/** What is in the folder without being part of it. */
export function treeSkips(kind: InstallerKind): TreeSkips {
  return SKIPS[kind] ?? {};
}

/** Undefined for what has a digest of its own, or is no folder. */
export async function treeOf(
  kind: InstallerKind,
  { path }: Pick<InstalledArtifact, 'path'>,
  targetDir: string,
): Promise<string | undefined> {
  const skips = SKIPS[kind];
  return skips && path !== null ? treeDigest(join(targetDir, path), skips) : undefined;
}
