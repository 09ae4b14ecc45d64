// Turns the text of a manifest, a `server.json` or an agent card into an entity.
import { type Entity, entityFromManifest } from '../../catalog/entity.ts';
import { parseManifestText } from '../../catalog/manifest-text.ts';
import { isJsonObject } from '../../lib/json.ts';
import { manifestOf } from '../../registry/listed-server.ts';

export interface ManifestText {
  /** Its address, which tells JSON from YAML where the text does not. */
  url: string;
  text: string;
  sourceUrl?: string;
}

/** @throws HubError `invalid_manifest` */
export function entityFromText({ url, text, sourceUrl }: ManifestText): Entity {
  const parsed = parseManifestText(url, text);
  // Without its address: only the hub has this manifest, and a client would look for it there.
  const manifest = isJsonObject(parsed.document) ? manifestOf(parsed.document) : parsed.document;
  if (manifest !== parsed.document) return entityFromManifest({ document: manifest });
  return entityFromManifest({ ...parsed, sourceUrl });
}
