// Names of container images, as people write them and as registries know them.
import { isLoopbackHost, withoutBrackets } from '../../../lib/address.ts';

export interface ImageReference {
  /** As people write it, such as `docker.io` or `localhost:5000`. */
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
export const IMAGE_DIGEST = /^(?:sha256:[0-9a-f]{64}|sha512:[0-9a-f]{128})$/;
const LONGEST = 255;
const LONGEST_WRITTEN = 1_024;

/** A text is what is wrong with it, as the end of a sentence. */
export function readImageReference(written: string): ImageReference | string {
  if (written.length > LONGEST_WRITTEN) return `must not be longer than ${LONGEST_WRITTEN} characters`;
  const plain = written.trim().replace(/^(docker|oci):\/\//, '');
  const [name = '', digest] = splitOnce(plain, '@');
  if (digest !== undefined && !IMAGE_DIGEST.test(digest))
    return 'has a digest that cannot be read; write sha256: and 64 hexadecimal digits';
  const slash = name.lastIndexOf('/');
  const colon = name.indexOf(':', slash + 1);
  const [path, tag] = colon < 0 ? [name, undefined] : [name.slice(0, colon), name.slice(colon + 1)];
  const fault = tag === undefined ? undefined : tagFault(tag);
  if (fault) return fault;
  const { registry, rest } = splitRegistry(path);
  if (!HOST.test(registry)) return 'has no readable registry';
  const isDockerHub = DOCKER_HUB_NAMES.includes(registry);
  const repository = isDockerHub && !rest.includes('/') ? `library/${rest}` : rest;
  if (repository.length > LONGEST || !repository.split('/').every((part) => COMPONENT.test(part)))
    return 'must be the name of an image, such as `ghcr.io/owner/thing:1.0`, in lower case';
  return {
    registry: isDockerHub ? DOCKER_HUB : registry,
    host: isDockerHub ? 'registry-1.docker.io' : registry,
    repository,
    tag,
    digest,
  };
}

export function tagFault(tag: string): string | undefined {
  return TAG.test(tag) ? undefined : 'has a tag that cannot be read';
}

/** The first part is a registry when it looks like a host. */
function splitRegistry(path: string): { registry: string; rest: string } {
  const slash = path.indexOf('/');
  const first = path.slice(0, Math.max(slash, 0));
  const isHost = /[.:]/.test(first) || first === 'localhost';
  return isHost ? { registry: first.toLowerCase(), rest: path.slice(slash + 1) } : { registry: DOCKER_HUB, rest: path };
}

function splitOnce(text: string, mark: string): [string, string | undefined] {
  const at = text.indexOf(mark);
  return at < 0 ? [text, undefined] : [text.slice(0, at), text.slice(at + 1)];
}

export function imageName({ registry, repository }: ImageReference): string {
  return `${registry}/${repository}`;
}

/** The name that programs pull: by digest when there is one, because a tag may move. */
export function pullName(reference: ImageReference): string {
  const { tag = 'latest', digest } = reference;
  return digest ? `${imageName(reference)}@${digest}` : `${imageName(reference)}:${tag}`;
}

/** Registries on the machine itself have no certificates; the others must. */
export function isLoopback(host: string): boolean {
  return isLoopbackHost(withoutBrackets(host.replace(/:\d+$/, '')));
}
