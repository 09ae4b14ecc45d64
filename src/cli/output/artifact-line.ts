// Describes an artifact of a manifest in one line: kind, name and version.

import { asObject } from '../../lib/json.ts';
import { withoutCredentials } from '../../lib/secrets/credentials.ts';

/** Fields that identify an artifact; the first one that the spec has is used. */
const WHAT = ['package', 'image', 'repo', 'url', 'identifier', 'name'];
/** Fields that are shown without their name; versions, tags and branches are recognizable. */
const PLAIN = ['version', 'tag', 'ref'];
const NAMED = ['digest', 'fileSha256', 'registry', 'transport', 'index_url', 'registry_url', 'dest'];

export function artifactLine({ kind, spec }: Record<string, unknown>): string {
  const open = asObject(withoutCredentials(spec ?? {}));
  const [what] = WHAT.filter((name) => wordOf(open[name]));
  const first = [
    typeof kind === 'string' && kind.trim() !== '' ? kind : 'unknown',
    what ? wordOf(open[what]) : '',
    ...PLAIN.map((name) => wordOf(open[name])),
  ];
  const others = [...NAMED, ...WHAT]
    .filter((name) => name !== what && wordOf(open[name]))
    .map((name) => `${name.replaceAll('_', ' ')} ${wordOf(open[name])}`);
  return [first.filter(Boolean).join(' '), ...others].join(', ');
}

function wordOf(value: unknown): string {
  return typeof value === 'string' || typeof value === 'number' ? String(value).trim() : '';
}
