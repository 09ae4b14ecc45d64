// The project files of a target that npm works with: a person's own, where there are any.
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { absent } from '../../lib/absent.ts';
import { writeFileInside } from '../../lib/files.ts';
import { holdFolder } from '../../lib/held-folder.ts';
import { isJsonObject, type JsonObject } from '../../lib/json.ts';
import { throughLink } from '../../lib/path-inside.ts';
import { openPlainFile, readPlainFile } from '../../lib/plain-file.ts';
import { InstallError } from './artifact-installer.ts';
import { assertLockInside } from './npm-local.ts';
import { HIDDEN_LOCK, PROJECT_FILES, READ_FILES } from './npm-places.ts';
import { removeHeld } from './remove-held.ts';

/** With a fixed name: npm would take that of the folder, and the same install elsewhere would differ. */
const EMPTY_PROJECT = `${JSON.stringify({ name: 'installed-by-catalog-hub', private: true }, null, 2)}\n`;
const BYTE_ORDER_MARK = Buffer.from('\uFEFF');

export interface Project {
  /** The package.json of before. */
  description: Buffer | undefined;
  /** What npm made of the files, all of them or none. @throws InstallError when somebody has changed them meanwhile. */
  bringIn(): Promise<void>;
}

/** Into a folder of the hub's own. Where there is no package.json yet, one is made. @throws InstallError when npm would replace what it does not understand. */
export async function copyProject(targetDir: string, dir: string): Promise<Project> {
  const texts = await Promise.all(PROJECT_FILES.map((file) => readProjectFile(file, targetDir)));
  for (const [index, file] of PROJECT_FILES.entries()) {
    const text = texts[index] ?? (file === 'package.json' ? EMPTY_PROJECT : undefined);
    if (text !== undefined) await writeFile(join(dir, file), text);
    if (file !== 'package.json') assertLockInside(file, parsedProject(texts[index]));
  }
  for (const file of READ_FILES) {
    const text = await inHeld(file, targetDir, readPlainFile).catch(absent);
    if (text !== undefined) await writeFile(join(dir, file), text);
    if (file !== '.npmrc') assertLockInside(file, parsedProject(text));
  }
  const restore = async () => {
    for (const [index, file] of PROJECT_FILES.entries()) {
      const text = texts[index];
      if (text === undefined) await removeHeld(targetDir, file);
      else await writeFileInside(targetDir, file, text);
    }
  };
  return {
    description: texts[0],
    async bringIn() {
      const made = await Promise.all(PROJECT_FILES.map((file) => readFile(join(dir, file))));
      for (const [index, file] of PROJECT_FILES.entries()) await assertUnchanged(file, targetDir, texts[index]);
      try {
        for (const [index, file] of PROJECT_FILES.entries())
          await writeFileInside(targetDir, file, withMarkOf(texts[index], made[index] ?? Buffer.alloc(0)));
        await bringHiddenLock(targetDir, dir);
      } catch (error) {
        await restore();
        throw error;
      }
    },
  };
}

/** @throws InstallError when a lockfile in the folder, which is the hub's own, leads out of it. */
export async function assertProjectInside(dir: string): Promise<void> {
  for (const file of ['package-lock.json', 'npm-shrinkwrap.json'])
    assertLockInside(file, parsedProject(await readFile(join(dir, file)).catch(absent)));
}

async function assertUnchanged(file: string, targetDir: string, before: Buffer | undefined): Promise<void> {
  const now = await readProjectFile(file, targetDir);
  if (now === before || (now && before?.equals(now))) return;
  throw new InstallError(`${file} in the target was changed while npm was at work: install again.`);
}

/** npm believes it, instead of looking, when it is newer than the folders that it tells of. */
async function bringHiddenLock(targetDir: string, dir: string): Promise<void> {
  const text = await readFile(join(dir, HIDDEN_LOCK)).catch(absent);
  if (text === undefined) return removeHeld(targetDir, HIDDEN_LOCK);
  const file = await openPlainFile(await writeFileInside(targetDir, HIDDEN_LOCK, text));
  const now = new Date();
  await file?.utimes(now, now).finally(() => file.close());
}

/** Some editors begin files with a mark, and npm leaves it out. */
function withMarkOf(before: Buffer | undefined, text: Buffer): Buffer {
  return hasMark(before) && !hasMark(text) ? Buffer.concat([BYTE_ORDER_MARK, text]) : text;
}

/** npm itself tells what it cannot read, and is more patient with what stands before the text. */
export function parsedProject(text: Buffer | undefined): JsonObject {
  try {
    const document: unknown = JSON.parse(withoutMark(text ?? Buffer.from('{}')).toString());
    return isJsonObject(document) ? document : {};
  } catch {
    return {};
  }
}

const LARGEST_PROJECT_FILE = 100_000_000;

/** Undefined only when there is none: what is there and cannot be read must not be taken for absent, and replaced. @throws InstallError */
async function readProjectFile(file: string, targetDir: string): Promise<Buffer | undefined> {
  try {
    const found = await inHeld(file, targetDir, openPlainFile);
    if (!found) throw unreadable(file, 'it is no file');
    try {
      if ((await found.stat()).size > LARGEST_PROJECT_FILE) throw unreadable(file, 'it is too large');
      const bytes = await found.readFile();
      if (!mayBeObject(bytes)) throw unreadable(file, 'it holds no JSON object');
      return bytes;
    } finally {
      await found.close();
    }
  } catch (error) {
    if (error instanceof InstallError) throw error;
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT') return undefined;
    throw unreadable(file, `it cannot be read (${code ?? 'for an unknown reason'})`, error);
  }
}

/** With the target held: a link that takes its place leads nowhere. */
async function inHeld<T>(file: string, targetDir: string, read: (path: string) => Promise<T>): Promise<T> {
  const held = await holdFolder(targetDir);
  if (!held) throw throughLink(file);
  return read(join(held.place, file)).finally(held.close);
}

/** What is no JSON at all is refused by npm itself. */
function mayBeObject(bytes: Buffer): boolean {
  // Those that begin as an object does are npm's to read: they may be large.
  if (/^\s*\{/.test(withoutMark(bytes).subarray(0, 1_000).toString())) return true;
  try {
    return isJsonObject(JSON.parse(withoutMark(bytes).toString()));
  } catch {
    return true;
  }
}

function hasMark(bytes: Buffer | undefined): boolean {
  return bytes?.subarray(0, BYTE_ORDER_MARK.length).equals(BYTE_ORDER_MARK) ?? false;
}

function withoutMark(bytes: Buffer): Buffer {
  return hasMark(bytes) ? bytes.subarray(BYTE_ORDER_MARK.length) : bytes;
}

function unreadable(file: string, why: string, cause?: unknown): InstallError {
  return new InstallError(
    `${file} in the target was left as it is, because ${why}: mend it or move it away, then install again.`,
    { cause },
  );
}
