// Parses container image names into registry, repository, tag and digest.
import { isLoopbackHost, withoutBrackets } from '../../lib/net/address.ts';

export interface ImageReference {
  /** As users write it, such as `docker.io` or `localhost:5000`. */
  registry: string;
  host: string;
  repository: string;
  tag: string | undefined;
  digest: string | undefined;
}

const DOCKER_HUB = 'docker.io';
const DOCKER_HUB_NAMES = [DOCKER_HUB, 'index.docker.io', 'registry-1.docker.io', 'registry.hub.docker.com'];
const HOST = /^(?:[a-z0-9](?:[a-z0-9-]*[a-z0-9])?(?:\.[a-z0-9](?:[a-z0-9-]*[a-z0-9])?)*|\[[0-9a-f:]+\])(?::\d{1,5})?$/i;
const COMPONENT = /^[a-z0-9]+(?:(?:\.|_|__|-+)[a-z0-9]+)*$/;
const TAG = /^[A-Za-z0-9_][A-Za-z0-9._-]{0,127}$/;
export const IMAGE_DIGEST = /^sha256:[0-9a-f]{64}$/;
const LONGEST = 255;
const LONGEST_WRITTEN = 1_024;

/** Registry, path, tag and digest. The first part is a registry if it looks like a host. */
const PARTS = /^(?:((?=[^/]*[.:]|localhost\/)[^/]*)\/)?(.*?)(?::([^:/@]*))?(?:@(.*))?$/s;

/** Returns a string for an invalid reference: the fault, as the end of a sentence. */
export function readImageReference(written: string): ImageReference | string {
  if (written.length > LONGEST_WRITTEN) return `must not be longer than ${LONGEST_WRITTEN} characters`;
  const parts = PARTS.exec(written.trim().replace(/^(docker|oci):\/\//, '')) ?? [];
  const [, registry = DOCKER_HUB, path = '', tag, digest] = parts;
  if (digest !== undefined && !IMAGE_DIGEST.test(digest))
    return 'has an invalid digest; write sha256: and 64 hexadecimal digits';
  const fault = tag === undefined ? undefined : tagFault(tag);
  if (fault) return fault;
  if (!HOST.test(registry)) return 'has an invalid registry';
  const host = registry.toLowerCase();
  const isDockerHub = DOCKER_HUB_NAMES.includes(host);
  const repository = isDockerHub && !path.includes('/') ? `library/${path}` : path;
  if (repository.length > LONGEST || !repository.split('/').every((part) => COMPONENT.test(part)))
    return 'must be the name of an image, such as `ghcr.io/owner/thing:1.0`, in lower case';
  const where = isDockerHub ? { registry: DOCKER_HUB, host: 'registry-1.docker.io' } : { registry: host, host };
  return { ...where, repository, tag, digest };
}

export function tagFault(tag: string): string | undefined {
  return TAG.test(tag) ? undefined : 'has an invalid tag';
}

export function imageName({ registry, repository }: ImageReference): string {
  return `${registry}/${repository}`;
}

/** The name to pull: by digest if there is one, because a tag may move. */
export function pullName(reference: ImageReference): string {
  const { tag = 'latest', digest } = reference;
  return digest ? `${imageName(reference)}@${digest}` : `${imageName(reference)}:${tag}`;
}

/** Local registries have no certificates; all others must have one. */
export function isLoopback(host: string): boolean {
  return isLoopbackHost(withoutBrackets(host.replace(/:\d+$/, '')));
}
