// The folder of one step for what is not finished yet: held open, so that nothing goes astray when its path is made to lead elsewhere.
import { randomUUID } from 'node:crypto';
import { realpath } from 'node:fs/promises';
import { join } from 'node:path';
import { holdFolderInside } from '../../lib/files.ts';
import { placeForPrograms, removeBelow } from '../../lib/held-folder.ts';
import { PathError, pathInside } from '../../lib/path-inside.ts';
import type { Run } from '../../lib/world.ts';
import { HUB_FOLDER } from '../places.ts';
import { InstallError } from './artifact-installer.ts';

export interface Scratch {
  /** For the hub and for the programs that it starts. */
  readonly dir: string;
  /** As it was given, but what programs say of the folder is told by `dir`, which reports leave out. */
  readonly run: Run;
  /** Why what was done in it may be somewhere else now; undefined when the folder is still where it was made. */
  fault(): Promise<InstallError | undefined>;
  remove(): Promise<void>;
}

/** @throws PathError */
export async function makeScratch(targetDir: string, run: Run): Promise<Scratch> {
  const name = `scratch-${randomUUID()}`;
  const path = `${HUB_FOLDER}/${name}`;
  const hubFolder = await holdFolderInside(targetDir, HUB_FOLDER);
  const held = await holdFolderInside(targetDir, path).catch(async (error: unknown) => {
    await hubFolder.close();
    throw error;
  });
  const whole = join(targetDir, path);
  const dir = (await placeForPrograms(held)) ?? whole;
  return {
    dir,
    async run(request) {
      const result = await run(request);
      // Programs ask the system where they are.
      return { ...result, stderr: result.stderr.replaceAll(whole, dir) };
    },
    fault: async () => ((await held.isAt(whole)) ? undefined : whatIsInTheWay(targetDir, path)),
    async remove() {
      try {
        await held.close();
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
