// Files and folders of one archive, written into a folder that nobody else writes to.
import { createWriteStream } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { createBufferSweep } from '../../lib/garbage.ts';

export interface FolderWriter {
  makeFolder(path: string): Promise<void>;
  /** Of its mode only the executable bit is kept. */
  writeFile(path: string, content: AsyncIterable<Buffer>, options: { isExecutable: boolean }): Promise<void>;
}

export function createFolderWriter(folder: string, signal: AbortSignal): FolderWriter {
  const made = new Set<string>([folder]);
  const sweep = createBufferSweep();

  async function makeFolder(place: string): Promise<void> {
    if (made.has(place)) return;
    await mkdir(place, { recursive: true });
    made.add(place);
  }

  return {
    makeFolder: (path) => makeFolder(join(folder, path)),
    async writeFile(path, content, { isExecutable }) {
      const place = join(folder, path);
      await makeFolder(dirname(place));
      // Never an existing file, which could be a link.
      const file = createWriteStream(place, { flags: 'wx', mode: isExecutable ? 0o755 : 0o644 });
      await pipeline(swept(content, sweep), file, { signal });
    },
  };
}

async function* swept(content: AsyncIterable<Buffer>, sweep: (chunk: Buffer) => void): AsyncGenerator<Buffer> {
  for await (const chunk of content) {
    sweep(chunk);
    yield chunk;
  }
}
