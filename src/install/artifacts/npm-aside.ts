// Folders of packages that are moved out of npm's way, until it has fetched others.
import { randomUUID } from 'node:crypto';
import { lstat, rename } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { holdFolderInside } from '../../lib/files.ts';
import { pathInside } from '../../lib/path-inside.ts';
import type { InstallContext } from './artifact-installer.ts';
import { removeHeld } from './remove-held.ts';

export interface Aside {
  /** Where nothing came in its place. */
  putBack(): Promise<void>;
  remove(): Promise<void>;
}

interface Moved {
  path: string;
  name: string;
  /** Whether it is beside where it was, and not in the folder for what is not finished. */
  isBeside: boolean;
}

/** @throws PathError, with everything where it was */
export async function setAside(
  paths: readonly string[],
  { targetDir, scratchDir }: Pick<InstallContext, 'targetDir' | 'scratchDir'>,
): Promise<Aside> {
  const moved: Moved[] = [];
  const remove = async () => {
    // Neither npm nor Node takes what begins with a dot for a package: it is not worth failing for.
    for (const { path, name, isBeside } of moved)
      if (isBeside) await removeHeld(targetDir, `${dirname(path)}/${name}`).catch(() => {});
  };
  const putBack = async () => {
    for (const { path, name, isBeside } of moved)
      await inParent(path, targetDir, (parent) =>
        rename(join(isBeside ? parent : scratchDir, name), join(parent, basename(path))),
      ).catch(() => {});
    await remove();
  };
  try {
    for (const path of paths) {
      if (!(await isThere(path, targetDir))) continue;
      const name = `.hub-${randomUUID()}`;
      await inParent(path, targetDir, async (parent) => {
        const place = join(parent, basename(path));
        const isBeside = await rename(place, join(scratchDir, name)).then(
          () => false,
          async (error: NodeJS.ErrnoException) => {
            if (error.code !== 'EXDEV') throw error;
            // Part of the target is on another filesystem.
            await rename(place, join(parent, name));
            return true;
          },
        );
        moved.push({ path, name, isBeside });
      });
    }
  } catch (error) {
    await putBack();
    throw error;
  }
  return { putBack, remove };
}

/** Not any more, when the folder that it is in was moved before. @throws PathError */
async function isThere(path: string, targetDir: string): Promise<boolean> {
  const folder = await pathInside(targetDir, dirname(path));
  return lstat(join(folder, basename(path))).then(
    () => true,
    () => false,
  );
}

async function inParent(path: string, targetDir: string, work: (parent: string) => Promise<void>): Promise<void> {
  const parent = await holdFolderInside(targetDir, dirname(path));
  await work(parent.place).finally(parent.close);
}
