// Entity ids of the form `<type>:<slug>@<version>`.

export const ENTITY_TYPES = ['agent', 'tool', 'mcp_server'] as const;
export type EntityType = (typeof ENTITY_TYPES)[number];

/** An id as callers may write it; without a version, it means the newest one. */
export interface EntityReference {
  type: EntityType;
  slug: string;
  version?: string;
}

export type EntityUid = string;

const LONGEST_UID = 512;

export function formatUid({ type, slug, version }: Required<EntityReference>): EntityUid {
  return `${type}:${slug}@${version}`;
}

/** Undefined when the text is not an id. Slugs and versions may contain `/`, and slugs `@`, so the version starts after the last `@`. */
export function parseReference(text: string): EntityReference | undefined {
  const colon = text.indexOf(':');
  const type = ENTITY_TYPES.find((each) => each === text.slice(0, Math.max(colon, 0)));
  if (!type || text.length > LONGEST_UID) return undefined;
  const rest = text.slice(colon + 1);
  const at = rest.lastIndexOf('@');
  const reference = at > 0 ? { type, slug: rest.slice(0, at), version: rest.slice(at + 1) } : { type, slug: rest };
  if (slugFault(reference.slug)) return undefined;
  if (reference.version !== undefined && versionFault(reference.version)) return undefined;
  return reference;
}

/** Two versions of one entity share this text. */
export function withoutVersion(id: string): string {
  const reference = parseReference(id);
  return reference ? `${reference.type}:${reference.slug}` : id;
}

/** What makes a slug invalid, as the end of a sentence; undefined when it is valid. */
export function slugFault(slug: string): string | undefined {
  return partFault(slug, 256);
}

export function versionFault(version: string): string | undefined {
  if (version.includes('@')) return "must not contain '@', which separates slug and version";
  return partFault(version, 128);
}

function partFault(part: string, longest: number): string | undefined {
  if (part === '') return 'must not be empty';
  if (part.length > longest) return `must not be longer than ${longest} characters`;
  // biome-ignore lint/suspicious/noControlCharactersInRegex: matches control characters on purpose
  if (/[\s\u0000-\u001f\u007f]/u.test(part)) return 'must not contain spaces or control characters';
  if (!part.isWellFormed()) return 'must be well-formed Unicode';
  // Ids become URLs and folder names: a segment of dots would change where they point.
  if (part.split('/').some((segment) => /^\.{0,2}$/.test(segment)))
    return "must not contain '.', '..' or empty path segments";
  return undefined;
}
