// Archives by address, in zip or tar.gz form: downloaded, checked by their digest, then extracted.
import { access } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { FetchError } from '../../../lib/fetch-error.ts';
import type { DownloadReply } from '../../../lib/world.ts';
import { InstallError } from '../../errors.ts';
import { fileDigest } from '../../target/tree.ts';
import { publicUrl, WebAddress } from '../address.ts';
import type { ArtifactContext, ArtifactKind, Resolution } from '../artifact.ts';
import { Destination, vendorNames } from '../destination.ts';
import { checkDigest, Digest } from '../digest.ts';
import { inspectBundle, removeSignature } from './bundle.ts';
import { extractArchive } from './extract.ts';

const MAX_ARCHIVE_BYTES = 2_000_000_000;
const DOWNLOAD_TIMEOUT_MS = 30 * 60_000;

const ArchiveSpec = z.object({ url: WebAddress, digest: Digest.nullish(), dest: Destination.nullish() });
type ArchiveSpec = z.infer<typeof ArchiveSpec>;

/** Published catalogs put the address of the bundle into `package`. */
const BundleSpec = z
  .object({
    package: WebAddress,
    fileSha256: Digest.nullish(),
    dest: Destination.nullish(),
  })
  .transform(({ package: url, fileSha256: digest, dest }) => ({ url, digest, dest }));

const common: Pick<ArtifactKind<ArchiveSpec>, 'describe' | 'location' | 'resolve'> = {
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
};

export const zipKind: ArtifactKind<ArchiveSpec> = {
  ...common,
  step: 'zip.extract',
  spec: ArchiveSpec,
  async build(spec, resolution, folder, context) {
    const file = await fetchLocked(spec, resolution, context);
    return { extra: await extractArchive(file, folder, context.signal) };
  },
};

export const mcpbKind: ArtifactKind<ArchiveSpec> = {
  ...common,
  step: 'mcpb.extract',
  spec: BundleSpec,
  async build(spec, resolution, folder, context) {
    const file = await fetchLocked(spec, resolution, context);
    await removeSignature(file);
    const extra = await extractArchive(file, folder, context.signal);
    return { extra, ...(await inspectBundle(folder)) };
  },
  inspect: inspectBundle,
};

/** The archive that was resolved, now or by another machine. @throws InstallError */
async function fetchLocked({ url }: ArchiveSpec, locked: Resolution, context: ArtifactContext): Promise<string> {
  const { resolved, integrity } = locked;
  const shown = publicUrl(url);
  if (resolved !== shown || !integrity)
    throw new InstallError(`The lockfile has ${resolved} (${integrity ?? 'no digest'}), and the manifest ${shown}.`);
  const file = archiveFile(context);
  await access(file).catch(() => downloadArchive(url, context));
  checkDigest(`The archive ${shown}`, { expected: integrity, found: await fileDigest(file) });
  return file;
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
