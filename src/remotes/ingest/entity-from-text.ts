// The text of a manifest, or of the `server.json` of an MCP registry → the entity it describes.
import { type Entity, entityFromManifest } from '../../catalog/entity.ts';
import { parseManifestText } from '../../catalog/manifest-text.ts';
import { isServerJson, listedManifest } from '../../registry/listed-server.ts';

export interface ManifestText {
  /** Its address, which tells JSON from YAML where the text does not. */
  url: string;
  text: string;
  sourceUrl?: string;
}

/** @throws HubError `invalid_manifest` */
export function entityFromText({ url, text, sourceUrl }: ManifestText): Entity {
  const parsed = parseManifestText(url, text);
  // Without its address: whoever goes there expects a manifest, which only the hub has.
  if (isServerJson(parsed.document)) return entityFromManifest({ document: listedManifest(parsed.document) });
  return entityFromManifest({ ...parsed, sourceUrl });
}
