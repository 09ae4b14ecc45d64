// Loads the manifest of an entity, which has more details than its catalog entry.
import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { asObject, type JsonObject } from '../../../src/lib/json.ts';
import { hub } from '../api/hub.ts';

/** Empty until loaded, or if loading fails; the catalog entry must suffice then. */
export function useManifest(id: string): JsonObject {
  const manifest = useSignal<{ id: string; document: JsonObject }>({ id, document: {} });
  useEffect(() => {
    let isGone = false;
    hub.manifest(id).then(
      (text) => {
        if (!isGone) manifest.value = { id, document: asObject(JSON.parse(text)) };
      },
      () => {},
    );
    return () => {
      isGone = true;
    };
  }, [id, manifest]);
  return manifest.value.id === id ? manifest.value.document : {};
}
