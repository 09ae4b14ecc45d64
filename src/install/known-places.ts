// Which folders of a target an artifact may replace, as far as the lockfile tells.
import type { KnownPlaces } from './artifacts/artifact-installer.ts';
import type { LockedArtifact, Lockfile } from './contract.ts';
import { isSameArtifact } from './lock-entry.ts';
import { isSameEntity } from './lockfile.ts';

export function knownPlaces(
  lockfile: Lockfile | undefined,
  uid: string,
  wanted: Pick<LockedArtifact, 'kind' | 'spec'>,
): KnownPlaces {
  const places = (lockfile?.entities ?? []).flatMap(({ id, artifacts }) =>
    artifacts.flatMap((artifact) => {
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
