// Archives by address, as zip or tar.gz: downloaded, checked against their digest, and extracted.
import { createWriteStream } from 'node:fs';
import { access, mkdir, open, symlink } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { z } from 'zod';
import { FetchError } from '../../../lib/net/fetch-error.ts';
import type { DownloadReply } from '../../../lib/world.ts';
import { cannotFollow, InstallError } from '../../errors.ts';
import { fileDigest, findStrayLink } from '../../target/tree.ts';
import { publicUrl, WebAddress } from '../address.ts';
import type { ArtifactContext, ArtifactKind, Resolution } from '../artifact.ts';
import { Destination, vendorNames } from '../destination.ts';
import { checkDigest, Digest } from '../digest.ts';
import { inspectBundle, removeSignature } from './bundle.ts';
import { type ArchiveContent, createEntryGuard, refused, refusedEntry } from './entries.ts';
import { tarEntries } from './tar.ts';
import { zipEntries } from './zip.ts';

const ARCHIVE = 'archive';
const MAX_ARCHIVE_BYTES = 2_000_000_000;
const DOWNLOAD_TIMEOUT_MS = 30 * 60_000;
/** Longest link target that common systems accept, in bytes. */
const LONGEST_LINK = 4_095;

const ArchiveSpec = z.object({ url: WebAddress, digest: Digest.nullish(), dest: Destination.nullish() });
type ArchiveSpec = z.infer<typeof ArchiveSpec>;

/** Published catalogs put the address of the bundle into `package`. */
const BundleSpec = z
  .object({ package: WebAddress, fileSha256: Digest.nullish(), dest: Destination.nullish() })
  .transform(({ package: url, fileSha256: digest, dest }) => ({ url, digest, dest }));

export const zipKind: ArtifactKind<ArchiveSpec> = {
  step: 'zip.extract',
  spec: ArchiveSpec,
  describe: ({ url, digest }) => `download ${publicUrl(url)}, ${digest ? `check ${digest}, ` : ''}extract it`,
  location: ({ url, dest }) => ({ kind: 'vendor', dest: dest ?? undefined, names: vendorNames(url) }),
  // Leaves the archive in the staging folder, for `build`.
  async resolve({ url, digest }, context) {
    const resolved = publicUrl(url);
    const { sha256 } = await downloadArchive(url, context);
    const integrity = `sha256:${sha256}`;
    if (digest) checkDigest(`The archive ${resolved}`, { expected: digest, found: integrity });
    return { resolved, integrity };
  },
  async build(spec, resolution, folder, context) {
    const file = await fetchLocked(spec, resolution, context);
    await removeSignature(file);
    return { extra: await extractArchive(file, folder, context.signal) };
  },
};

export const mcpbKind: ArtifactKind<ArchiveSpec> = {
  ...zipKind,
  step: 'mcpb.extract',
  spec: BundleSpec,
  build: async (spec, resolution, folder, context) => ({
    ...(await zipKind.build(spec, resolution, folder, context)),
    ...(await inspectBundle(folder)),
  }),
  inspect: inspectBundle,
};

/** Fetches the archive that this or another machine resolved. @throws InstallError */
async function fetchLocked({ url }: ArchiveSpec, locked: Resolution, context: ArtifactContext): Promise<string> {
  const { resolved, integrity } = locked;
  const shown = publicUrl(url);
  if (resolved !== shown || !integrity)
    throw cannotFollow(`The lockfile has ${resolved} (${integrity ?? 'no digest'}), but the manifest has ${shown}.`);
  const file = join(context.stagingDir, ARCHIVE);
  await access(file).catch(() => downloadArchive(url, context));
  checkDigest(`The archive ${shown}`, { expected: integrity, found: await fileDigest(file) });
  return file;
}

async function downloadArchive(url: string, context: ArtifactContext): Promise<DownloadReply> {
  const { download, signal } = context;
  const limits = { maxBytes: MAX_ARCHIVE_BYTES, timeoutMs: DOWNLOAD_TIMEOUT_MS };
  const failed = `The archive ${publicUrl(url)} could not be downloaded`;
  try {
    const reply = await download({ url, file: join(context.stagingDir, ARCHIVE), ...limits, signal });
    if (reply.status === 200) return reply;
    throw new InstallError(`${failed}: its host answered ${reply.status}.`);
  } catch (error) {
    if (!(error instanceof FetchError)) throw error;
    throw new InstallError(`${failed}: it ${error.message}.`, { cause: error });
  }
}

/** Extracts into an empty folder; returns the format, and the number of entries and bytes. @throws InstallError */
async function extractArchive(file: string, folder: string, signal: AbortSignal) {
  const { format, archiveBytes } = await recognize(file);
  const guard = createEntryGuard(archiveBytes);
  const source = { file, archiveBytes, signal, guard };
  const links = new Map<string, string>();
  for await (const { path, kind, isExecutable, content } of (format === 'zip' ? zipEntries : tarEntries)(source)) {
    signal.throwIfAborted();
    const dest = join(folder, path);
    if (kind === 'link') links.set(path, await readTarget(path, content));
    else if (kind === 'folder') await mkdir(dest, { recursive: true });
    else {
      await mkdir(dirname(dest), { recursive: true });
      // Only the executable bit of its mode is kept.
      const output = createWriteStream(dest, { flags: 'wx', mode: isExecutable ? 0o755 : 0o644 });
      await pipeline(content, output, { signal });
    }
  }
  if (guard.totals().entries === 0) throw refused('it is empty');
  await makeLinks(folder, links);
  return { format, ...guard.totals() };
}

async function readTarget(path: string, content: ArchiveContent): Promise<string> {
  const parts: Buffer[] = [];
  for await (const part of content) parts.push(part);
  const target = Buffer.concat(parts);
  if (target.length === 0 || target.length > LONGEST_LINK || target.includes(0))
    throw refusedEntry(path, 'is a link with an unreadable target');
  return target.toString('utf8');
}

/** Creates links last, so that nothing is written through them. */
async function makeLinks(folder: string, links: ReadonlyMap<string, string>): Promise<void> {
  for (const [path, target] of links) {
    await mkdir(dirname(join(folder, path)), { recursive: true });
    await symlink(target, join(folder, path));
  }
  const stray = links.size > 0 ? await findStrayLink(folder) : undefined;
  if (stray) throw refusedEntry(stray.path, 'is a link that leads out of the archive');
}

/** Reads the first bytes, because names and content types are unreliable. */
async function recognize(file: string): Promise<{ format: 'zip' | 'tar.gz'; archiveBytes: number }> {
  await using handle = await open(file);
  const { size: archiveBytes } = await handle.stat();
  const { buffer } = await handle.read(Buffer.alloc(4), 0, 4, 0);
  const start = buffer.toString('latin1');
  // `PK\5\6` starts an empty zip.
  if (start === 'PK\x03\x04' || start === 'PK\x05\x06') return { format: 'zip', archiveBytes };
  if (start.startsWith('\x1f\x8b')) return { format: 'tar.gz', archiveBytes };
  throw refused('it is neither a zip nor a tar.gz archive');
}
