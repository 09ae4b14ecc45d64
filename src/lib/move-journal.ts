// Files below a held folder replaced one by one: what was there is kept aside, and comes back when something fails.
import { chmod, link, lstat, mkdir, readdir, rename, rmdir, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import { absent } from './absent.ts';
import { allEndedOf } from './all-ended.ts';
import { type HeldFolder, holdBelow } from './held-folder.ts';
import { throughLink, unwritable } from './path-inside.ts';

type Held = Pick<HeldFolder, 'place'>;
type Open = Pick<HeldFolder, 'place' | 'close'>;

/** Folders are names below the root. Each is held while something is done in it, and no link on the way is followed. */
type Folder = readonly string[];

export interface MoveJournal {
  /** What is in a folder; nothing when there is none. @throws PathError */
  list(folder: Folder): Promise<string[]>;
  /** Puts files aside, and with `isWhole` folders too; what is not there is gone already. @throws PathError */
  take(folder: Folder, names: readonly string[], isWhole?: boolean): Promise<void>;
  /** Removes the folder when it is empty, and then those above it, as long as they are deeper than `depth`. */
  prune(folder: Folder, depth: number): Promise<void>;
  /** Moves files from the same folder below `from`; each replaces at once what is there. @throws PathError */
  put(from: Held, folder: Folder, names: readonly string[]): Promise<void>;
  /** Everything as it was; what somebody else has changed meanwhile may stay. */
  undo(): Promise<void>;
}

interface Move {
  folder: Folder;
  undo(held: Held): Promise<unknown>;
}

/** `aside` is on the same filesystem, and empty; `label` is the name of the root in sentences. */
export function createMoveJournal(root: Held, aside: Held, label: string): MoveJournal {
  const moves: Move[] = [];
  let kept = 0;

  /** Undefined when it is not there, unless it is made. */
  async function hold(folder: Folder, isMade = false): Promise<Open | undefined> {
    let held: Open | undefined = borrowed(root);
    for (const index of folder.keys())
      held = await (held && holdNext(held, folder.slice(0, index + 1), isMade).finally(held.close));
    return held;
  }

  async function holdNext(parent: Held, folder: Folder, isMade: boolean): Promise<Open | undefined> {
    const name = folder.at(-1) ?? '';
    const whole = join(parent.place, name);
    if (isMade && (await mkdir(whole).then(() => true, unlessThere)))
      moves.push({ folder: folder.slice(0, -1), undo: (held) => rmdir(join(held.place, name)) });
    try {
      return await holdBelow(parent, name);
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      if (code === 'ENOENT' && !isMade) return undefined;
      const isLink = code === 'ELOOP' || (await lstat(whole).catch(() => undefined))?.isSymbolicLink();
      const path = [label, ...folder].join('/');
      if (isLink) throw throughLink(path);
      throw code === 'ENOTDIR' ? unwritable(path, 'a file is where a folder should be') : error;
    }
  }

  const inFolder = async (folder: Folder, work: (held: Held) => Promise<unknown>) => {
    const held = await hold(folder);
    await (held && work(held).finally(held.close));
  };

  async function keep(folder: Folder, held: Held, name: string, isReplaced: boolean): Promise<void> {
    const [place, there] = [join(held.place, name), join(aside.place, String(kept++))];
    const move = () => rename(place, there);
    // Under both names until the new file takes the old one's: nobody finds nothing there.
    await (isReplaced ? link(place, there).catch(move) : move());
    moves.push({ folder, undo: (parent) => rename(there, join(parent.place, name)) });
  }

  function putAll(source: Held, held: Held, { folder, names }: { folder: Folder; names: readonly string[] }) {
    const putOne = async (name: string) => {
      const place = join(held.place, name);
      const found = await lstat(place).catch(absent);
      if (found?.isDirectory()) throw unwritable([label, ...folder, name].join('/'), 'it is a folder');
      if (found) await keep(folder, held, name, true);
      await rename(join(source.place, name), place);
      moves.push({ folder, undo: (parent) => unlink(join(parent.place, name)) });
    };
    return allEndedOf(names, putOne);
  }

  return {
    async list(folder) {
      const held = await hold(folder);
      return held ? readdir(held.place).finally(held.close) : [];
    },

    take: (folder, names, isWhole = false) =>
      inFolder(folder, (held) =>
        allEndedOf(names, async (name) => {
          const found = await lstat(join(held.place, name)).catch(absent);
          if (found && (isWhole || !found.isDirectory())) await keep(folder, held, name, false);
        }),
      ),

    async prune(folder, depth) {
      for (let above = folder; above.length > depth; above = above.slice(0, -1)) {
        const [parent, name] = [above.slice(0, -1), above.at(-1) ?? ''];
        let isFull = false;
        await inFolder(parent, async (held) => {
          const whole = join(held.place, name);
          const { mode } = (await lstat(whole).catch(() => undefined)) ?? {};
          const isGone = await rmdir(whole).then(
            () => true,
            ({ code }: NodeJS.ErrnoException) => {
              isFull = code !== 'ENOENT';
            },
          );
          if (isGone) moves.push({ folder: parent, undo: (again) => makeAgain(again, name, mode) });
        });
        if (isFull) return;
      }
    },

    async put(from, folder, names) {
      const source = await holdAll(from, folder);
      try {
        const held = await hold(folder, true);
        await (held && putAll(source, held, { folder, names }).finally(held.close));
      } finally {
        await source.close();
      }
    },

    async undo() {
      for (const { folder, undo } of moves.reverse())
        await inFolder(folder, undo).catch(() => {
          // Somebody else was faster: the rest comes back all the same.
        });
    },
  };
}

/** Held while it gets its mode, of which `mkdir` leaves out a part. */
async function makeAgain(parent: Held, name: string, mode = 0o777): Promise<void> {
  await mkdir(join(parent.place, name), { mode: 0o700 });
  const held = await holdBelow(parent, name);
  await chmod(held.place, mode & 0o7777).finally(held.close);
}

async function holdAll(root: Held, folder: Folder): Promise<Open> {
  let held: Open = borrowed(root);
  for (const name of folder) held = await holdBelow(held, name).finally(held.close);
  return held;
}

/** Whoever gave it closes it. */
function borrowed({ place }: Held): Open {
  return { place, close: async () => {} };
}

function unlessThere(error: NodeJS.ErrnoException): false {
  if (error.code === 'EEXIST') return false;
  throw error;
}
