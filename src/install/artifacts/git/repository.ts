// Repository addresses and refs: which are accepted, and how git may connect to them.
import { shownAddress } from '../../../lib/secrets/secret-address.ts';
import { InstallError } from '../../errors.ts';
import { LONGEST_ADDRESS, mayUseCredentials, vetHost } from '../address.ts';
import type { ArtifactContext } from '../artifact.ts';
import { type GitAccess, publicAccess } from './command.ts';

const LONGEST_REF = 250;
/** `ext::` would run commands. */
const SCHEMES = ['https:', 'http:', 'ssh:', 'file:'];
/** `git@host:path`, the short form of ssh addresses. */
const SCP_FORM = /^([A-Za-z0-9][\w.-]*)@([A-Za-z0-9][\w.-]*):(?!\/\/)(.+)$/;

/** Explains why a text is not a repository address, as the end of a sentence. */
export function repositoryFault(repo: string): string | undefined {
  if (repo.length > LONGEST_ADDRESS) return `must not be longer than ${LONGEST_ADDRESS} characters`;
  if (/[ \p{Cc}]/u.test(repo)) return 'must not contain spaces or control characters';
  const url = readRepository(repo);
  if (!url) return 'must be an https, http or ssh address';
  if (!SCHEMES.includes(url.protocol))
    return `has the scheme '${url.protocol}', but repositories are fetched only over https, http or ssh`;
  return undefined;
}

/** Accepts `git+https://…`, as package managers write it, and paths, as `file:` addresses. */
export function readRepository(repo: string): URL | undefined {
  const plain = repo.replace(/^git\+/i, '');
  if (plain.startsWith('/')) return new URL(`file://${encodeURI(plain)}`);
  const [, user, host, path] = SCP_FORM.exec(plain) ?? [];
  if (path !== undefined) return URL.parse(`ssh://${user}@${host}/${path.replace(/^\/+/, '')}`) ?? undefined;
  // git reads the name before `::` as a remote helper; IPv6 addresses have it within brackets.
  const isForHelper = /^[^/[]*::/.test(plain);
  return URL.canParse(plain) && !isForHelper ? new URL(plain) : undefined;
}

/** Explains why a text is not a branch, a tag or a commit, as the end of a sentence. */
export function refFault(ref: string): string | undefined {
  // Options, and characters that git forbids in names.
  const isOther = /^$|^[-+/]|[ \p{Cc}~^:?*[\\]|\.\.|@\{|\/\/|\.lock$|\/$/u.test(ref);
  return isOther || ref.length > LONGEST_REF ? 'is not the name of a branch, tag or commit' : undefined;
}

export function shownRepository(repo: string): string {
  const url = readRepository(repo);
  if (!url) return repo;
  if (url.protocol === 'ssh:') return `ssh://${url.host}${url.pathname}`;
  return url.protocol === 'file:' ? decodeURI(url.pathname) : shownAddress(url.href);
}

/** @throws InstallError if this machine may not connect to the repository. */
export async function findRepository(repo: string, context: ArtifactContext) {
  const { trust, allowPrivateNetwork } = context;
  const url = readRepository(repo);
  if (!url) throw new InstallError(`'${repo.slice(0, 120)}' is not the address of a repository.`);
  const refuse = (why: string) => new InstallError(`The repository ${shownRepository(repo)} ${why}.`);
  if (url.protocol === 'file:' && !allowPrivateNetwork)
    throw refuse('is a folder of this machine, which is not read while ALLOW_PRIVATE_NETWORK is off');
  if (url.protocol === 'ssh:' && !trust.isOwnMachine)
    throw refuse('is an ssh address, but a hub has no ssh keys: use the https address of the repository');
  if (url.protocol === 'file:') return { address: url.href, access: publicAccess };
  if (url.protocol === 'ssh:') return { address: repo.replace(/^git\+/i, ''), access: ownAccess };
  await vetHost(url.href, context, `The repository ${shownRepository(repo)}`);
  const usesConfiguration = mayUseCredentials(trust, url.host, url.pathname);
  return { address: url.href, access: trust.isOwnMachine ? ownAccess : { usesConfiguration, isGuarded: true } };
}

const ownAccess: GitAccess = { usesConfiguration: true, isGuarded: false };
