// Checks one commit out into an empty folder, with its submodules when they are wanted, and within limits.
import { lstat, mkdir, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { InstallError } from '../../errors.ts';
import { pathInside } from '../../target/files.ts';
import type { ArtifactContext } from '../artifact.ts';
import { type Git, gitIn, publicAccess } from './command.ts';
import { accessFault, findRepository, readRepository, repositoryFault, shownRepository } from './repository.ts';

export interface Checkout {
  folder: string;
  repo: string;
  commit: string;
  submodules: boolean;
  budget: GitBudget;
}

const DEEPEST = 5;
const COMMIT = /^(?:[0-9a-f]{40}|[0-9a-f]{64})$/;

export function isCommit(text: string): boolean {
  return COMMIT.test(text);
}

/** The full id of the commit that a branch, a tag or `HEAD` means now. @throws InstallError */
export async function findCommit(repo: string, ref: string, context: ArtifactContext): Promise<string> {
  if (isCommit(ref)) return ref;
  const { address, access } = await findRepository(repo, context);
  const git = gitIn(context.stagingDir, context, access);
  // As git itself reads short names: tags before branches. What an annotated tag points to is listed with `^{}`.
  const names = ['', 'refs/', 'refs/tags/', 'refs/heads/'].flatMap((start) => [`${start}${ref}^{}`, `${start}${ref}`]);
  const { exitCode, stdout, stderr } = await git.try('ls-remote', '--quiet', '--', address, ...names);
  if (exitCode !== 0) throw notFetched(git, repo, stderr);
  const listed = new Map(stdout.split('\n').map((line) => line.split('\t').reverse() as [string, string]));
  const commit = names.map((name) => listed.get(name)).find((id) => id && isCommit(id));
  if (commit) return commit;
  throw unknownRef(repo, ref);
}

/** @throws InstallError */
export async function checkOut(checkout: Checkout, context: ArtifactContext, depth = 1): Promise<void> {
  const { folder, repo, commit, submodules, budget } = checkout;
  const { address, access } = await findRepository(repo, context);
  await mkdir(folder, { recursive: true });
  // The filters of an operator's configuration are not for repositories of others.
  const git = gitIn(folder, context, context.trust.isOwnMachine ? access : publicAccess);
  const objectFormat = commit.length === 64 ? ['--object-format=sha256'] : [];
  await git.do('init', '--quiet', '--template=', '--initial-branch=main', ...objectFormat);
  await git.do('config', '--local', 'remote.origin.url', shownRepository(repo));
  await budget.receive(join(folder, '.git'), context.signal, (signal) =>
    fetchCommit(gitIn(folder, { ...context, signal }, access), { repo, address, commit }),
  );
  const { links, ...size } = await listTree(git, commit);
  budget.unfold({ ...size, submodules: submodules ? links.length : 0 });
  await git.do('checkout', '--quiet', '--force', '--detach', commit);
  if (!submodules || links.length === 0) return;
  if (depth > DEEPEST) throw new InstallError(`Submodules are nested deeper than ${DEEPEST} levels.`);
  const addresses = await readModules(git);
  for (const link of links) {
    const url = submoduleAddress(link.path, addresses.get(link.path) ?? '', address, context);
    const place = await pathInside(folder, link.path);
    await checkOut({ ...checkout, folder: place, repo: url, commit: link.commit }, context, depth + 1);
  }
}

/** With as little of its history as the host allows. @throws InstallError */
async function fetchCommit(git: Git, wanted: { repo: string; address: string; commit: string }): Promise<void> {
  const { repo, address, commit } = wanted;
  const byId = await git.try('fetch', '--quiet', '--no-tags', '--depth', '1', '--', address, commit);
  if (byId.exitCode === 0) return;
  const isRefused = /couldn't find remote ref|not our ref|unadvertised object|shallow capabilities/i.test(byId.stderr);
  if (!isRefused) throw notFetched(git, repo, byId.stderr);
  // Some hosts give out only what has a name.
  const refs = ['+refs/heads/*:refs/remotes/origin/*', '+refs/tags/*:refs/tags/*'];
  const all = await git.try('fetch', '--quiet', '--no-tags', '--', address, ...refs);
  if (all.exitCode !== 0) throw notFetched(git, repo, all.stderr);
  const found = await git.try('rev-parse', '--verify', '--quiet', `${commit}^{commit}`);
  if (found.exitCode !== 0) throw unknownRef(repo, commit);
}

interface Tree {
  files: number;
  bytes: number;
  /** Submodules. */
  links: { path: string; commit: string }[];
}

async function listTree(git: Git, commit: string): Promise<Tree> {
  const tree: Tree = { files: 0, bytes: 0, links: [] };
  for (const line of (await git.do('ls-tree', '-r', '-z', '-l', commit)).split('\0')) {
    const [, type, id = '', size, path = ''] = /^\d+ (\w+) (\w+) +(\S+)\t(.*)$/s.exec(line) ?? [];
    // Most programs cannot open files with such names, and no digest of them can be made.
    if (path.includes('\ufffd')) throw new InstallError(`The repository holds a name that is not UTF-8: '${path}'.`);
    if (type === 'commit') tree.links.push({ path, commit: id });
    else if (type) {
      tree.files += 1;
      tree.bytes += Number(size);
    }
  }
  return tree;
}

/** Addresses of submodules by their paths. */
async function readModules(git: Git): Promise<Map<string, string>> {
  const { exitCode, stdout } = await git.try('config', '--file', '.gitmodules', '--null', '--list');
  const modules = new Map<string, { path?: string; url?: string }>();
  for (const line of exitCode === 0 ? stdout.split('\0') : []) {
    const [, name, key, value] = /^submodule\.(.+)\.(path|url)\n(.*)$/s.exec(line) ?? [];
    if (name && key) modules.set(name, { ...modules.get(name), [key]: value });
  }
  return new Map([...modules.values()].flatMap(({ path, url }) => (path && url ? [[path, url] as const] : [])));
}

/** Every address is checked before git goes there. @throws InstallError */
function submoduleAddress(path: string, written: string, parent: string, context: ArtifactContext): string {
  const isRelative = /^\.\.?\//.test(written);
  const base = readRepository(parent);
  const address = isRelative ? new URL(written, `${base?.href.replace(/\/+$/, '')}/`).href : written;
  const url = readRepository(address);
  const isForeignFolder = url?.protocol === 'file:' && base?.protocol !== 'file:';
  const fault =
    repositoryFault(address) ??
    (isForeignFolder ? 'is a folder of this machine, and the repository is from the web' : undefined) ??
    (url && accessFault(url, context));
  if (fault) throw new InstallError(`The address of the submodule '${path.slice(0, 120)}' ${fault}.`);
  return address;
}

function unknownRef(repo: string, ref: string): InstallError {
  const shown = shownRepository(repo);
  if (ref === 'HEAD') return new InstallError(`There is no repository at ${shown}, or an empty one.`);
  const advice = /^[0-9a-f]{7,39}$/.test(ref) ? ' If it is a shortened commit, use the full one.' : '';
  return new InstallError(`The repository ${shown} has no branch, tag or commit '${ref}'.${advice}`);
}

function notFetched(git: Git, repo: string, stderr: string): InstallError {
  return git.failure(`The repository ${shownRepository(repo)} could not be fetched`, stderr);
}

export interface GitLimits {
  /** What hosts may send. */
  mostReceivedBytes: number;
  /** A small repository can hold the same folder a million times over. */
  mostFiles: number;
  mostBytes: number;
  mostSubmodules: number;
}

export const GIT_LIMITS: GitLimits = {
  mostReceivedBytes: 2_000_000_000,
  mostFiles: 200_000,
  mostBytes: 4_000_000_000,
  mostSubmodules: 100,
};

export interface GitBudget {
  /** Stops `fetch` by its signal when more arrives in the git directory than is left. @throws InstallError */
  receive(gitDir: string, signal: AbortSignal, fetch: (signal: AbortSignal) => Promise<void>): Promise<void>;
  /** Counts what a commit unfolds to. @throws InstallError before anything of it is checked out. */
  unfold(added: { files: number; bytes: number; submodules: number }): void;
}

const LOOK_EVERY_MS = 200;

export function createGitBudget(limits: GitLimits): GitBudget {
  const { mostReceivedBytes, mostFiles, mostBytes, mostSubmodules } = limits;
  let [received, files, bytes, submodules] = [0, 0, 0, 0];

  return {
    // git has no such limit, so what it writes is watched.
    async receive(gitDir, signal, fetch) {
      const stopping = new AbortController();
      const look = async () => {
        const total = received + (await bytesIn(join(gitDir, 'objects')));
        if (total > mostReceivedBytes) stopping.abort();
        return total;
      };
      const timer = setInterval(() => void look(), LOOK_EVERY_MS);
      try {
        await fetch(AbortSignal.any([signal, stopping.signal]));
        // A fast host may have sent everything between two looks.
        received = await look();
        stopping.signal.throwIfAborted();
      } catch (error) {
        throw stopping.signal.aborted && !signal.aborted ? receivedTooMuch(mostReceivedBytes) : error;
      } finally {
        clearInterval(timer);
      }
    },
    unfold(added) {
      files += added.files;
      bytes += added.bytes;
      submodules += added.submodules;
      if (files > mostFiles) throw tooLarge(`more than ${mostFiles} files`);
      if (bytes > mostBytes) throw tooLarge(`${bytes} bytes`);
      if (submodules > mostSubmodules) throw tooLarge(`more than ${mostSubmodules} submodules`);
    },
  };
}

/** Files come and go while git writes. */
async function bytesIn(folder: string): Promise<number> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true }).catch(() => []);
  const files = entries.filter((entry) => entry.isFile()).map(({ parentPath, name }) => join(parentPath, name));
  const sizes = await Promise.all(
    files.map((file) =>
      lstat(file).then(
        ({ size }) => size,
        () => 0,
      ),
    ),
  );
  return sizes.reduce((sum, size) => sum + size, 0);
}

function receivedTooMuch(mostBytes: number): InstallError {
  return new InstallError(
    `The repository was not fetched completely: its host sent more than ${mostBytes} bytes, the most that an install accepts. Name a smaller repository, or publish what is needed as an archive.`,
  );
}

function tooLarge(what: string): InstallError {
  return new InstallError(
    `The repository and its submodules would unfold to ${what}, which is more than an install accepts.`,
  );
}
