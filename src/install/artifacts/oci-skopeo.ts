// A registry as skopeo reads it: the very bytes that were published, so that the image is the same whoever pulled it.
import { createHash } from 'node:crypto';
import { createReadStream, existsSync } from 'node:fs';
import { stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { placeBelow } from '../../lib/place-tree.ts';
import { type InstallContext, InstallError } from './artifact-installer.ts';
import { type Descriptor, digestOf, type FetchedManifest, mediaTypeOf } from './oci-manifest.ts';
import { imageProgram } from './oci-program.ts';
import { type ImageReference, imageName, isLoopback } from './oci-reference.ts';
import { MAX_MANIFEST_BYTES, type OciRegistry } from './oci-registry.ts';

export function skopeoRegistry(image: ImageReference, context: InstallContext): OciRegistry {
  const name = imageName(image);
  const insecure = isLoopback(image.host) && context.allowPrivateNetwork;
  const folder = join(context.workDir, 'parts');
  let latest: FetchedManifest | undefined;
  let copied: Promise<string> | undefined;

  async function manifest(reference: string): Promise<FetchedManifest> {
    const isDigest = reference.includes(':');
    const flags = ['--raw', '--no-creds', ...(insecure ? ['--tls-verify=false'] : [])];
    const source = `docker://${name}${isDigest ? '@' : ':'}${reference}`;
    const text = await imageProgram('skopeo', ['inspect', ...flags, '--', source], context, {
      mostOutputBytes: MAX_MANIFEST_BYTES,
    });
    const body = Buffer.from(text);
    const digest = digestOf(body, isDigest ? reference.slice(0, reference.indexOf(':')) : 'sha256');
    if (isDigest && digest !== reference) throw otherBytes('manifest', name, digest, reference);
    latest = { body, digest, mediaType: mediaTypeOf('', body) };
    return latest;
  }

  /** All parts of the image at once. Into a plain folder: into a layout, skopeo compresses what is not, and writes another manifest. */
  function copy(): Promise<string> {
    const flags = ['--quiet', '--src-no-creds', ...(insecure ? ['--src-tls-verify=false'] : [])];
    const source = `docker://${name}@${latest?.digest}`;
    return imageProgram('skopeo', ['copy', ...flags, '--', source, `dir:${folder}`], context);
  }

  async function blob({ digest, size }: Descriptor, file: string): Promise<void> {
    copied ??= copy();
    await copied;
    const [algorithm = 'sha256', hex = ''] = digest.split(':');
    // Digests other than the usual ones have their kind in the name, since newer versions.
    const names = [hex, `${algorithm}-${hex}`].map((name) => join(folder, name));
    await placeBelow(names.find(existsSync) ?? '', { place: dirname(file) }, basename(file));
    const hash = createHash(algorithm);
    await pipeline(createReadStream(file), hash);
    const found = `${algorithm}:${hash.digest('hex')}`;
    if (found !== digest || (await stat(file)).size !== size) throw otherBytes('part', name, found, digest);
  }

  return { manifest, blob };
}

function otherBytes(what: string, name: string, found: string, expected: string): InstallError {
  return new InstallError(
    `skopeo gave other bytes for a ${what} of ${name}: their digest is ${found}, and should be ${expected}.`,
  );
}
