// Where a manifest is, for links and commands.

export function manifestPath(id: string): string {
  return `/catalog/manifest/${encodeURIComponent(id)}`;
}
