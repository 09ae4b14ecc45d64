// An image as a folder, in the layout that every tool for containers reads.
import { createHash } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import pLimit from 'p-limit';
import { openPlainFile, readPlainFile, readPlainText } from '../../lib/plain-file.ts';
import { InstallError } from './artifact-installer.ts';
import {
  asOciManifest,
  configOf,
  type Descriptor,
  digestOf,
  type FetchedManifest,
  mediaTypeOf,
  ownPlatform,
  readManifest,
} from './oci-manifest.ts';
import { IMAGE_DIGEST } from './oci-reference.ts';
import type { OciRegistry } from './oci-registry.ts';

const PARALLEL_BLOBS = 3;
const DEEPEST_INDEX = 2;

export interface PulledImage {
  /** Of what the tag or the digest stands for, an index of platforms included. */
  digest: string;
  /** Undefined when the image does not say. */
  platform?: string;
  /** Whether there are others for other platforms. */
  isChosen: boolean;
  blobs: number;
  bytes: number;
}

/** Everything of one image, for the platform of this machine. `earlier` is where the same image may be already. @throws InstallError */
export async function pullLayout(
  registry: OciRegistry,
  reference: string,
  folder: string,
  { earlier, tag }: { earlier: string; tag: string | undefined },
): Promise<PulledImage> {
  const top = await registry.manifest(reference);
  const { manifest, blobs, all } = await descend(registry, top);
  await mkdir(join(folder, 'blobs', 'sha256'), { recursive: true });
  await mkdir(join(folder, 'blobs', 'sha512'), { recursive: true });
  const limit = pLimit(PARALLEL_BLOBS);
  const pulled = await Promise.allSettled(blobs.map((blob) => limit(() => pullBlob(registry, blob, folder, earlier))));
  const failed = pulled.find((result) => result.status === 'rejected');
  if (failed) throw failed.reason;
  const listed = asOciManifest(manifest);
  for (const { digest, body } of [...all, listed]) await writeFile(blobPath(folder, digest), body);
  await writeIndex(folder, listed, tag);
  const bytes = blobs.reduce((sum, { size }) => sum + size, 0);
  const isChosen = all.length > 1;
  const platform = isChosen ? ownPlatformName() : await platformIn(folder, manifest);
  return { digest: top.digest, ...(platform ? { platform } : {}), isChosen, blobs: blobs.length, bytes };
}

function ownPlatformName(): string {
  const { os, architecture } = ownPlatform();
  return `${os}/${architecture}`;
}

/** Why an image may not run here, as a sentence; undefined when nothing is known against it. */
export function platformWarning(platform: string | undefined): string | undefined {
  const own = ownPlatformName();
  if (platform === undefined || platform === own) return undefined;
  return `The image is for ${platform}, and this machine is ${own}: it does not run here without emulation.`;
}

const LARGEST_CONFIG = 1_000_000;

/** What the image says of itself; undefined when it says nothing, as what is no image does. */
async function platformIn(folder: string, manifest: FetchedManifest): Promise<string | undefined> {
  const { digest, size } = configOf(manifest);
  if (size > LARGEST_CONFIG) return undefined;
  try {
    const { os, architecture } = JSON.parse((await readPlainText(blobPath(folder, digest))) ?? '');
    const isTold = [os, architecture].every((each) => typeof each === 'string' && /^[\w.-]{1,40}$/.test(each));
    return isTold ? `${os}/${architecture}` : undefined;
  } catch {
    return undefined;
  }
}

/** From the list of platforms, if there is one, to the image. */
async function descend(registry: Pick<OciRegistry, 'manifest'>, top: FetchedManifest) {
  const all = [top];
  let manifest = top;
  for (let depth = 0; depth <= DEEPEST_INDEX; depth += 1) {
    const found = readManifest(manifest, ownPlatform());
    if (found.kind === 'image') return { manifest, blobs: found.blobs, all };
    manifest = await registry.manifest(found.chosen.digest);
    all.push(manifest);
  }
  throw new InstallError('The image is a list of lists of lists of images, which is not followed.');
}

async function pullBlob(registry: OciRegistry, blob: Descriptor, folder: string, earlier: string): Promise<void> {
  const file = blobPath(folder, blob.digest);
  const isThere = await copyBlob(blobPath(earlier, blob.digest), file).catch(() => false);
  if (isThere && (await blobDigest(folder, blob.digest)) === blob.digest) return;
  // Not the beginning of what is to come: the download would go on behind it.
  await rm(file, { force: true });
  await registry.blob(blob, file);
}

/** False when there is no such file: a pipe in its place would never come to an end. */
async function copyBlob(from: string, to: string): Promise<boolean> {
  const source = await openPlainFile(from);
  if (!source) return false;
  await pipeline(source.createReadStream(), createWriteStream(to));
  return true;
}

/** Digests were checked to be of one of the two kinds, so that this is a path below the folder. */
function blobPath(folder: string, digest: string): string {
  return join(folder, 'blobs', ...digest.split(':'));
}

async function writeIndex(
  folder: string,
  { body, digest, mediaType }: FetchedManifest,
  tag: string | undefined,
): Promise<void> {
  const annotations = tag === undefined ? {} : { annotations: { 'org.opencontainers.image.ref.name': tag } };
  const index = {
    schemaVersion: 2,
    mediaType: 'application/vnd.oci.image.index.v1+json',
    manifests: [{ mediaType, digest, size: body.length, ...annotations }],
  };
  await writeFile(join(folder, 'index.json'), `${JSON.stringify(index, null, 2)}\n`);
  await writeFile(join(folder, 'oci-layout'), `${JSON.stringify({ imageLayoutVersion: '1.0.0' })}\n`);
}

/** Whether a folder holds what the digest stands for, for this machine, and every part is what its name says. */
export async function isLayoutOf(digest: string, folder: string): Promise<boolean> {
  if (!IMAGE_DIGEST.test(digest)) return false;
  const read = async (wanted: string): Promise<FetchedManifest> => {
    const body = await readPlainFile(blobPath(folder, wanted));
    if (!body || digestOf(body, wanted.split(':')[0]) !== wanted) throw new InstallError(`${wanted} was changed.`);
    return { body, digest: wanted, mediaType: mediaTypeOf('', body) };
  };
  try {
    const { blobs } = await descend({ manifest: read }, await read(digest));
    for (const blob of blobs) if ((await blobDigest(folder, blob.digest)) !== blob.digest) return false;
    return true;
  } catch {
    return false;
  }
}

async function blobDigest(folder: string, digest: string): Promise<string> {
  const [algorithm = 'sha256'] = digest.split(':');
  const hash = createHash(algorithm);
  const file = await openPlainFile(blobPath(folder, digest));
  if (!file) throw new InstallError(`${digest} is no file.`);
  await pipeline(file.createReadStream(), hash);
  return `${algorithm}:${hash.digest('hex')}`;
}
