// Repositories: which addresses and refs are accepted, where a repository really is, and how git may go there.
import { FetchError } from '../../../lib/fetch-error.ts';
import { shownAddress } from '../../../lib/secret-address.ts';
import { InstallError } from '../../errors.ts';
import { LONGEST_ADDRESS, mayUseCredentials } from '../address.ts';
import type { ArtifactContext } from '../artifact.ts';
import { type GitAccess, publicAccess } from './command.ts';

const LONGEST_REF = 250;
/** `ext::` would run commands. */
const SCHEMES = ['https:', 'http:', 'ssh:', 'file:'];
/** `git@host:path`, as ssh addresses are often written. */
const SCP_FORM = /^([A-Za-z0-9][\w.-]*)@([A-Za-z0-9][\w.-]*):(?!\/\/)(.+)$/;

/** What keeps a text from being the address of a repository, as the end of a sentence. */
export function repositoryFault(repo: string): string | undefined {
  if (repo.length > LONGEST_ADDRESS) return `must not be longer than ${LONGEST_ADDRESS} characters`;
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
  if (/[\u0000-\u0020\u007f]/u.test(repo)) return 'must not hold spaces or control characters';
  const url = readRepository(repo);
  if (!url) return 'must be an https, http or ssh address';
  if (!SCHEMES.includes(url.protocol))
    return `has the scheme '${url.protocol}', and repositories are fetched by https, http or ssh only`;
  return undefined;
}

/** Package managers write `git+https://…`; a path is a `file:` address. */
export function readRepository(repo: string): URL | undefined {
  const plain = repo.replace(/^git\+/i, '');
  if (plain.startsWith('/')) return new URL(`file://${encodeURI(plain)}`);
  const [, user, host, path] = SCP_FORM.exec(plain) ?? [];
  if (path !== undefined) return URL.parse(`ssh://${user}@${host}/${path.replace(/^\/+/, '')}`) ?? undefined;
  // git takes the name before `::` for a helper; IPv6 addresses have it within brackets.
  const isForHelper = /^[^/[]*::/.test(plain);
  return URL.canParse(plain) && !isForHelper ? new URL(plain) : undefined;
}

/** Why this machine does not fetch from such an address, as the end of a sentence. */
export function accessFault(
  url: URL,
  { trust, allowPrivateNetwork }: Pick<ArtifactContext, 'trust' | 'allowPrivateNetwork'>,
): string | undefined {
  if (url.protocol === 'file:' && !allowPrivateNetwork)
    return 'is a folder of this machine, which is not read while ALLOW_PRIVATE_NETWORK is off';
  if (url.protocol === 'ssh:' && !trust.isOwnMachine)
    return 'is an ssh address, for which a hub has no keys: use the https address of the repository';
  return undefined;
}

/** What keeps a text from being a branch, a tag or a commit, as the end of a sentence. */
export function refFault(ref: string): string | undefined {
  // Options and what git itself refuses in names; each of them would mean something else than a name.
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
  const isOther = /^$|^[-+/]|[\u0000-\u0020\u007f~^:?*[\\]|\.\.|@\{|\/\/|\.lock$|\/$/u.test(ref);
  return isOther || ref.length > LONGEST_REF ? 'is not a name of a branch, tag or commit' : undefined;
}

/** Without credentials, for people and for files. */
export function shownRepository(repo: string): string {
  const url = readRepository(repo);
  if (!url) return repo;
  if (url.protocol === 'ssh:') return `ssh://${url.host}${url.pathname}`;
  return url.protocol === 'file:' ? decodeURI(url.pathname) : shownAddress(url.href);
}

interface FoundRepository {
  address: string;
  access: GitAccess;
}

const ownAccess: GitAccess = { usesConfiguration: true, settings: [] };
const REFS_TIMEOUT_MS = 30_000;
const MOST_REFS_BYTES = 50_000_000;
/** Hosts answer so for what is private, too. */
const NOT_PUBLIC = [401, 403, 404];

/** @throws InstallError */
export async function findRepository(repo: string, context: ArtifactContext): Promise<FoundRepository> {
  const url = readRepository(repo);
  if (!url) throw new InstallError(`'${repo.slice(0, 120)}' is not an address of a repository.`);
  const fault = accessFault(url, context);
  if (fault) throw new InstallError(`The repository ${shownRepository(repo)} ${fault}.`);
  if (url.protocol === 'file:') return { address: url.href, access: publicAccess };
  if (url.protocol === 'ssh:') return { address: repo.replace(/^git\+/i, ''), access: ownAccess };
  try {
    return await findOnWeb(url, repo, context);
  } catch (error) {
    if (!(error instanceof FetchError)) throw error;
    throw new InstallError(`The repository ${shownRepository(repo)} ${error.message}.`, { cause: error });
  }
}

async function findOnWeb(url: URL, repo: string, context: ArtifactContext): Promise<FoundRepository> {
  if (context.trust.isOwnMachine) {
    await context.vetAddress(url.href);
    return { address: url.href, access: ownAccess };
  }
  const { status, address } = await followRedirects(url, context);
  if (status === 200)
    return { address, access: { usesConfiguration: false, settings: await heldTo(address, context) } };
  const isTrusted = mayUseCredentials(context.trust, url.host, url.pathname);
  if (!NOT_PUBLIC.includes(status) || !isTrusted) throw refusal(repo, status);
  return { address: url.href, access: { usesConfiguration: true, settings: await heldTo(url.href, context) } };
}

/** git itself would go wherever it is sent, so the hub's own requests, which check every address, find the way. */
async function followRedirects(url: URL, { fetch, signal }: ArtifactContext) {
  const { status, url: found } = await fetch({
    url: `${url.href.replace(/\/+$/, '')}/info/refs?service=git-upload-pack`,
    headers: { 'git-protocol': 'version=2' },
    maxBytes: MOST_REFS_BYTES,
    timeoutMs: REFS_TIMEOUT_MS,
    signal,
  });
  return { status, address: withCredentials(new URL(found.replace(/\/info\/refs(\?.*)?$/, '')), url) };
}

/** Credentials in an address are for the host they were written for. */
function withCredentials(found: URL, requested: URL): string {
  if (found.origin !== requested.origin) return found.href;
  found.username = requested.username;
  found.password = requested.password;
  return found.href;
}

/** Settings that keep git at the addresses that were checked, whatever the name server says next. */
async function heldTo(address: string, { vetAddress }: ArtifactContext): Promise<string[]> {
  const url = new URL(address);
  const addresses = await vetAddress(address);
  const port = url.port || (url.protocol === 'https:' ? '443' : '80');
  const list = addresses.map((each) => (each.includes(':') ? `[${each}]` : each)).join(',');
  const isHeld = list === '' ? [] : [`http.curloptResolve=${url.hostname}:${port}:${list}`];
  return ['http.followRedirects=false', ...isHeld];
}

function refusal(repo: string, status: number): InstallError {
  const shown = shownRepository(repo);
  if ([...NOT_PUBLIC, 410].includes(status))
    return new InstallError(
      `There is no repository at ${shown}, or it is not public (status ${status}). For private repositories, the operator names their host in INSTALL_CREDENTIALS_FOR.`,
    );
  return new InstallError(`The host of the repository ${shown} answered with status ${status}.`);
}
