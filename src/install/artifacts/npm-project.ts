// The project files of a target that npm works with: a person's own, where there are any.
import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { writeFileInside } from '../../lib/files.ts';
import { isJsonObject } from '../../lib/json.ts';
import { InstallError } from './artifact-installer.ts';
import { PROJECT_FILES } from './npm-places.ts';
import { removeHeld } from './remove-held.ts';

/** With a fixed name: npm would take that of the folder, and the same install elsewhere would differ. */
const EMPTY_PROJECT = `${JSON.stringify({ name: 'installed-by-catalog-hub', private: true }, null, 2)}\n`;
const BYTE_ORDER_MARK = Buffer.from('\uFEFF');

export interface RememberedProject {
  /** Afterwards everything is as it was before, whatever npm did to its files until then. */
  restore(): Promise<void>;
  /** Some editors begin files with a mark, and npm leaves it out. */
  keepMark(): Promise<void>;
  /** The package.json of before. */
  project: Buffer | undefined;
}

/** Where there is no package.json yet, one is made. @throws InstallError when npm would replace what it does not understand. */
export async function rememberProject(targetDir: string): Promise<RememberedProject> {
  const texts = await Promise.all(PROJECT_FILES.map((file) => readProjectFile(file, targetDir)));
  if (texts[0] === undefined) await writeFileInside(targetDir, 'package.json', EMPTY_PROJECT);
  return {
    async restore() {
      // Not in the way of the rest: what npm had to tell counts more.
      await forgetHiddenLock(targetDir).catch(() => {});
      for (const [index, file] of PROJECT_FILES.entries()) {
        const text = texts[index];
        if (text === undefined) await removeHeld(targetDir, file);
        else await writeFileInside(targetDir, file, text);
      }
    },
    async keepMark() {
      for (const [index, file] of PROJECT_FILES.entries()) {
        const now = hasMark(texts[index]) ? await readProjectFile(file, targetDir) : undefined;
        if (now && !hasMark(now)) await writeFileInside(targetDir, file, Buffer.concat([BYTE_ORDER_MARK, now]));
      }
    },
    project: texts[0],
  };
}

/** Written by the first run as if it had installed something: npm would believe it instead of looking. */
export async function forgetHiddenLock(targetDir: string): Promise<void> {
  await removeHeld(targetDir, 'node_modules/.package-lock.json');
}

const LARGEST_PROJECT_FILE = 100_000_000;

/** Undefined only when there is none: what is there and cannot be read must not be taken for absent, and replaced. @throws InstallError */
async function readProjectFile(file: string, targetDir: string): Promise<Buffer | undefined> {
  const path = join(targetDir, file);
  try {
    const found = await stat(path);
    if (!found.isFile()) throw unreadable(file, 'it is no file');
    if (found.size > LARGEST_PROJECT_FILE) throw unreadable(file, 'it is too large');
    const bytes = await readFile(path);
    if (!mayBeObject(bytes)) throw unreadable(file, 'it holds no JSON object');
    return bytes;
  } catch (error) {
    if (error instanceof InstallError) throw error;
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT') return undefined;
    throw unreadable(file, `it cannot be read (${code ?? 'for an unknown reason'})`, error);
  }
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
