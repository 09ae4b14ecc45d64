// Reads public images from their registry, on machines without docker, podman and skopeo.
import { z } from 'zod';
import { type ImageReference, imageName, isLoopback, pullName } from '../../../catalog/launch/image-reference.ts';
import { parseJson } from '../../../lib/json.ts';
import { FetchError } from '../../../lib/net/fetch-error.ts';
import type { Fetch } from '../../../lib/world.ts';
import { InstallError } from '../../errors.ts';
import { textDigest } from '../../target/tree.ts';
import type { ArtifactContext } from '../artifact.ts';

const LIMITS = { maxBytes: 4_000_000, timeoutMs: 30_000 };
export const MANIFEST_TYPES = [
  'application/vnd.oci.image.index.v1+json',
  'application/vnd.docker.distribution.manifest.list.v2+json',
  'application/vnd.oci.image.manifest.v1+json',
  'application/vnd.docker.distribution.manifest.v2+json',
].join(', ');
const Manifest = z.object({ schemaVersion: z.literal(2) });
/** Prevents header injection. */
const Token = z.string().regex(/^[\x21-\x7e]+$/);
const TokenReply = z.object({ token: Token.optional(), access_token: Token.optional() });

/** @throws InstallError */
export async function digestFromRegistry(image: ImageReference, { fetch, signal }: ArtifactContext): Promise<string> {
  const url = `${registryAddress(image)}/manifests/${image.digest ?? image.tag ?? 'latest'}`;
  try {
    const get = withToken(fetch, image.repository);
    const { status, body } = await get({ url, headers: { accept: MANIFEST_TYPES }, ...LIMITS, signal });
    if (status === 200 && Manifest.safeParse(parseJson(String(body))).success) return textDigest(body);
    throw new InstallError(`The digest of ${pullName(image)} could not be read: ${reasonOf(status)}.`);
  } catch (error) {
    if (!(error instanceof FetchError)) throw error;
    const why = `its registry ${error.message}`;
    throw new InstallError(`The digest of ${imageName(image)} could not be read: ${why}.`, { cause: error });
  }
}

export function registryAddress({ host, repository }: ImageReference): string {
  return `${isLoopback(host) ? 'http' : 'https'}://${host}/v2/${repository}`;
}

/** Sends requests with the anonymous token that a registry gives for an image, if it requires one. */
export function withToken(fetch: Fetch, repository: string): Fetch {
  let authorization: string | undefined;
  return async (request) => {
    const send = () =>
      fetch({ ...request, headers: { ...request.headers, ...(authorization ? { authorization } : {}) } });
    const reply = await send();
    const url = reply.status === 401 && tokenAddress(reply.headers['www-authenticate'] ?? '', repository);
    if (!url || authorization) return reply;
    const { body } = await fetch({ ...request, url, headers: {} });
    const { token, access_token } = TokenReply.safeParse(parseJson(String(body))).data ?? {};
    authorization = `Bearer ${token ?? access_token ?? ''}`;
    return send();
  };
}

/** The token address from a registry's challenge; undefined for other authentication schemes. */
function tokenAddress(challenge: string, repository: string): string | undefined {
  const value = (name: string) => new RegExp(`\\b${name}="([^"]*)"`, 'i').exec(challenge.slice(0, 2_000))?.[1];
  const url = URL.parse(value('realm') ?? '');
  if (!/^bearer\b/i.test(challenge) || !url) return undefined;
  url.searchParams.set('service', value('service') ?? '');
  // The scope of the challenge is ignored, because it may exceed reading this image.
  url.searchParams.set('scope', `repository:${repository}:pull`);
  return url.href;
}

function reasonOf(status: number): string {
  if (status === 404) return 'the registry has no such image, tag or digest';
  if (status === 401 || status === 403)
    return 'it needs a login. Private images need docker, podman or skopeo, and on a hub INSTALL_CREDENTIALS_FOR';
  return status === 200
    ? 'the registry did not send an image manifest'
    : `the registry answered ${status}; try again later`;
}
