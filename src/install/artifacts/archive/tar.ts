// Entries of tar.gz archives, judged one by one, because a tar has no list of what is in it.
import { createReadStream } from 'node:fs';
import { pipeline } from 'node:stream/promises';
import { createGunzip } from 'node:zlib';
import { extract, type Header } from 'tar-stream';
import { InstallError } from '../../errors.ts';
import {
  type AdmittedEntry,
  type ArchiveContent,
  type ArchiveSource,
  checkBytes,
  isBroken,
  OTHER_TYPE,
  refused,
  refusedEntry,
} from './entries.ts';

/** Headers and padding: up to three blocks for each entry, long names beside them. */
const OVERHEAD_BYTES = 64_000_000;

export async function* tarEntries(source: ArchiveSource): AsyncGenerator<AdmittedEntry> {
  const entries = extract();
  // Its own kind of stream, which is as good as one of Node's; the types do not know that.
  const sink = entries as unknown as NodeJS.WritableStream;
  const { file, archiveBytes, signal } = source;
  const limited = (chunks: AsyncIterable<Buffer>) => withinLimits(chunks, archiveBytes);
  const unpacked = pipeline(createReadStream(file), createGunzip(), limited, sink, { signal }).catch(described);
  unpacked.catch(() => {});
  try {
    for await (const entry of entries) {
      const admitted = admit(entry.header, readable(entry as unknown as ArchiveContent), source);
      if (admitted) yield admitted;
      if (admitted?.kind !== 'file') entry.resume();
    }
    await unpacked;
  } catch (error) {
    // The error that stopped the extraction, not the follow-up error of the entry reader.
    if (!(error instanceof InstallError)) await unpacked;
    throw error;
  } finally {
    entries.destroy();
  }
}

function admit(header: Header, content: ArchiveContent, { guard }: ArchiveSource): AdmittedEntry | undefined {
  const { name, type, size, mode } = header;
  // Old archives write a folder as a file whose name ends so.
  const kind = kindOf(type, name);
  if (kind === undefined) throw refusedEntry(name, OTHER_TYPE);
  const path = guard.admit({ name, isFolder: kind === 'folder', bytes: kind === 'file' ? size : 0 });
  if (path === undefined) return undefined;
  const target = kind === 'link' ? [Buffer.from(header.linkname ?? '')] : undefined;
  return { path, kind, isExecutable: (mode & 0o111) !== 0, content: target ?? content };
}

function kindOf(type: Header['type'] | null, name: string): AdmittedEntry['kind'] | undefined {
  if (type === 'symlink') return 'link';
  if (type === 'directory') return 'folder';
  if (type === 'file' || type === 'contiguous-file') return name.endsWith('/') ? 'folder' : 'file';
  return undefined;
}

/** Also what is between and after the entries counts: endless zeros are a bomb as well. */
async function* withinLimits(chunks: AsyncIterable<Buffer>, archiveBytes: number): AsyncGenerator<Buffer> {
  let bytes = 0;
  for await (const chunk of chunks) {
    bytes += chunk.length;
    checkBytes(bytes, archiveBytes, OVERHEAD_BYTES);
    yield chunk;
  }
}

async function* readable(content: ArchiveContent): AsyncGenerator<Buffer> {
  try {
    yield* content;
  } catch (error) {
    described(error);
  }
}

function described(error: unknown): never {
  if (!isBroken(error)) throw error;
  throw refused(`it is not a readable tar.gz (${error.message.slice(0, 200)})`);
}
