// A commit in a folder of its own, with its submodules when they are asked for, the same every time.
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { allEnded } from '../../lib/all-ended.ts';
import { pathInside } from '../../lib/path-inside.ts';
import { type InstallContext, InstallError } from './artifact-installer.ts';
import { MARK } from './destination.ts';
import { readRepository, repositoryFault, shownRepository } from './git-address.ts';
import type { ByteBudget } from './git-bytes.ts';
import { type Git, gitIn } from './git-command.ts';
import { fetchCommit } from './git-fetch.ts';
import { findRepository } from './git-repository.ts';
import { createUnfoldBudget, UNFOLD_LIMITS, type UnfoldBudget } from './git-size.ts';

export interface Checkout {
  folder: string;
  repo: string;
  ref: string;
  submodules: boolean;
  budget: ByteBudget;
  /** Made anew for a repository that is nobody's submodule. */
  unfolded?: UnfoldBudget;
}

const DEEPEST = 5;
const MOST_LISTED_BYTES = 40_000_000;

/** Answers with the commit. @throws InstallError */
export async function checkOut(checkout: Checkout, context: InstallContext, depth = 1): Promise<string> {
  const { folder, repo, ref, submodules, budget, unfolded = createUnfoldBudget(UNFOLD_LIMITS) } = checkout;
  const { address, settings } = await findRepository(repo, context);
  await mkdir(folder, { recursive: true });
  const git = gitIn(folder, context, settings);
  await git.do('init', '--quiet', '--template=', '--initial-branch=main');
  const commit = await budget.spend(folder, context.signal, (signal) =>
    fetchCommit(gitIn(folder, { ...context, signal }, settings), { repo, address, ref }),
  );
  await unfolded.spend(git, commit);
  await git.do('checkout', '--quiet', '--force', '--detach', commit);
  await makeReproducible(git, { folder, repo, commit });
  if (submodules) await checkOutSubmodules(git, { ...checkout, repo: address, ref: commit, unfolded }, context, depth);
  return commit;
}

/** Each as a checkout like any other, so that every address is checked before git goes there. */
async function checkOutSubmodules(
  git: Git,
  checkout: Required<Checkout>,
  context: InstallContext,
  depth: number,
): Promise<void> {
  const { folder, repo, ref: commit, budget, unfolded } = checkout;
  const links = await listLinks(git, commit);
  if (links.length === 0) return;
  if (depth > DEEPEST) throw new InstallError(`Submodules are nested deeper than ${DEEPEST} levels.`);
  unfolded.spendSubmodules(links.length);
  const addresses = await readModules(git);
  for (const { path, commit: wanted } of links) {
    const written = addresses.get(path) ?? '';
    const url = /^\.\.?\//.test(written) ? new URL(written, `${repo.replace(/\/+$/, '')}/`).href : written;
    const fault = repositoryFault(url) ?? submoduleFault(url, repo);
    if (fault) throw new InstallError(`The address of the submodule '${path.slice(0, 120)}' ${fault}.`);
    const place = await pathInside(folder, path);
    await checkOut({ folder: place, repo: url, ref: wanted, submodules: true, budget, unfolded }, context, depth + 1);
  }
}

/** Whoever publishes a repository on the web has no business in folders of this machine. */
function submoduleFault(url: string, repo: string): string | undefined {
  const isLocal = (address: string) => readRepository(address)?.protocol === 'file:';
  return isLocal(url) && !isLocal(repo) ? 'is a folder of this machine, and the repository is from the web' : undefined;
}

async function listLinks(git: Git, commit: string): Promise<{ path: string; commit: string }[]> {
  const list = await git.list(MOST_LISTED_BYTES, 'ls-tree', '-r', '-z', commit);
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

interface MadeCheckout {
  folder: string;
  repo: string;
  commit: string;
}

/** Without what differs from one fetch to the next although the same was fetched: times in the index, and how it came. */
async function makeReproducible(git: Git, { folder, repo, commit }: MadeCheckout): Promise<void> {
  const inside = (...names: string[]) => join(folder, '.git', ...names);
  await git.do('config', '--local', 'remote.origin.url', shownRepository(repo));
  await mkdir(inside('info'), { recursive: true });
  // The mark of an install is no change of the repository.
  await writeFile(inside('info', 'exclude'), `${MARK}\n`);
  const fleeting = ['index', 'FETCH_HEAD', 'ORIG_HEAD', 'logs', 'branches'];
  await allEnded(fleeting.map((name) => rm(inside(name), { recursive: true, force: true })));
  await git.do('read-tree', commit);
  const head = await readFile(inside('HEAD'), 'utf8');
  if (head.trim() !== commit)
    throw new InstallError('git did not leave the repository at the commit that was fetched.');
}
