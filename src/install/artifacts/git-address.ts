// Which repositories are fetched, under which address, and where they go.
import { shownAddress } from '../../lib/secret-address.ts';
import { LONGEST_ADDRESS } from './archive-install.ts';
import { InstallError } from './artifact-installer.ts';

/** `ext::` runs commands, and ssh would use the keys of whoever runs the hub. */
const SCHEMES = ['https:', 'http:', 'file:'];

/** What keeps a text from being the address of a repository, as the end of a sentence. */
export function repositoryFault(repo: string): string | undefined {
  if (repo === '') return 'must not be empty';
  if (repo.length > LONGEST_ADDRESS) return `must not be longer than ${LONGEST_ADDRESS} characters`;
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
  if (/[\u0000-\u0020\u007f]/u.test(repo)) return 'must not hold blanks or control characters';
  if (repo.startsWith('-')) return "must not begin with '-', which git would read as an option";
  if (/^[\w.-]+@[\w.-]+:(?!\/\/)/.test(repo) || /^(git\+)?ssh:/i.test(repo))
    return 'is an ssh address, for which the hub has no keys: use the https address of the repository';
  const url = readRepository(repo);
  if (!url) return 'must be an https or http address';
  if (!SCHEMES.includes(url.protocol)) return `has the scheme '${url.protocol}', and git fetches by https or http only`;
  return undefined;
}

/** `git+https://…` is how package managers write it; a path is a `file:` address. */
export function readRepository(repo: string): URL | undefined {
  const plain = repo.replace(/^git\+/i, '');
  if (plain.startsWith('/')) return new URL(`file://${encodeURI(plain)}`);
  // What git takes for the name of a helper before an address; in addresses of IPv6 the same signs are within brackets.
  const isForHelper = /^[^/[]*::/.test(plain);
  return URL.canParse(plain) && !isForHelper ? new URL(plain) : undefined;
}

/** What keeps a text from being a branch, a tag or a commit, as the end of a sentence. */
export function refFault(ref: string): string | undefined {
  if (ref === '') return 'must not be empty';
  if (ref.length > 250) return 'must not be longer than 250 characters';
  if (/^[-+]/.test(ref)) return "must not begin with '-' or '+'";
  // What git itself refuses in names; each of them would mean something else than a name.
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
  if (/[\u0000-\u0020\u007f~^:?*[\\]|\.\.|@\{|\/\/|\.lock$|\/$|^\//u.test(ref))
    return 'is no name of a branch, tag or commit';
  return undefined;
}

/** Without credentials, for people and for files. */
export function shownRepository(repo: string): string {
  const url = readRepository(repo);
  if (!url) return repo;
  return url.protocol === 'file:' ? decodeURI(url.pathname) : shownAddress(url.href);
}

export function assertAllowed(url: URL, allowPrivateNetwork: boolean): void {
  if (url.protocol === 'file:' && !allowPrivateNetwork)
    throw new InstallError(
      'The repository is a folder of this machine, which is not read while ALLOW_PRIVATE_NETWORK is off.',
    );
}
