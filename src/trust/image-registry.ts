// Reads from a container registry anonymously.
import { type ImageReference, isLoopback } from '../catalog/launch/image-reference.ts';
import { TokenReply, tokenAddress } from '../install/artifacts/image/registry.ts';
import { type Answer, ask, type Question } from './ask.ts';

export interface ImageRegistry {
  manifest(reference: string): Promise<Answer>;
  blob(digest: string): Promise<Answer>;
  referrers(digest: string): Promise<Answer>;
}

const MANIFEST_TYPES = 'application/vnd.oci.image.manifest.v1+json, application/vnd.oci.image.index.v1+json';

export function openImageRegistry(
  { host, repository }: Pick<ImageReference, 'host' | 'repository'>,
  { fetch, signal }: Pick<Question, 'fetch' | 'signal'>,
): ImageRegistry {
  const address = `${isLoopback(host) ? 'http' : 'https'}://${host}/v2/${repository}`;
  let authorization: Record<string, string> = {};

  async function get(path: string, accept: string): Promise<Answer> {
    const once = () => ask({ fetch, url: `${address}/${path}`, headers: { accept, ...authorization }, signal });
    const answer = await once();
    const tokenUrl = answer.outcome === 'unavailable' && tokenAddress(answer.challenge ?? '', repository);
    if (!tokenUrl || authorization.authorization) return answer;
    const granted = await ask({ fetch, url: tokenUrl, signal });
    const { token, access_token } = granted.outcome === 'ok' ? (TokenReply.safeParse(granted.document).data ?? {}) : {};
    authorization = { authorization: `Bearer ${token ?? access_token ?? ''}` };
    return once();
  }

  return {
    manifest: (reference) => get(`manifests/${reference}`, MANIFEST_TYPES),
    blob: (digest) => get(`blobs/${digest}`, '*/*'),
    referrers: (digest) => get(`referrers/${digest}`, 'application/vnd.oci.image.index.v1+json'),
  };
}
