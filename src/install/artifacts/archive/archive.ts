// Archives by address: downloaded and checked by their digest, then extracted.
import { access, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { FetchError } from '../../../lib/fetch-error.ts';
import { fileDigest } from '../../../lib/file-digest.ts';
import type { DownloadReply } from '../../../lib/world.ts';
import { InstallError } from '../../errors.ts';
import type { ArtifactContext, Resolution } from '../artifact.ts';
import { checkDigest, differs } from '../digest.ts';
import { publicUrl } from '../web-address.ts';
import { type Extracted, extractArchive } from './extract.ts';

const MAX_ARCHIVE_BYTES = 2_000_000_000;
const DOWNLOAD_TIMEOUT_MS = 30 * 60_000;

export interface ArchiveSource {
  url: string;
  /** As the manifest writes it. */
  digest: string | undefined;
  /** Changes the downloaded file before it is opened. */
  prepare?(file: string): Promise<void>;
}

/** Leaves the archive in the staging folder. @throws InstallError */
export async function resolveArchive({ url, digest }: ArchiveSource, context: ArtifactContext): Promise<Resolution> {
  const resolved = publicUrl(url);
  const reply = await downloadArchive(url, context);
  if (digest) checkDigest(digest, reply, `The archive ${resolved}`);
  return { resolved, integrity: `sha256:${reply.sha256}` };
}

/** @throws InstallError */
export async function buildArchive(
  source: ArchiveSource,
  { resolved, integrity }: Resolution,
  folder: string,
  context: ArtifactContext,
): Promise<Extracted> {
  const shown = publicUrl(source.url);
  if (resolved !== shown || !integrity)
    throw new InstallError(`The lockfile has ${resolved} (${integrity ?? 'no digest'}), and the manifest ${shown}.`);
  const file = archiveFile(context);
  if (!(await exists(file))) await downloadArchive(source.url, context);
  const found = await fileDigest(file);
  if (found !== integrity) throw differs(`The archive ${shown}`, { expected: integrity, found });
  await source.prepare?.(file);
  const extracted = await extractArchive({ file, folder, signal: context.signal });
  await rm(file);
  return extracted;
}

async function downloadArchive(url: string, context: ArtifactContext): Promise<DownloadReply> {
  const { download, signal } = context;
  const limits = { maxBytes: MAX_ARCHIVE_BYTES, timeoutMs: DOWNLOAD_TIMEOUT_MS };
  const failed = `The archive ${publicUrl(url)} could not be downloaded`;
  try {
    const reply = await download({ url, file: archiveFile(context), ...limits, signal });
    if (reply.status === 200) return reply;
    throw new InstallError(`${failed}: its host answered ${reply.status}.`);
  } catch (error) {
    if (!(error instanceof FetchError)) throw error;
    throw new InstallError(`${failed}: it ${error.message}.`, { cause: error });
  }
}

function archiveFile({ stagingDir }: ArtifactContext): string {
  return join(stagingDir, 'archive');
}

function exists(file: string): Promise<boolean> {
  return access(file).then(
    () => true,
    () => false,
  );
}
