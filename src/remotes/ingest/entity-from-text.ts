// Converts the text of a manifest, a `server.json` or an agent card to an entity.
import { type Entity, entityFromManifest } from '../../catalog/entity.ts';
import { parseManifestText } from '../../catalog/manifest-text.ts';
import { isJsonObject } from '../../lib/json.ts';
import { manifestOf } from '../../registry/listed-server.ts';

export interface ManifestText {
  /** Its extension helps to distinguish JSON from YAML. */
  url: string;
  text: string;
  sourceUrl?: string;
}

/** @throws HubError `invalid_manifest` */
export function entityFromText({ url, text, sourceUrl }: ManifestText): Entity {
  const parsed = parseManifestText(url, text);
  // A converted manifest gets no address, because clients would find the original document there.
  const manifest = isJsonObject(parsed.document) ? manifestOf(parsed.document) : parsed.document;
  if (manifest !== parsed.document) return entityFromManifest({ document: manifest });
  return entityFromManifest({ ...parsed, sourceUrl });
}
