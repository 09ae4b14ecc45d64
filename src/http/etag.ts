// Entity tags: checks whether the caller already has the response.

/** RFC 9110: a list of tags or `*`; weak comparison, as If-None-Match requires. */
export function matchesEtag(ifNoneMatch: string | undefined, etag: string): boolean {
  if (ifNoneMatch === undefined) return false;
  const tags = ifNoneMatch.match(/(?:W\/)?"[^"]*"|\*/g) ?? [];
  return tags.some((tag) => tag === '*' || opaque(tag) === opaque(etag));
}

function opaque(tag: string): string {
  return tag.replace(/^W\//, '');
}
