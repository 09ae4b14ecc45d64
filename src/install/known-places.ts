// Which places of a target belong to whom, as far as the lockfile tells.
import type { KnownPlaces } from './artifacts/artifact-installer.ts';
import type { LockedAdapter, LockedArtifact, Lockfile } from './contract.ts';
import { isSameArtifact } from './lock-entry.ts';
import { isSameEntity } from './lockfile.ts';

export function knownPlaces(
  lockfile: Lockfile | undefined,
  uid: string,
  wanted: Pick<LockedArtifact, 'kind' | 'spec'>,
): KnownPlaces {
  const places = (lockfile?.entities ?? []).flatMap(({ id, artifacts, leftovers }) =>
    [...artifacts, ...(leftovers?.artifacts ?? [])].flatMap((artifact) => {
      const { path } = artifact;
      // Two entities may come out of one repository, which is there once.
      return path === null ? [] : [{ id, path, isOurs: isSameEntity(id, uid) || isSameArtifact(artifact, wanted) }];
    }),
  );
  return {
    ours: places.filter(({ isOurs }) => isOurs).map(({ path }) => path),
    ofOthers: places.filter(({ isOurs }) => !isOurs).map(({ id, path }) => ({ id, path })),
  };
}

/** Of other entities. */
export interface OthersPlaces {
  folders: readonly { path: string; id: string }[];
  adapters: readonly { adapter: LockedAdapter; id: string }[];
}

export function placesOfOthers(lockfile: Lockfile | undefined, uid: string): OthersPlaces {
  const others = (lockfile?.entities ?? []).filter(({ id }) => !isSameEntity(id, uid));
  return {
    folders: others.flatMap(({ id, artifacts }) =>
      artifacts.flatMap(({ path }) => (path === null ? [] : [{ id, path }])),
    ),
    adapters: others.flatMap(({ id, adapters }) => adapters.map((adapter) => ({ id, adapter }))),
  };
}
