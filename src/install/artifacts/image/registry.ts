// Asks a registry for the digest of an image: for machines without docker, podman and skopeo.
import { z } from 'zod';
import { FetchError } from '../../../lib/fetch-error.ts';
import { parseJson } from '../../../lib/json.ts';
import type { FetchReply } from '../../../lib/world.ts';
import { InstallError } from '../../errors.ts';
import { textDigest } from '../../target/tree.ts';
import type { ArtifactContext } from '../artifact.ts';
import type { Logins } from './logins.ts';
import { type ImageReference, imageName, isLoopback } from './reference.ts';

type Headers = { authorization: string };

const LIMITS = { maxBytes: 4_000_000, timeoutMs: 30_000 };
const MANIFEST_TYPES = [
  'application/vnd.oci.image.index.v1+json',
  'application/vnd.docker.distribution.manifest.list.v2+json',
  'application/vnd.oci.image.manifest.v1+json',
  'application/vnd.docker.distribution.manifest.v2+json',
].join(', ');

export async function digestFromRegistry(
  image: ImageReference,
  context: ArtifactContext,
  { basic }: Logins,
): Promise<string> {
  const name = imageName(image);
  // Registries on the machine itself have no certificates.
  const scheme = isLoopback(image.host) ? 'http' : 'https';
  const url = `${scheme}://${image.host}/v2/${image.repository}/manifests/${image.tag ?? 'latest'}`;
  const ask = (login?: Headers) => send(url, { accept: MANIFEST_TYPES, ...login }, context);
  try {
    let reply = await ask();
    if (reply.status === 401)
      reply = await ask(await authorize(reply.headers['www-authenticate'] ?? '', image, context, basic));
    if (reply.status !== 200) throw refusal(image, reply.status);
    return digestOf(reply, name);
  } catch (error) {
    if (!(error instanceof FetchError)) throw error;
    throw new InstallError(`The digest of ${name} could not be read: its registry ${error.message}.`, { cause: error });
  }
}

/** The digest of the manifest itself. The one that the registry announces must be the same. */
function digestOf({ body, headers }: FetchReply, name: string): string {
  const digest = textDigest(body);
  const announced = headers['docker-content-digest'];
  if (announced?.startsWith('sha256:') && announced !== digest)
    throw new InstallError(`The registry sent a manifest for ${name} that does not have the digest it announced.`);
  const isManifest = z.object({ schemaVersion: z.literal(2) }).safeParse(parseJson(body.toString())).success;
  if (!isManifest) throw new InstallError(`The registry sent a manifest for ${name} that cannot be read.`);
  return digest;
}

/** The login that the registry's challenge asks for. @throws InstallError */
async function authorize(
  challenge: string,
  image: ImageReference,
  context: ArtifactContext,
  basic: string | undefined,
): Promise<Headers> {
  const value = (name: string) => new RegExp(`\\b${name}="([^"]*)"`, 'i').exec(challenge.slice(0, 2_000))?.[1];
  const [service, url] = [value('service'), URL.parse(value('realm') ?? '')];
  const login = basic === undefined ? undefined : { authorization: `Basic ${basic}` };
  if (/^basic\b/i.test(challenge) && login) return login;
  if (!/^bearer\b/i.test(challenge) || !url) throw refusal(image, 401);
  if (service !== undefined) url.searchParams.set('service', service);
  // Written here: the registry's own might ask for more than reading this image.
  url.searchParams.set('scope', `repository:${image.repository}:pull`);
  const { status, body } = await send(url.href, { ...login }, context);
  const found = Token.safeParse(parseJson(body.toString())).data;
  const token = found?.token ?? found?.access_token ?? '';
  // Nothing else may get into a header.
  if (status === 200 && /^[\x21-\x7e]+$/.test(token)) return { authorization: `Bearer ${token}` };
  throw new InstallError(
    `The registry gives no token for ${imageName(image)} (status ${status}): it may not be public.`,
  );
}

const Token = z.object({ token: z.string().optional(), access_token: z.string().optional() });

function send(url: string, headers: Record<string, string>, { fetch, signal }: ArtifactContext) {
  return fetch({ url, headers, ...LIMITS, signal });
}

function refusal(image: ImageReference, status: number): InstallError {
  const name = imageName(image);
  if (status === 404) return new InstallError(`The registry has no image ${name}:${image.tag ?? 'latest'}.`);
  if (status === 401 || status === 403)
    return new InstallError(
      `The registry does not give out ${name} without a login (status ${status}). For private images, the operator names their host in INSTALL_CREDENTIALS_FOR.`,
    );
  if (status === 429) return new InstallError('The registry limits requests (status 429); try again later.');
  return new InstallError(`The registry answered a request for ${name} with status ${status}.`);
}
