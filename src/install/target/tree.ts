// Digests of texts, files and whole folders, and links in folders that lead out.
import { createHash, hash as hashOf } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { lstat, readdir, readlink, realpath } from 'node:fs/promises';
import { dirname, isAbsolute, join, relative, resolve, sep } from 'node:path';

export function textDigest(text: string | Buffer): string {
  return `sha256:${hashOf('sha256', text)}`;
}

export async function fileDigest(path: string): Promise<string> {
  const hash = createHash('sha256');
  for await (const chunk of createReadStream(path)) hash.update(chunk);
  return `sha256:${hash.digest('hex')}`;
}

/** Of names, contents, links as they are written, and executable bits. Files and folders with names in `skip` do not count. */
export async function treeDigest(folder: string, skip: readonly string[] = []): Promise<string> {
  const hash = createHash('sha256');
  async function add(relativePath: string): Promise<void> {
    const names = await readdir(join(folder, relativePath), { encoding: 'buffer' });
    for (const name of names.sort(Buffer.compare).map(String)) {
      const path = relativePath === '' ? name : `${relativePath}/${name}`;
      if (skip.includes(name)) continue;
      const whole = join(folder, path);
      const found = await lstat(whole);
      const note = (kind: string, content = '') => hash.update(`${kind} ${JSON.stringify(path)}${content}\n`);
      if (found.isDirectory()) {
        note('folder');
        await add(path);
      } else if (found.isSymbolicLink()) note('link', ` ${JSON.stringify(await readlink(whole))}`);
      else if (found.isFile()) note(found.mode & 0o100 ? 'program' : 'file', ` ${await fileDigest(whole)}`);
      else note('other');
    }
  }
  await add('');
  return `sha256:${hash.digest('hex')}`;
}

/** The first link that leads out of the folder, or into the `.git` of a repository in it. */
export async function findStrayLink(folder: string): Promise<{ path: string; leads: 'out' | 'into .git' } | undefined> {
  for (const entry of await readdir(folder, { recursive: true, withFileTypes: true })) {
    if (!entry.isSymbolicLink()) continue;
    const link = join(entry.parentPath, entry.name);
    const path = relative(folder, link);
    const target = await readlink(link);
    const end = await realpath(link).catch(() => danglingEnd(link, target));
    const below = end && relative(folder, end);
    if (isAbsolute(target) || below === undefined || /^\.\.($|[/\\])/.test(below)) return { path, leads: 'out' };
    if (below.toLowerCase().split(sep).includes('.git')) return { path, leads: 'into .git' };
  }
  return undefined;
}

/** Undefined when nobody can say: behind a name that is a link itself, `..` leads up from where that link leads to. */
function danglingEnd(link: string, target: string): string | undefined {
  const names = target.replace(/^(\.{0,2}\/)+/, '').split('/');
  return names.includes('..') ? undefined : resolve(dirname(link), target);
}
