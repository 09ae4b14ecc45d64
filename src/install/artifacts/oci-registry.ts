// A small client of the OCI distribution protocol: manifests and blobs of one repository, every byte checked by its digest.
import { rm, stat } from 'node:fs/promises';
import { FetchError } from '../../lib/fetch-error.ts';
import type { FetchReply } from '../../lib/world.ts';
import { type InstallContext, InstallError } from './artifact-installer.ts';
import { ACCEPTED_TYPES, type Descriptor, digestOf, type FetchedManifest, mediaTypeOf } from './oci-manifest.ts';
import { type ImageReference, imageName, isLoopback } from './oci-reference.ts';
import { requestToken } from './oci-token.ts';

export const MAX_MANIFEST_BYTES = 4_000_000;
const TIMEOUT_MS = 30_000;
const BLOB_TIMEOUT_MS = 60 * 60_000;
const MOST_ATTEMPTS = 4;

export interface OciRegistry {
  /** By tag or digest; checked when it is a digest. @throws InstallError */
  manifest(reference: string): Promise<FetchedManifest>;
  /** Into a file, continued where it broke off. @throws InstallError */
  blob(blob: Descriptor, file: string): Promise<void>;
}

export function connectRegistry(image: ImageReference, context: InstallContext): OciRegistry {
  const { fetch, download, signal } = context;
  const name = imageName(image);
  let token: string | undefined;
  let base: Promise<string> | undefined;

  const headers = (): Record<string, string> => (token ? { authorization: `Bearer ${token}` } : {});
  async function address(path: string): Promise<string> {
    base ??= findBase(image, context);
    return `${await base}/v2/${image.repository}/${path}`;
  }

  /** Sends it, and once more with a token when the registry asks for one: at first, and when it has run out. */
  async function withToken<Reply extends { status: number; headers: FetchReply['headers'] }>(
    send: () => Promise<Reply>,
  ): Promise<Reply> {
    const reply = await reached(name, send);
    if (reply.status !== 401) return reply;
    token = await requestToken(reply.headers['www-authenticate'] ?? '', image, context);
    return reached(name, send);
  }

  async function manifest(reference: string): Promise<FetchedManifest> {
    const url = await address(`manifests/${reference}`);
    const reply = await withToken(() =>
      fetch({
        url,
        headers: { ...headers(), accept: ACCEPTED_TYPES },
        maxBytes: MAX_MANIFEST_BYTES,
        timeoutMs: TIMEOUT_MS,
        signal,
      }),
    );
    if (reply.status !== 200) throw refusal(name, reference, reply.status);
    const isDigest = reference.includes(':');
    const digest = digestOf(reply.body, isDigest ? reference.slice(0, reference.indexOf(':')) : 'sha256');
    const announced = reply.headers['docker-content-digest'];
    if (isDigest && digest !== reference)
      throw new InstallError(
        `The registry sent another manifest for ${name}: its digest is ${digest}, and should be ${reference}.`,
      );
    if (announced?.startsWith('sha256:') && announced !== digestOf(reply.body))
      throw new InstallError(`The registry sent a manifest for ${name} that does not have the digest it announced.`);
    const mediaType = mediaTypeOf(reply.headers['content-type'] ?? '', reply.body);
    return { body: reply.body, digest, mediaType };
  }

  async function blob({ digest, size }: Descriptor, file: string): Promise<void> {
    const url = await address(`blobs/${digest}`);
    for (let attempt = 1; ; attempt += 1) {
      const held = await stat(file).then(
        (found) => found.size,
        () => 0,
      );
      // Complete and wrong, or longer than it may be: nothing to continue.
      if (held >= size && size > 0) await rm(file, { force: true });
      try {
        const reply = await withToken(() =>
          download({ url, headers: headers(), file, resume: true, maxBytes: size, timeoutMs: BLOB_TIMEOUT_MS, signal }),
        );
        if (reply.status !== 200 && reply.status !== 206) throw refusal(name, digest, reply.status);
        const [algorithm = 'sha256'] = digest.split(':');
        const found = `${algorithm}:${algorithm === 'sha512' ? reply.sha512 : reply.sha256}`;
        if (found === digest && reply.bytes === size) return;
        throw new InstallError(
          `The registry sent other bytes for a part of ${name}: their digest is ${found}, and should be ${digest}.`,
        );
      } catch (error) {
        const isTemporary =
          error instanceof InstallError && error.cause instanceof FetchError && error.cause.isTemporary;
        if (!isTemporary || attempt >= MOST_ATTEMPTS) throw error;
      }
    }
  }

  return { manifest, blob };
}

/** https, unless the registry is on the machine itself and knows only http. */
async function findBase({ host }: ImageReference, { fetch, signal }: InstallContext): Promise<string> {
  if (!isLoopback(host)) return `https://${host}`;
  const probe = (scheme: string) =>
    fetch({ url: `${scheme}://${host}/v2/`, maxBytes: 100_000, timeoutMs: 5_000, signal });
  return probe('https').then(
    () => `https://${host}`,
    () => `http://${host}`,
  );
}

async function reached<Reply>(name: string, send: () => Promise<Reply>): Promise<Reply> {
  try {
    return await send();
  } catch (error) {
    if (!(error instanceof FetchError)) throw error;
    throw new InstallError(`The image ${name} could not be pulled: its registry ${error.message}.`, { cause: error });
  }
}

function refusal(name: string, reference: string, status: number): InstallError {
  if (status === 404) return new InstallError(`The registry has no image ${name} with ${reference}.`);
  if (status === 401 || status === 403)
    return new InstallError(
      `The registry does not give out ${name} without a login (status ${status}); only public images are pulled.`,
    );
  if (status === 429)
    return new InstallError(`The registry gives out no more images for now (status 429); try again later.`);
  return new InstallError(`The registry answered with status ${status} when it was asked for ${name}.`);
}
