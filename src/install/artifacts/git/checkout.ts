// Checks a commit out into an empty folder, with its submodules when they are wanted, with the same result every time.
import { mkdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { pathInside } from '../../../lib/path-inside.ts';
import { InstallError } from '../../errors.ts';
import type { ArtifactContext } from '../artifact.ts';
import { accessFault, readRepository, repositoryFault, shownRepository } from './address.ts';
import type { ByteBudget } from './bytes.ts';
import { type Git, gitIn } from './command.ts';
import { fetchCommit } from './fetch.ts';
import { findRepository } from './repository.ts';
import type { UnfoldBudget } from './size.ts';

export interface Checkout {
  folder: string;
  repo: string;
  /** Where the commit was found, for hosts that do not give out commits by their id. */
  ref: string;
  commit: string;
  submodules: boolean;
  /** What the hosts of the repository and its submodules may send. */
  received: ByteBudget;
  /** What all of them may unfold to. */
  unfolded: UnfoldBudget;
}

const DEEPEST = 5;
const MOST_LISTED_BYTES = 40_000_000;

/** @throws InstallError */
export async function checkOut(checkout: Checkout, context: ArtifactContext, depth = 1): Promise<void> {
  const { folder, repo, ref, commit, submodules, received, unfolded } = checkout;
  const found = await findRepository(repo, context);
  await mkdir(folder, { recursive: true });
  const git = gitIn(folder, context, found.access);
  await git.do('init', '--quiet', '--template=', '--initial-branch=main', ...objectFormat(commit));
  await received.spend(join(folder, '.git'), context.signal, (signal) =>
    fetchCommit(gitIn(folder, { ...context, signal }, found.access), { ...found, repo, ref }, commit),
  );
  await unfolded.spend(git, commit);
  await git.do('checkout', '--quiet', '--force', '--detach', commit);
  await makeReproducible(git, checkout);
  if (submodules) await checkOutSubmodules(git, { ...checkout, repo: found.address }, context, depth);
}

function objectFormat(commit: string): string[] {
  return commit.length === 64 ? ['--object-format=sha256'] : [];
}

/** Each is a checkout like any other, so every address is checked before git goes there. */
async function checkOutSubmodules(
  git: Git,
  checkout: Checkout,
  context: ArtifactContext,
  depth: number,
): Promise<void> {
  const { folder, repo, unfolded } = checkout;
  const links = await listLinks(git, checkout.commit);
  if (links.length === 0) return;
  if (depth > DEEPEST) throw new InstallError(`Submodules are nested deeper than ${DEEPEST} levels.`);
  unfolded.spendSubmodules(links.length);
  const addresses = await readModules(git);
  for (const { path, commit } of links) {
    const url = absoluteAddress(addresses.get(path) ?? '', repo);
    const fault = submoduleFault(url, repo, context);
    if (fault) throw new InstallError(`The address of the submodule '${path.slice(0, 120)}' ${fault}.`);
    const place = await pathInside(folder, path);
    await checkOut({ ...checkout, folder: place, repo: url, ref: commit, commit }, context, depth + 1);
  }
}

function absoluteAddress(written: string, repo: string): string {
  if (!/^\.\.?\//.test(written)) return written;
  const base = readRepository(repo)?.href.replace(/\/+$/, '');
  return new URL(written, `${base}/`).href;
}

function submoduleFault(address: string, repo: string, context: ArtifactContext): string | undefined {
  const url = readRepository(address);
  const fault = repositoryFault(address) ?? (url && accessFault(url, context));
  if (fault) return fault;
  // A repository of the web has no business in folders of this machine.
  const isLocal = url?.protocol === 'file:' && readRepository(repo)?.protocol !== 'file:';
  return isLocal ? 'is a folder of this machine, and the repository is from the web' : undefined;
}

async function listLinks(git: Git, commit: string): Promise<{ path: string; commit: string }[]> {
  const list = (await git.list({ mostBytes: MOST_LISTED_BYTES }, 'ls-tree', '-r', '-z', commit)) ?? '';
  return list.split('\0').flatMap((line) => {
    const [, linked, path] = /^160000 commit ([0-9a-f]+)\t(.+)$/s.exec(line) ?? [];
    return linked && path ? [{ path, commit: linked }] : [];
  });
}

async function readModules(git: Git): Promise<Map<string, string>> {
  const { exitCode, stdout } = await git.try('config', '--file', '.gitmodules', '--null', '--list');
  const modules = new Map<string, { path?: string; url?: string }>();
  for (const line of exitCode === 0 ? stdout.split('\0') : []) {
    const [, name, key, value] = /^submodule\.(.+)\.(path|url)\n(.*)$/s.exec(line) ?? [];
    if (name && key) modules.set(name, { ...modules.get(name), [key]: value });
  }
  return new Map([...modules.values()].flatMap(({ path, url }) => (path && url ? [[path, url] as const] : [])));
}

/** Removes what differs between two fetches of the same commit: times in the index, and how it came. */
async function makeReproducible(git: Git, { folder, repo, commit }: Checkout): Promise<void> {
  const inside = (name: string) => join(folder, '.git', name);
  await git.do('config', '--local', 'remote.origin.url', shownRepository(repo));
  const fleeting = ['index', 'FETCH_HEAD', 'ORIG_HEAD', 'logs', 'branches'];
  await Promise.all(fleeting.map((name) => rm(inside(name), { recursive: true, force: true })));
  await git.do('read-tree', commit);
  const head = await readFile(inside('HEAD'), 'utf8');
  if (head.trim() !== commit)
    throw new InstallError('git did not leave the repository at the commit that was fetched.');
}
