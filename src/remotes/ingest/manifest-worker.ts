// Worker thread that converts texts of manifests to entities. Parsing 1 MiB of YAML can take seconds.

import { type EntityText, textOfEntity } from '../../catalog/entity.ts';
import { HubError } from '../../errors.ts';
import { entityFromText, type ManifestText } from './entity-from-text.ts';

export type ManifestAnswer = { ok: true; uid: string; entity: EntityText } | { ok: false; error: string };

export default function readManifests(manifests: readonly ManifestText[]): ManifestAnswer[] {
  return manifests.map(readManifest);
}

/** A faulty text does not affect the other texts in the same task. */
function readManifest(manifest: ManifestText): ManifestAnswer {
  try {
    const entity = entityFromText(manifest);
    return { ok: true, uid: entity.uid, entity: textOfEntity(entity) };
  } catch (error) {
    return { ok: false, error: error instanceof HubError ? error.message : 'is too large to read' };
  }
}
