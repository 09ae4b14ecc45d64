// Submodules, when a manifest asks for them: one level after the other, each address checked before git goes there.
import { join } from 'node:path';
import { FetchError } from '../../lib/fetch.ts';
import { relativePathFault } from '../../lib/files.ts';
import { type InstallContext, InstallError } from './artifact-installer.ts';
import { assertAllowed, readRepository, repositoryFault } from './git-address.ts';
import { gitIn } from './git-command.ts';

const DEEPEST = 5;
const MOST_SUBMODULES = 100;

export async function updateSubmodules(
  folder: string,
  address: string,
  context: InstallContext,
  depth = 1,
): Promise<void> {
  const git = gitIn(folder, context);
  const modules = await listModules(folder, context);
  if (modules.length === 0) return;
  if (depth > DEEPEST) throw new InstallError(`Submodules are nested deeper than ${DEEPEST} levels.`);
  if (modules.length > MOST_SUBMODULES) throw new InstallError(`There are more than ${MOST_SUBMODULES} submodules.`);
  await git.do('config', '--local', 'remote.origin.url', address);
  for (const { name, path, url } of modules) {
    const whole = await vettedAddress(url, address, context);
    // Set by hand, so that git uses the address that was checked.
    await git.do('config', '--local', `submodule.${name}.url`, whole);
    await git.do('config', '--local', `submodule.${name}.active`, 'true');
    await git.do('submodule', '--quiet', 'update', '--no-recommend-shallow', '--checkout', '--force', '--', path);
    await updateSubmodules(join(folder, path), whole, context, depth + 1);
  }
}

interface Submodule {
  name: string;
  path: string;
  url: string;
}

async function listModules(folder: string, context: InstallContext): Promise<Submodule[]> {
  const { exitCode, stdout } = await gitIn(folder, context).try('config', '--file', '.gitmodules', '--null', '--list');
  if (exitCode !== 0) return [];
  const found = new Map<string, Partial<Submodule>>();
  for (const line of stdout.split('\0')) {
    const [, name, key, value] = /^submodule\.(.+)\.(path|url)\n(.*)$/s.exec(line) ?? [];
    if (name && key) found.set(name, { ...found.get(name), [key]: value });
  }
  return [...found].map(([name, { path = '', url = '' }]) => {
    const fault = relativePathFault(path) ?? (/^-/.test(path) ? "must not begin with '-'" : undefined);
    if (fault) throw new InstallError(`The path of the submodule '${name.slice(0, 80)}' ${fault}.`);
    return { name, path, url };
  });
}

async function vettedAddress(url: string, base: string, context: InstallContext): Promise<string> {
  const whole = /^\.\.?\//.test(url) ? new URL(url, `${base.replace(/\/+$/, '')}/`).href : url;
  const fault = repositoryFault(whole);
  const address = readRepository(whole);
  if (fault || !address) throw new InstallError(`The address of the submodule '${url.slice(0, 120)}' ${fault}.`);
  assertAllowed(address, context.allowPrivateNetwork);
  if (address.protocol === 'file:') return address.href;
  try {
    await context.vetAddress(address.href);
  } catch (error) {
    if (error instanceof FetchError) throw new InstallError(`The submodule ${address.host} ${error.message}.`);
    throw error;
  }
  return address.href;
}
