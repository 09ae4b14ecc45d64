// Where a repository really is, and with which credentials git may go there.
import { FetchError } from '../../../lib/fetch-error.ts';
import { trimEndSigns } from '../../../lib/trim-signs.ts';
import { InstallError } from '../../errors.ts';
import type { ArtifactContext } from '../artifact.ts';
import { mayUseCredentials } from '../trusted-host.ts';
import { accessFault, readRepository, shownRepository } from './address.ts';
import { type GitAccess, gitIn, publicAccess } from './command.ts';

export interface FoundRepository {
  address: string;
  access: GitAccess;
}

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
  if (url.protocol === 'ssh:')
    return { address: repo.replace(/^git\+/i, ''), access: { kind: 'person', settings: await sshSettings(context) } };
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
    return { address: url.href, access: { kind: 'person', settings: [] } };
  }
  const { status, address } = await followRedirects(url, context);
  if (status === 200) return { address, access: { kind: 'public', settings: await heldTo(address, context) } };
  const isTrusted = mayUseCredentials(context.trust, url.host, url.pathname);
  if (!NOT_PUBLIC.includes(status) || !isTrusted) throw refusal(repo, status);
  const settings = await heldTo(url.href, context);
  const credentials = await operatorCredentials(context);
  return { address: url.href, access: { kind: 'operator', settings, credentials } };
}

/** git itself would go wherever it is sent, so the hub's own requests, which check every address, find the way. */
async function followRedirects(url: URL, { fetch, signal }: ArtifactContext) {
  const { status, url: found } = await fetch({
    url: `${trimEndSigns(url.href, '/')}/info/refs?service=git-upload-pack`,
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

/** What the operator's own configuration says about credentials; git itself picks what is for the host. */
async function operatorCredentials({ run, signal, stagingDir }: ArtifactContext) {
  const { stdout } = await run({
    program: 'git',
    args: ['config', '--null', '--get-regexp', '^credential\\.'],
    cwd: stagingDir,
    env: { GIT_CEILING_DIRECTORIES: stagingDir, LC_ALL: 'C' },
    timeoutMs: 20_000,
    signal,
  });
  return stdout
    .split('\0')
    .filter(Boolean)
    .map((entry) => entry.split(/\n(.*)/s, 2) as [string, string]);
}

/** The person's own ssh, which must not ask for anything. */
async function sshSettings(context: ArtifactContext): Promise<string[]> {
  const git = gitIn(context.stagingDir, context, { kind: 'person', settings: [] });
  const { stdout } = await git.try('config', '--get', 'core.sshCommand');
  return [`core.sshCommand=${stdout.trim() || 'ssh'} -o BatchMode=yes`];
}

function refusal(repo: string, status: number): InstallError {
  const shown = shownRepository(repo);
  if ([...NOT_PUBLIC, 410].includes(status))
    return new InstallError(
      `There is no repository at ${shown}, or it is not public (status ${status}). For private repositories, the operator names their host in INSTALL_CREDENTIALS_FOR.`,
    );
  return new InstallError(`The host of the repository ${shown} answered with status ${status}.`);
}
