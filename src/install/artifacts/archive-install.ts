// The way of an archive into a target: downloaded, checked, extracted aside, and only then moved into place.
import { join } from 'node:path';
import { z } from 'zod';
import { allEnded } from '../../lib/all-ended.ts';
import { FetchError } from '../../lib/fetch-error.ts';
import { removeBelow } from '../../lib/held-folder.ts';
import { shownAddress } from '../../lib/secret-address.ts';
import type { DownloadReply } from '../../lib/world.ts';
import { type Extracted, extractArchive } from './archive.ts';
import { type InstallContext, InstallError, type InstalledArtifact } from './artifact-installer.ts';
import { assertReplaceable, putInPlace } from './destination.ts';
import { checkDigest } from './digest.ts';

/** Of what is fetched for one artifact. */
export const MAX_ARCHIVE_BYTES = 2_000_000_000;
const DOWNLOAD_TIMEOUT_MS = 30 * 60_000;

/** As long as programs and hosts take one; manifests may be a thousand times as long. */
export const LONGEST_ADDRESS = 2_048;

/** An address of the web. */
export const WebAddress = z
  .string()
  .max(LONGEST_ADDRESS, { error: `must not be longer than ${LONGEST_ADDRESS} characters`, abort: true })
  .refine((text) => URL.canParse(text) && /^https?:$/.test(new URL(text).protocol), {
    error: 'must be an address that starts with http:// or https://',
  });

export interface ArchiveSource {
  url: string;
  digest?: string;
  /** Relative to the target. */
  path: string;
  /** Looks at what was extracted before it is moved into place. @throws InstallError */
  inspect?(folder: string, extracted: Extracted): Promise<void>;
}

export async function installArchive(source: ArchiveSource, context: InstallContext): Promise<InstalledArtifact> {
  const resolved = publicUrl(source.url);
  if (context.locked && context.locked.resolved !== resolved)
    throw new InstallError(`The lockfile says ${context.locked.resolved}, and the manifest ${resolved}.`);
  // Asked before anything is downloaded, and again when it is moved.
  await assertReplaceable(source.path, context);
  const names = { file: 'archive', folder: 'extracted' };
  const file = join(context.scratchDir, names.file);
  const folder = join(context.scratchDir, names.folder);
  try {
    const reply = await downloadArchive(source.url, file, context);
    if (source.digest) checkDigest(source.digest, reply, `The archive ${resolved}`);
    if (context.locked) checkLocked(context.locked.integrity, reply, resolved);
    const extracted = await extractArchive({ file, folder, signal: context.signal });
    await source.inspect?.(folder, extracted);
    await putInPlace(folder, source.path, context);
    const integrity = `sha256:${reply.sha256}`;
    return { resolved, integrity, path: source.path, extra: { path: source.path, digest: integrity, ...extracted } };
  } finally {
    await allEnded(Object.values(names).map((name) => removeBelow({ place: context.scratchDir }, name)));
  }
}

async function downloadArchive(url: string, file: string, context: InstallContext): Promise<DownloadReply> {
  const { signal } = context;
  const shown = publicUrl(url);
  try {
    const reply = await context.download({
      url,
      file,
      maxBytes: MAX_ARCHIVE_BYTES,
      timeoutMs: DOWNLOAD_TIMEOUT_MS,
      signal,
    });
    if (reply.status === 200) return reply;
    throw new InstallError(`The archive ${shown} could not be downloaded: its host answered ${reply.status}.`);
  } catch (error) {
    if (!(error instanceof FetchError)) throw error;
    throw new InstallError(`The archive ${shown} could not be downloaded: it ${error.message}.`, { cause: error });
  }
}

function checkLocked(integrity: string | null, reply: DownloadReply, resolved: string): void {
  if (integrity === null) throw new InstallError(`The lockfile has no digest for ${resolved}.`);
  checkDigest(integrity, reply, `The archive ${resolved}`);
}

/** Without the credentials that an address may hold: this one is written down. */
export function publicUrl(url: string): string {
  return shownAddress(new URL(url).href);
}
