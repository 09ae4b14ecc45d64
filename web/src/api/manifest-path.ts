// The path of a manifest, for links and commands.

export function manifestPath(id: string): string {
  return `/catalog/manifest/${encodeURIComponent(id)}`;
}
