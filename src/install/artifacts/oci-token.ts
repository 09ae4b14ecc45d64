// Tokens for public images: what a registry asks for, and where it says to get it.
import { z } from 'zod';
import { FetchError } from '../../lib/fetch-error.ts';
import { type InstallContext, InstallError } from './artifact-installer.ts';
import { type ImageReference, imageName } from './oci-reference.ts';

const Token = z.looseObject({ token: z.string().optional(), access_token: z.string().optional() });
const MAX_TOKEN_BYTES = 200_000;
const TIMEOUT_MS = 20_000;

/** `challenge` is the header `WWW-Authenticate`. @throws InstallError */
export async function requestToken(
  challenge: string,
  image: ImageReference,
  { fetch, signal }: InstallContext,
): Promise<string> {
  const { scheme, realm, service } = readChallenge(challenge);
  const name = imageName(image);
  if (scheme !== 'bearer' || realm === undefined || !URL.canParse(realm))
    throw new InstallError(`The registry does not give out ${name} without a login; only public images are pulled.`);
  const url = new URL(realm);
  if (service !== undefined) url.searchParams.set('service', service);
  // Of our own making: what the registry asks for might be more than to read this image.
  url.searchParams.set('scope', `repository:${image.repository}:pull`);
  try {
    const { status, body } = await fetch({ url: url.href, maxBytes: MAX_TOKEN_BYTES, timeoutMs: TIMEOUT_MS, signal });
    const { token, access_token } = status === 200 ? readToken(body) : {};
    const found = token ?? access_token;
    // Nothing else may get into a header.
    if (found !== undefined && /^[\x21-\x7e]+$/.test(found)) return found;
    throw new InstallError(`The registry gives no token for ${name} (status ${status}): it may not be public.`);
  } catch (error) {
    if (!(error instanceof FetchError)) throw error;
    throw new InstallError(`There is no token to be had for ${name}: ${url.host} ${error.message}.`, { cause: error });
  }
}

function readToken(body: Buffer): z.infer<typeof Token> {
  try {
    return Token.parse(JSON.parse(body.toString('utf8')));
  } catch {
    return {};
  }
}

/** A registry may send more, and each sign of a long word is looked at again and again. */
const LONGEST_CHALLENGE = 2_000;

/** `Bearer realm="…",service="…"`, with the values in quotes or without. */
export function readChallenge(header: string): {
  scheme: string;
  realm: string | undefined;
  service: string | undefined;
} {
  const [, scheme = '', rest = ''] = /^\s*([A-Za-z]+)\s*(.*)$/s.exec(header.slice(0, LONGEST_CHALLENGE)) ?? [];
  const values = new Map<string, string>();
  for (const [, key = '', quoted, plain] of rest.matchAll(/([A-Za-z_]+)\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^\s,"]+))/g))
    values.set(key.toLowerCase(), quoted?.replace(/\\(.)/g, '$1') ?? plain ?? '');
  return { scheme: scheme.toLowerCase(), realm: values.get('realm'), service: values.get('service') };
}
