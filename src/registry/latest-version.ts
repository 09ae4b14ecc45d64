// Determines the latest version of a server by the MCP registry's rule.
import semver from 'semver';

export interface DatedVersion {
  version: string;
  publishedAt: string;
}

/** Semantic versions win over others, and are compared as such; all others, and equal ones, are compared by date. */
export function latestVersion<T extends DatedVersion>(versions: readonly T[]): T | undefined {
  return versions.reduce<T | undefined>(
    (latest, each) => (latest && !isLater(each, latest) ? latest : each),
    undefined,
  );
}

function isLater(one: DatedVersion, other: DatedVersion): boolean {
  const [left, right] = [semver.parse(one.version), semver.parse(other.version)];
  if (left && right && left.compare(right) !== 0) return left.compare(right) > 0;
  if (Boolean(left) !== Boolean(right)) return left !== null;
  const [ours, theirs] = [Date.parse(one.publishedAt), Date.parse(other.publishedAt)];
  return ours === theirs ? one.version > other.version : ours > theirs;
}
