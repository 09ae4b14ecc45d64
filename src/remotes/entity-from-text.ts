// The text of a manifest → the entity it describes.
import { type Entity, entityFromManifest } from '../catalog/entity.ts';
import { parseManifestText } from '../catalog/manifest-text.ts';

export interface ManifestText {
  /** Its address, which tells JSON from YAML where the text does not. */
  url: string;
  text: string;
  sourceUrl?: string;
}

/** @throws HubError `invalid_manifest` */
export function entityFromText({ url, text, sourceUrl }: ManifestText): Entity {
  return entityFromManifest({ ...parseManifestText(url, text), sourceUrl });
}
