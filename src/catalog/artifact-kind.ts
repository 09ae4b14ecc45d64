// Determines the kind of an artifact in a manifest. Uses no Node module, so that the page can import it.
import type { JsonObject } from '../lib/json.ts';

/** How an artifact is installed; several are forms of the manifest kind `other`. */
export type KindName = 'pypi' | 'oci' | 'git' | 'zip' | 'npm' | 'mcpb' | 'remote' | 'unsupported';

const OWN_KINDS = ['pypi', 'oci', 'git', 'zip', 'npm', 'mcpb'] as const satisfies readonly KindName[];

/** Published catalogs list most of their artifacts as `other`; the spec then determines the kind. */
export function kindNameOf(kind: string, spec: JsonObject): KindName {
  const registry = String(spec.registry ?? '').toLowerCase();
  const named = OWN_KINDS.find((each) => each === kind.toLowerCase()) ?? OWN_KINDS.find((each) => each === registry);
  if (named) return named;
  const isRemote = registry === '' && typeof spec.url === 'string' && typeof spec.transport === 'string';
  return isRemote ? 'remote' : 'unsupported';
}
