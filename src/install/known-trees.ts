// Digests of folders of packages, as far as the lockfile tells.
import type { InstalledArtifact } from './artifacts/artifact-installer.ts';
import type { Lockfile } from './contract.ts';

/** By what the package is, and the digest that its registry gives it: the same for every entity that has it. */
export function treeKey({ resolved, integrity }: { resolved: string | null; integrity: string | null }): string {
  return `${resolved} ${integrity}`;
}

const NO_DIGEST = 'more than one';

/** Also of what this install itself has brought. Where entities do not agree on a package, nothing is known of it. */
export function knownTrees(
  lockfile: Lockfile | undefined,
  done: readonly InstalledArtifact[] = [],
): Map<string, string> {
  const known = new Map<string, string>();
  const note = (key: string, tree: string | undefined) => {
    if (tree !== undefined) known.set(key, [tree, undefined].includes(known.get(key)) ? tree : NO_DIGEST);
  };
  const locked = (lockfile?.entities ?? []).flatMap(({ artifacts }) => artifacts).filter(({ ok }) => ok);
  for (const artifact of [...locked, ...done]) {
    note(treeKey(artifact), artifact.tree);
    for (const each of artifact.dependencies ?? []) note(treeKey(each), artifact.trees?.[each.resolved]);
  }
  return known;
}
