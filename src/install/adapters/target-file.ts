// Text files of a target that people may have written: read whole, never followed through links.
import { createHash } from 'node:crypto';
import { writeFileInside } from '../../lib/files.ts';
import { PathError, pathInside } from '../../lib/path-inside.ts';
import { openPlainFile } from '../../lib/plain-file.ts';
import { utf8Text } from '../../lib/utf8.ts';

const LARGEST_FILE = 5_000_000;

/** Undefined when it is not there. @throws PathError when it is not a text that could be merged. */
export async function readInside(targetDir: string, path: string): Promise<string | undefined> {
  const whole = await pathInside(targetDir, path);
  const file = await openPlainFile(whole).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'ENOENT') throw error;
    return 'absent' as const;
  });
  if (file === 'absent') return undefined;
  if (!file) throw new PathError(`'${path}' exists and is not a file.`);
  try {
    const { size } = await file.stat();
    if (size > LARGEST_FILE) throw new PathError(`'${path}' exists and is too large to be merged.`);
    const text = utf8Text(await file.readFile());
    if (text === undefined) throw new PathError(`'${path}' exists and is not UTF-8, so it is left as it is.`);
    return text;
  } finally {
    await file.close();
  }
}

/** Writes a copy of the file beside it, and answers where. */
export async function keepAside(targetDir: string, path: string, content: string): Promise<string> {
  for (let number = 1; ; number += 1) {
    const aside = number === 1 ? `${path}.orig` : `${path}.orig-${number}`;
    const found = await readInside(targetDir, aside);
    if (found !== undefined && found !== content) continue;
    if (found === undefined) await writeFileInside(targetDir, aside, content, { accessOf: path });
    return aside;
  }
}

export function textDigest(content: string): string {
  return `sha256:${createHash('sha256').update(content).digest('hex')}`;
}
