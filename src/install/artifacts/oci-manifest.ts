// Manifests of images: what they list, and which of several fits this machine.
import { createHash } from 'node:crypto';
import { z } from 'zod';
import { InstallError } from './artifact-installer.ts';
import { IMAGE_DIGEST } from './oci-reference.ts';

const INDEX_TYPES = [
  'application/vnd.oci.image.index.v1+json',
  'application/vnd.docker.distribution.manifest.list.v2+json',
];
const MANIFEST_TYPES = [
  'application/vnd.oci.image.manifest.v1+json',
  'application/vnd.docker.distribution.manifest.v2+json',
];
export const ACCEPTED_TYPES = [...INDEX_TYPES, ...MANIFEST_TYPES].join(', ');
const MOST_LAYERS = 500;
const MOST_PLATFORMS = 1_000;
const MAX_IMAGE_BYTES = 20_000_000_000;

const Descriptor = z.looseObject({
  mediaType: z.string().max(255),
  digest: z.string().regex(IMAGE_DIGEST),
  size: z.number().int().min(0).max(MAX_IMAGE_BYTES),
});
export type Descriptor = z.infer<typeof Descriptor>;

const Platform = z.looseObject({ os: z.string(), architecture: z.string(), variant: z.string().optional() });
const Index = z.looseObject({
  manifests: z.array(Descriptor.extend({ platform: Platform.optional() })).max(MOST_PLATFORMS),
});
const Manifest = z.looseObject({ config: Descriptor, layers: z.array(Descriptor).max(MOST_LAYERS) });

/** By what the registry calls it; some call everything JSON, and then the manifest itself says. @throws InstallError */
export function mediaTypeOf(contentType: string, body: Buffer): string {
  const known = [...INDEX_TYPES, ...MANIFEST_TYPES];
  const named = contentType.split(';')[0]?.trim() ?? '';
  if (known.includes(named)) return named;
  const document = parse(body);
  const own = known.find((type) => type === document.mediaType);
  return own ?? ('manifests' in document ? INDEX_TYPES : MANIFEST_TYPES)[0] ?? named;
}

/** As the registry sent it: its digest is over these very bytes. */
export interface FetchedManifest {
  body: Buffer;
  digest: string;
  mediaType: string;
}

export type ReadManifest = { kind: 'index'; chosen: Descriptor } | { kind: 'image'; blobs: Descriptor[] };

/** @throws InstallError */
export function readManifest(
  { body, mediaType }: FetchedManifest,
  platform: { os: string; architecture: string },
): ReadManifest {
  const document = parse(body);
  // What it is must not be open to two readings: by its type and by what is in it.
  const isIndex = 'manifests' in document && !('layers' in document);
  const isImage = 'layers' in document && !('manifests' in document);
  if (isIndex && !MANIFEST_TYPES.includes(mediaType))
    return { kind: 'index', chosen: choose(read(Index, document), platform) };
  if (!isImage || INDEX_TYPES.includes(mediaType))
    throw new InstallError(
      'The registry sent a manifest of a kind that is not known here (images of before 2017 are not pulled).',
    );
  const { config, layers } = read(Manifest, document);
  const blobs = [...new Map([config, ...layers].map((blob) => [blob.digest, blob])).values()];
  const bytes = blobs.reduce((sum, { size }) => sum + size, 0);
  if (bytes > MAX_IMAGE_BYTES) throw new InstallError(`The image is larger than ${MAX_IMAGE_BYTES} bytes.`);
  return { kind: 'image', blobs };
}

function parse(body: Buffer): Record<string, unknown> {
  try {
    const document: unknown = JSON.parse(body.toString('utf8'));
    if (typeof document === 'object' && document !== null && !Array.isArray(document))
      return document as Record<string, unknown>;
  } catch {}
  throw new InstallError('The registry sent a manifest that is no JSON object.');
}

function read<Shape>(shape: z.ZodType<Shape>, document: unknown): Shape {
  const found = shape.safeParse(document);
  if (found.success) return found.data;
  const [issue] = found.error.issues;
  throw new InstallError(
    `The registry sent a manifest that cannot be read: ${issue?.path.join('.')} ${issue?.message}.`,
  );
}

function choose(
  { manifests }: z.infer<typeof Index>,
  { os, architecture }: { os: string; architecture: string },
): Descriptor {
  const fitting = manifests.filter(({ platform }) => platform?.os === os && platform.architecture === architecture);
  // Without a variant, or the newest of them, where there are several.
  const newestFirst = fitting.toSorted((a, b) => ((a.platform?.variant ?? '') < (b.platform?.variant ?? '') ? 1 : -1));
  const best = fitting.find(({ platform }) => platform?.variant === undefined) ?? newestFirst[0];
  if (best) return best;
  const only = manifests.length === 1 && manifests[0]?.platform === undefined ? manifests[0] : undefined;
  if (only) return only;
  const known = manifests.flatMap(({ platform }) => (platform ? [`${platform.os}/${platform.architecture}`] : []));
  throw new InstallError(
    `The image is not there for ${os}/${architecture}, only for ${[...new Set(known)].slice(0, 10).join(', ') || 'nothing'}.`,
  );
}

const OCI_NAMES: ReadonlyMap<string, string> = new Map(
  Object.entries({
    'application/vnd.docker.distribution.manifest.v2+json': 'application/vnd.oci.image.manifest.v1+json',
    'application/vnd.docker.container.image.v1+json': 'application/vnd.oci.image.config.v1+json',
    'application/vnd.docker.image.rootfs.diff.tar': 'application/vnd.oci.image.layer.v1.tar',
    'application/vnd.docker.image.rootfs.diff.tar.gzip': 'application/vnd.oci.image.layer.v1.tar+gzip',
  }),
);

/** Docker's own manifests say the same in other words, which readers of layouts do not know; the blobs stay as they are. */
export function asOciManifest(manifest: FetchedManifest): FetchedManifest {
  const mediaType = OCI_NAMES.get(manifest.mediaType);
  if (mediaType === undefined) return manifest;
  const { config, layers } = read(Manifest, parse(manifest.body));
  const renamed = (blob: Descriptor) => ({
    mediaType: OCI_NAMES.get(blob.mediaType) ?? blob.mediaType,
    digest: blob.digest,
    size: blob.size,
  });
  const document = { schemaVersion: 2, mediaType, config: renamed(config), layers: layers.map(renamed) };
  const body = Buffer.from(JSON.stringify(document));
  return { body, mediaType, digest: digestOf(body) };
}

/** What describes the image: for which machine it is, above all. @throws InstallError */
export function configOf({ body }: FetchedManifest): Descriptor {
  return read(Manifest, parse(body)).config;
}

/** Images are for Linux, whatever the machine of the hub runs. */
export function ownPlatform(): { os: string; architecture: string } {
  const names: Readonly<Record<string, string>> = { x64: 'amd64', ia32: '386' };
  return { os: 'linux', architecture: names[process.arch] ?? process.arch };
}

export function digestOf(body: Buffer, algorithm = 'sha256'): string {
  return `${algorithm}:${createHash(algorithm).update(body).digest('hex')}`;
}
