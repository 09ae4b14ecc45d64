// Where a repository really is: redirects are followed by requests that check every address.
import { FetchError } from '../../lib/fetch-error.ts';
import { trimEndSigns } from '../../lib/trim-signs.ts';
import { type InstallContext, InstallError } from './artifact-installer.ts';
import { assertAllowed, readRepository, shownRepository } from './git-address.ts';
import { heldTo } from './git-command.ts';

export interface FoundRepository {
  address: string;
  /** Settings for git that hold it to what was checked. */
  settings: string[];
}

const REFS_TIMEOUT_MS = 30_000;
const MOST_REFS_BYTES = 50_000_000;

/** git itself would go wherever it is sent. @throws InstallError */
export async function findRepository(repo: string, context: InstallContext): Promise<FoundRepository> {
  const url = readRepository(repo);
  if (!url) throw new InstallError(`'${repo.slice(0, 120)}' is no address of a repository.`);
  assertAllowed(url, context.allowPrivateNetwork);
  if (url.protocol === 'file:') return { address: url.href, settings: [] };
  try {
    const address = await followRedirects(url, repo, context);
    return { address, settings: heldTo(new URL(address), await context.vetAddress(address)) };
  } catch (error) {
    if (error instanceof FetchError)
      throw new InstallError(`The repository ${shownRepository(repo)} ${error.message}.`, { cause: error });
    throw error;
  }
}

async function followRedirects(url: URL, repo: string, context: InstallContext): Promise<string> {
  const { status, url: found } = await context.fetch({
    url: `${trimEndSigns(url.href, '/')}/info/refs?service=git-upload-pack`,
    headers: { 'git-protocol': 'version=2' },
    maxBytes: MOST_REFS_BYTES,
    timeoutMs: REFS_TIMEOUT_MS,
    signal: context.signal,
  });
  if (status !== 200) throw notFound(repo, status);
  return withCredentials(new URL(found.replace(/\/info\/refs(\?.*)?$/, '')), url);
}

/** Credentials are for the host they were written for. */
function withCredentials(found: URL, asked: URL): string {
  if (found.origin !== asked.origin) return found.href;
  found.username = asked.username;
  found.password = asked.password;
  return found.href;
}

function notFound(repo: string, status: number): InstallError {
  const shown = shownRepository(repo);
  if ([401, 403, 404, 410].includes(status))
    return new InstallError(`There is no repository at ${shown}, or it is not public (status ${status}).`);
  return new InstallError(`The host of the repository ${shown} answered with status ${status}.`);
}
