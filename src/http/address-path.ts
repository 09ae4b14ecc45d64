// Addresses as routes can read them: ids with `/` in one piece, and percent signs that encode nothing as text.

/** Addresses that end in an entity id, which may hold `/`. */
const ID_PATHS = /^((?:\/catalog)?\/entities\/|\/catalog\/manifest\/|\/gateways\/pending\/)([^?]*)(.*)$/s;
const PATH = /^[^?#]*/;

/** What cannot be decoded would be refused before any hook has run: without headers, log and limits. */
export function routableUrl(url: string): string {
  const readable = isReadable(url) ? url : url.replace(PATH, (path) => path.replaceAll('%', '%25'));
  return readable.replace(ID_PATHS, (_all, path, id, query) => `${path}${id.replaceAll('/', '%2F')}${query}`);
}

/** Whether its path can be decoded. */
export function isReadable(url: string): boolean {
  const path = PATH.exec(url)?.[0] ?? '';
  if (!path.includes('%')) return true;
  try {
    decodeURI(path);
    return true;
  } catch {
    return false;
  }
}
