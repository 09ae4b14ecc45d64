// Container images: pulled by the first tool that works, and known by their digest.
import { z } from 'zod';
import { FetchError } from '../../lib/fetch-error.ts';
import { type ArtifactInstaller, type InstallContext, InstallError } from './artifact-installer.ts';
import { VENDOR } from './destination.ts';
import { Digest } from './digest.ts';
import { type ImageReference, imageName, pullName, readImageReference } from './oci-reference.ts';
import { findOciTool } from './oci-tools.ts';

const OciSpec = z
  .object({ image: z.string(), tag: z.string().nullish(), digest: Digest.nullish() })
  .transform(({ image, tag, digest }, context) => {
    const reference = readImageReference(image);
    const fault = typeof reference === 'string' ? `image ${reference}` : partFault(reference, tag, digest);
    if (typeof reference !== 'string' && fault === undefined) {
      const chosenTag = reference.tag ?? (tag?.trim() || undefined);
      return { ...reference, tag: chosenTag, digest: digest ?? reference.digest };
    }
    context.addIssue({ code: 'custom', message: fault ?? 'cannot be read' });
    return z.NEVER;
  });

/** Said twice is fine, said differently is not. */
function partFault(reference: ImageReference, tag?: string | null, digest?: string | null): string | undefined {
  const written = tag?.trim();
  if (written && !/^[A-Za-z0-9_][A-Za-z0-9._-]{0,127}$/.test(written)) return 'has a tag that is none';
  if (written && reference.tag && written !== reference.tag) return 'has one tag in image and another in tag';
  if (digest && reference.digest && digest !== reference.digest) return 'has one digest in image and another in digest';
  return undefined;
}

export const ociInstaller: ArtifactInstaller<ImageReference> = {
  step: 'oci.pull',
  spec: OciSpec,
  command: (image) => `pull ${pullName(image)} by docker, podman, skopeo or straight from its registry`,
  place: placeOf,

  async install(image, context) {
    await vetRegistry(image, context);
    const wanted = context.locked ? lockedImage(image, context.locked) : image;
    const tool = await findOciTool(context);
    const { digest, path, platform, extra } = await tool.pull(wanted, placeOf(image), context);
    if (wanted.digest && digest !== wanted.digest)
      throw new InstallError(`${pullName(wanted)} was asked for, and ${digest} was pulled.`);
    const resolved = `${imageName(image)}@${digest}`;
    return {
      resolved,
      integrity: digest,
      path,
      ...(platform ? { platform } : {}),
      extra: { tool: tool.name, digest, ...(image.tag ? { tag: image.tag } : {}), ...extra },
    };
  },
};

/** One folder for each image: `vendor/ghcr.io-owner-thing`. */
function placeOf(image: ImageReference): string {
  return `${VENDOR}/${imageName(image)
    .replace(/[^a-z0-9._-]+/g, '-')
    .slice(0, 150)}`;
}

async function vetRegistry({ host }: ImageReference, { vetAddress }: InstallContext): Promise<void> {
  await vetAddress(`https://${host}/`).catch((error: unknown) => {
    if (!(error instanceof FetchError)) throw error;
    throw new InstallError(`The registry ${host} cannot be used: ${error.message}.`, { cause: error });
  });
}

function lockedImage(
  image: ImageReference,
  { resolved, integrity }: { resolved: string | null; integrity: string | null },
): ImageReference {
  const isSame = resolved === `${imageName(image)}@${integrity}` && (!image.digest || image.digest === integrity);
  if (!isSame || !integrity)
    throw new InstallError(`The lockfile says ${resolved}, and the manifest ${pullName(image)}.`);
  return { ...image, digest: integrity };
}
