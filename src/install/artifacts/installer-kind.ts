// Which installer a manifest means by an artifact. Needs nothing of Node: the page reads it alike.
import type { JsonObject } from '../../lib/json.ts';
import type { InstallerKind } from './artifact-installer.ts';

const OWN_KINDS = ['pypi', 'oci', 'git', 'zip', 'npm', 'mcpb'] as const satisfies readonly InstallerKind[];

/** Published catalogs write most of their artifacts as `other`, and tell what they are by the spec. */
export function installerKindOf(kind: string, spec: JsonObject): InstallerKind {
  const registry = String(spec.registry ?? '').toLowerCase();
  const named = OWN_KINDS.find((each) => each === kind.toLowerCase()) ?? OWN_KINDS.find((each) => each === registry);
  if (named) return named;
  const isRemote = registry === '' && typeof spec.url === 'string' && typeof spec.transport === 'string';
  return isRemote ? 'remote' : 'unsupported';
}
