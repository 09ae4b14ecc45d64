// Archives of tar and gzip: judged and extracted entry by entry, because a tar has no list of what is in it.
import { createReadStream } from 'node:fs';
import { Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGunzip } from 'node:zlib';
import { type Extract, extract, type Header } from 'tar-stream';
import { InstallError } from '../../errors.ts';
import { createEntryGuard, type EntryGuard, refused, refusedEntry } from './entries.ts';
import type { ExtractTask, FolderWriter } from './writer.ts';

/** Headers and padding: up to three blocks for each entry, long names beside them. */
const OVERHEAD_BYTES = 64_000_000;

export async function extractTar(task: ExtractTask): Promise<{ entries: number; bytes: number }> {
  const guard = createEntryGuard(task.archiveBytes, task.limits);
  const entries = extract();
  let failure: unknown;
  let latest: Promise<void> = Promise.resolve();
  entries.on('entry', (header, content, next) => {
    // An entry that is not read to its end fails with the whole archive, and needs no report of its own.
    content.on('error', () => {});
    latest = extractEntry({ header, content: content as TarContent }, guard, task.writer).then(
      () => next(),
      (error: unknown) => {
        failure ??= error;
        entries.destroy(error as Error);
      },
    );
  });
  await pipeline(createReadStream(task.file), createGunzip(), unpackedLimit(task), nodeStream(entries), {
    signal: task.signal,
  }).catch((error: unknown) => {
    failure ??= error;
  });
  await latest;
  if (failure) throw task.signal.aborted ? task.signal.reason : described(failure);
  return guard.totals();
}

/** Its own kind of stream, which is as good as one of Node's; the types do not know that. */
function nodeStream(entries: Extract): NodeJS.WritableStream {
  return entries as unknown as NodeJS.WritableStream;
}

type TarContent = AsyncIterable<Buffer> & { resume(): unknown };

async function extractEntry(
  { header, content }: { header: Header; content: TarContent },
  guard: EntryGuard,
  writer: FolderWriter,
): Promise<void> {
  const { name, type, size, mode } = header;
  if (type === 'symlink') {
    const path = guard.admit({ name, isFolder: false, bytes: 0 });
    if (path !== undefined) writer.addLink(path, header.linkname ?? '');
    content.resume();
    return;
  }
  if (type !== 'file' && type !== 'directory' && type !== 'contiguous-file')
    throw refusedEntry(name, `${describedType(type)}, and only files, folders and symbolic links are extracted`);
  // Old archives write a folder as a file whose name ends so.
  const isFolder = type === 'directory' || name.endsWith('/');
  const path = guard.admit({ name, isFolder, bytes: isFolder ? 0 : size });
  if (path === undefined || isFolder) {
    if (path !== undefined) await writer.makeFolder(path);
    content.resume();
    return;
  }
  await writer.writeFile(path, content, { isExecutable: (mode & 0o111) !== 0 });
}

function describedType(type: string | null): string {
  if (type === 'link') return 'is a hard link';
  if (type === 'character-device' || type === 'block-device') return 'is a device';
  return type === 'fifo' ? 'is a pipe' : 'is of an unknown type';
}

/** Also what is between and after the entries counts: endless zeros are a bomb as well. */
function unpackedLimit({ archiveBytes, limits }: ExtractTask): Transform {
  let bytes = 0;
  return new Transform({
    transform(chunk: Buffer, _encoding, done) {
      bytes += chunk.length;
      const isBomb = bytes > limits.freeBytes + OVERHEAD_BYTES && bytes > archiveBytes * limits.maxRatio;
      if (isBomb) done(refused(`it would grow to more than ${limits.maxRatio} times its size, as a bomb does`));
      else if (bytes > limits.maxBytes + OVERHEAD_BYTES) done(refused(`it holds more than ${limits.maxBytes} bytes`));
      else done(null, chunk);
    },
  });
}

/** Errors of the machine, a full disk above all, have a syscall and stay as they are. */
function described(error: unknown): unknown {
  if (error instanceof InstallError || (error as NodeJS.ErrnoException).syscall !== undefined) return error;
  return refused(`it is not a readable tar.gz (${(error as Error).message.slice(0, 200)})`);
}
