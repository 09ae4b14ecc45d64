// Container images: resolved to their digest, and pulled by this machine's engine.
import { z } from 'zod';
import {
  type ImageReference,
  imageName,
  pullName,
  readImageReference,
  tagFault,
} from '../../../catalog/launch/image-reference.ts';
import { cannotFollow } from '../../errors.ts';
import { vetHost } from '../address.ts';
import type { ArtifactContext, ArtifactKind } from '../artifact.ts';
import { checkDigest, Digest } from '../digest.ts';
import { findEngine, inspectWithSkopeo, lackOfEngine, pullImage } from './engines.ts';
import { digestFromRegistry } from './registry.ts';

export const ImageSpec = z
  .object({ image: z.string(), tag: z.string().nullish(), digest: Digest.nullish() })
  .transform(({ image, tag, digest }, context) => {
    const reference = readImageReference(image);
    const written = tag?.trim() || undefined;
    const fault = typeof reference === 'string' ? `image ${reference}` : conflict(reference, written, digest);
    if (typeof reference !== 'string' && !fault)
      return { ...reference, tag: reference.tag ?? written, digest: digest ?? reference.digest };
    context.addIssue(fault ?? 'cannot be read');
    return z.NEVER;
  });

/** Tag and digest may appear twice, but must agree. */
function conflict(reference: ImageReference, tag?: string, digest?: string | null): string | undefined {
  if (tag && reference.tag && tag !== reference.tag) return 'has one tag in image and another in tag';
  if (digest && reference.digest && digest !== reference.digest) return 'has one digest in image and another in digest';
  return tag && tagFault(tag);
}

export const imageKind: ArtifactKind<ImageReference> = {
  step: 'oci.pull',
  spec: ImageSpec,
  describe: (image) => `pull ${pullName(image)}`,
  location: () => ({ kind: 'none' }),

  unavailable: async (_image, context) => ((await findEngine(context)) ? undefined : lackOfEngine(context)),

  async resolve(image, context) {
    await vetHost(`https://${image.host}/`, context);
    const digest = await findDigest(image, context);
    return { resolved: `${imageName(image)}@${digest}`, integrity: digest };
  },

  async build(image, { resolved, integrity }, _folder, context) {
    const isSame = resolved === `${imageName(image)}@${integrity}` && (!image.digest || image.digest === integrity);
    if (!isSame || !integrity)
      throw cannotFollow(`The lockfile has ${resolved}, but the manifest has ${pullName(image)}.`);
    await vetHost(`https://${image.host}/`, context);
    const engine = await findEngine(context);
    const extra = { digest: integrity, ...(image.tag ? { tag: image.tag } : {}) };
    if (!engine) return { skipped: await lackOfEngine(context), extra };
    await pullImage(engine, { ...image, digest: integrity }, context);
    return { extra: { tool: engine, ...extra } };
  },
};

/** An engine has the logins for private images, and pulls the image anyway. Without an engine, a given digest is verified. */
async function findDigest(image: ImageReference, context: ArtifactContext): Promise<string> {
  const engine = await findEngine(context);
  if (engine) return image.digest ?? pullImage(engine, image, context);
  const found = (await inspectWithSkopeo(image, context)) ?? (await digestFromRegistry(image, context));
  if (image.digest) checkDigest(`The image ${imageName(image)}`, { expected: image.digest, found });
  return found;
}
