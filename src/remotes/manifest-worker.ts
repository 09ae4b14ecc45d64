// Runs in a worker thread: the text of a manifest → its entity. YAML of 1 MiB can take seconds to parse.
import type { Entity } from '../catalog/entity.ts';
import { HubError } from '../errors.ts';
import { entityFromText, type ManifestText } from './entity-from-text.ts';

export type ManifestAnswer = { ok: true; entity: Entity } | { ok: false; error: string };

export default function readManifest(manifest: ManifestText): ManifestAnswer {
  try {
    return { ok: true, entity: entityFromText(manifest) };
  } catch (error) {
    if (error instanceof HubError) return { ok: false, error: error.message };
    throw error;
  }
}
