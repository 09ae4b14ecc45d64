// Determines the kind of an artifact in a manifest, and describes it. Uses no Node module, so that the page can import it.
import { asObject, type JsonObject } from '../lib/json.ts';
import { withoutCredentials } from '../lib/secrets/credentials.ts';

/** Kinds that the hub installs. */
export const INSTALLED_KINDS = ['pypi', 'oci', 'git', 'zip', 'npm', 'mcpb'] as const;

/** How an artifact is installed; several are forms of the manifest kind `other`. */
export type KindName = (typeof INSTALLED_KINDS)[number] | 'remote' | 'unsupported';

/** Published catalogs list most of their artifacts as `other`; the spec then determines the kind. */
export function kindNameOf(kind: string, spec: JsonObject): KindName {
  const registry = String(spec.registry ?? '').toLowerCase();
  for (const name of [kind.toLowerCase(), registry]) {
    const installed = INSTALLED_KINDS.find((each) => each === name);
    if (installed) return installed;
  }
  const isRemote = registry === '' && typeof spec.url === 'string' && typeof spec.transport === 'string';
  return isRemote ? 'remote' : 'unsupported';
}

const KIND_LABELS: Record<KindName, string> = {
  pypi: 'Python package',
  npm: 'npm package',
  oci: 'Container image',
  git: 'Git repository',
  zip: 'Archive',
  mcpb: 'MCP bundle',
  remote: 'Connects to',
  unsupported: 'Unknown kind',
};

export function kindLabel(kind: string): string {
  return KIND_LABELS[kind as KindName] ?? kind;
}

/** Fields that identify an artifact; the first one that the spec has is used. */
const WHAT = ['package', 'image', 'repo', 'url', 'identifier', 'name'];
/** Fields that are shown without their name; versions, tags and branches are recognizable. */
const PLAIN = ['version', 'tag', 'ref'];
const NAMED = ['digest', 'fileSha256', 'registry', 'index_url', 'registry_url', 'dest'];

/** `npm package thing 1.2.0, digest …` */
export function artifactLine({ kind, spec }: JsonObject): string {
  const open = asObject(withoutCredentials(spec ?? {}));
  const given = typeof kind === 'string' ? kind.trim() : '';
  const name = kindNameOf(given, open);
  const [what] = WHAT.filter((field) => wordOf(open[field]));
  const first = [
    name === 'unsupported' && given !== '' ? given : KIND_LABELS[name],
    what ? wordOf(open[what]) : '',
    ...PLAIN.map((field) => wordOf(open[field])),
  ];
  const others = [...NAMED, ...WHAT]
    .filter((field) => field !== what && wordOf(open[field]) && wordOf(open[field]) !== name)
    .map((field) => `${field.replaceAll('_', ' ')} ${wordOf(open[field])}`);
  return [first.filter(Boolean).join(' '), ...others].join(', ');
}

function wordOf(value: unknown): string {
  return typeof value === 'string' || typeof value === 'number' ? String(value).trim() : '';
}
