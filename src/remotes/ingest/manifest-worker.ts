// Worker thread that turns texts of manifests into entities. YAML of 1 MiB can take seconds to parse.
import type { Entity } from '../../catalog/entity.ts';
import { HubError } from '../../errors.ts';
import { entityFromText, type ManifestText } from './entity-from-text.ts';

export type ManifestAnswer = { ok: true; entity: Entity } | { ok: false; error: string };

export default function readManifests(manifests: readonly ManifestText[]): ManifestAnswer[] {
  return manifests.map(readManifest);
}

/** A faulty text does not affect the other texts in the same task. */
function readManifest(manifest: ManifestText): ManifestAnswer {
  try {
    return { ok: true, entity: entityFromText(manifest) };
  } catch (error) {
    return { ok: false, error: error instanceof HubError ? error.message : 'is too large to read' };
  }
}
