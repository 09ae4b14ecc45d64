// The folders of one step for what is not finished yet: one in the target, held open, so that nothing goes astray when its path is
// made to lead elsewhere; and one that nobody else can reach, for programs.
import { randomUUID } from 'node:crypto';
import { realpath } from 'node:fs/promises';
import { join } from 'node:path';
import { holdFolderInside } from '../../lib/files.ts';
import { removeBelow } from '../../lib/held-folder.ts';
import { PathError, pathInside } from '../../lib/path-inside.ts';
import { HUB_FOLDER } from '../places.ts';
import { InstallError } from './artifact-installer.ts';
import { makeWorkFolder, removeWorkFolder } from './own-folder.ts';

export interface Scratch {
  /** For the hub itself: a program that asks where it is gets a path like any other. */
  readonly dir: string;
  /** For programs. */
  readonly workDir: string;
  /** Why what was done in it may be somewhere else now; undefined when the folder is still where it was made. */
  fault(): Promise<InstallError | undefined>;
  remove(): Promise<void>;
}

/** @throws PathError */
export async function makeScratch(targetDir: string): Promise<Scratch> {
  const name = `scratch-${randomUUID()}`;
  const path = `${HUB_FOLDER}/${name}`;
  const workDir = await makeWorkFolder(targetDir);
  const hubFolder = await holdFolderInside(targetDir, HUB_FOLDER).catch(async (error: unknown) => {
    await removeWorkFolder(workDir);
    throw error;
  });
  const held = await holdFolderInside(targetDir, path).catch(async (error: unknown) => {
    await Promise.all([removeWorkFolder(workDir), hubFolder.close()]);
    throw error;
  });
  const whole = join(targetDir, path);
  return {
    dir: held.place,
    workDir,
    fault: async () => ((await held.isAt(whole)) ? undefined : whatIsInTheWay(targetDir, path)),
    async remove() {
      try {
        await Promise.all([removeWorkFolder(workDir), held.close()]);
        await removeBelow(hubFolder, name);
      } finally {
        await hubFolder.close();
      }
    },
  };
}

async function whatIsInTheWay(targetDir: string, path: string): Promise<InstallError> {
  const isMoved = (await realpath(targetDir).catch(() => targetDir)) !== targetDir;
  if (isMoved)
    return new InstallError('The target was replaced by a link while the install ran: links are not followed.');
  const cause = await pathInside(targetDir, path).catch((error: unknown) => error);
  const what = cause instanceof PathError ? 'replaced by a link or a file' : 'moved or replaced';
  return new InstallError(
    `${HUB_FOLDER} in the target was ${what} while the install ran: remove it and install again.`,
    {
      cause,
    },
  );
}
