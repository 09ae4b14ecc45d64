// Digests of texts, files and whole folders, and links that lead out of a folder.
import { createHash, hash as hashOf } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { lstat, readdir, readFile, readlink, realpath } from 'node:fs/promises';
import { dirname, isAbsolute, join, posix, relative, resolve, sep } from 'node:path';

const READ_TOGETHER = 32;
/** Smaller files are read in one call, which is several times faster than a stream. */
const SMALL_BYTES = 100_000;

export function textDigest(text: string | Buffer): string {
  return `sha256:${hashOf('sha256', text)}`;
}

export async function fileDigest(path: string): Promise<string> {
  const hash = createHash('sha256');
  for await (const chunk of createReadStream(path)) hash.update(chunk);
  return `sha256:${hash.digest('hex')}`;
}

/** Covers names, contents, link targets and executable bits. Skips files and folders with names in `skip`. */
export async function treeDigest(folder: string, skip: readonly string[] = []): Promise<string> {
  const hash = createHash('sha256');
  async function add(inside: string): Promise<void> {
    const names = (await readdir(join(folder, inside), { encoding: 'buffer' })).sort(Buffer.compare).map(String);
    const paths = names.filter((name) => !skip.includes(name)).map((name) => posix.join(inside, name));
    for (let from = 0; from < paths.length; from += READ_TOGETHER) {
      const some = paths.slice(from, from + READ_TOGETHER);
      for (const [index, entry] of (await Promise.all(some.map((path) => describe(folder, path)))).entries()) {
        hash.update(`${entry}\n`);
        if (entry.startsWith('folder ')) await add(some[index] ?? '');
      }
    }
  }
  await add('');
  return `sha256:${hash.digest('hex')}`;
}

async function describe(folder: string, path: string): Promise<string> {
  const [whole, shown] = [join(folder, path), JSON.stringify(path)];
  const found = await lstat(whole);
  if (found.isDirectory()) return `folder ${shown}`;
  if (found.isSymbolicLink()) return `link ${shown} ${JSON.stringify(await readlink(whole))}`;
  if (!found.isFile()) return `other ${shown}`;
  const digest = found.size < SMALL_BYTES ? textDigest(await readFile(whole)) : await fileDigest(whole);
  return `${found.mode & 0o100 ? 'program' : 'file'} ${shown} ${digest}`;
}

/** The first link that leads out of the folder, or into a repository's `.git` inside it. */
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

/** Returns undefined if the end is unknown: after a name that is a link, `..` leads to the parent of the link's target. */
function danglingEnd(link: string, target: string): string | undefined {
  const names = target.replace(/^(\.{0,2}\/)+/, '').split('/');
  return names.includes('..') ? undefined : resolve(dirname(link), target);
}
