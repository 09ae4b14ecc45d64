// Rewrites request URLs for the router: encodes `/` inside ids, and percent signs that encode nothing.

/** Paths that end in an entity id, which may contain `/`. */
const ID_PATHS =
  /^((?:\/catalog)?\/entities\/|\/catalog\/(?:manifest|trust|card)\/|\/gateways\/pending\/)([^?]*)(.*)$/s;
const PATH = /^[^?#]*/;
/** Paths of a registry: a name of two parts, optionally followed by `versions`, a version and `status`. */
const SERVER_PATHS = /^((?:\/registry\/[^/?]+)?\/v0(?:\.1)?\/servers\/)([^?]+)(.*)$/s;
/** The `/`, and the `+` of versions: some clients encode them twice, others not at all. */
const ENCODED = /%(?:25)*(2f|2b)/gi;

/** The router would refuse an undecodable path before any hook runs: without headers, log and limits. */
export function routableUrl(url: string): string {
  const readable = isReadable(url) ? url : url.replace(PATH, (path) => path.replaceAll('%', '%25'));
  return readable
    .replace(ID_PATHS, (_all, path, id, query) => `${path}${id.replaceAll('/', '%2F')}${query}`)
    .replace(SERVER_PATHS, (_all, path, rest, query) => `${path}${serverPath(rest)}${query}`);
}

function serverPath(text: string): string {
  const parts = text
    .replace(ENCODED, (_all, code) => `%${code.toUpperCase()}`)
    .replace(/\/+$/, '')
    .split('/');
  const [first = '', second] = parts;
  // A namespace contains a dot: otherwise, `status` is not the second part of a name.
  const isOfStatus = second === 'status' && !first.includes('.');
  const own = first.includes('%2F') || second === 'versions' || isOfStatus ? 1 : 2;
  const [versions, ...version] = parts.slice(own);
  const isStatus = version.length > 1 && version.at(-1) === 'status';
  const number = version.slice(0, isStatus ? -1 : undefined).join('%2F');
  return [parts.slice(0, own).join('%2F'), versions, number, isStatus && 'status'].filter(Boolean).join('/');
}

/** Whether the path can be decoded. */
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
