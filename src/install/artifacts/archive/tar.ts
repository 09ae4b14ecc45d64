// Entries of tar.gz archives, checked one at a time, because a tar file has no index.
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

/** Headers and padding: up to three blocks per entry, plus long names. */
const OVERHEAD_BYTES = 64_000_000;

export async function* tarEntries(source: ArchiveSource): AsyncGenerator<AdmittedEntry> {
  const entries = extract();
  // The library has its own stream class, which is compatible with Node's except for its types.
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
    // Throws the error that stopped the extraction instead of the entry reader's follow-up error.
    if (!(error instanceof InstallError)) await unpacked;
    throw error;
  } finally {
    entries.destroy();
  }
}

function admit(header: Header, content: ArchiveContent, { guard }: ArchiveSource): AdmittedEntry | undefined {
  const { name, type, size, mode } = header;
  // Old archives store a folder as a file whose name ends with a slash.
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

/** Also counts bytes between and after the entries: endless zeros are a bomb too. */
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
