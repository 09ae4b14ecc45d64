// What is told of folders of packages that were in a target before, and that an install left as they are.

const MOST_NAMED = 10;

/** By their paths, what each is by npm's lockfile. */
export function leftWarning(left: ReadonlyMap<string, string>): string | undefined {
  if (left.size === 0) return undefined;
  const named = [...left].slice(0, MOST_NAMED).map(([path, resolved]) => `${resolved} in ${path}`);
  const more = left.size - named.length;
  const names = more > 0 ? `${named.join(', ')} and ${more} more` : named.join(', ');
  const [was, it] = left.size === 1 ? ['was', 'it'] : ['were', 'them'];
  return `${names} ${was} there before and ${was} not checked: the lockfile does not say what is in ${it}. Whoever has not built or changed anything there removes ${it} and installs again.`;
}
