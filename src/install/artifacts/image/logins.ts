// Logins for registries: a person's own, or those of the operator for the hosts that the operator named.
import { mkdtemp, readFile, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { parseJson } from '../../../lib/json.ts';
import { mayUseCredentials } from '../address.ts';
import type { ArtifactContext } from '../artifact.ts';
import type { ImageReference } from './reference.ts';

const DockerConfig = z.object({
  auths: z.record(z.string(), z.unknown()).default({}),
  credHelpers: z.record(z.string(), z.string()).default({}),
  credsStore: z.string().optional(),
  currentContext: z.string().optional(),
});

/** docker keeps the login of its own registry under this name. */
const DOCKER_HUB_KEY = 'https://index.docker.io/v1/';

/** Variables that lead docker, podman and skopeo to the logins for an image. */
export async function loginsFor(
  image: ImageReference,
  { trust, stagingDir, home }: ArtifactContext,
): Promise<Record<string, string>> {
  if (trust.isOwnMachine) return {};
  const folder = join(home, '.docker');
  const text = await readFile(join(folder, 'config.json'), 'utf8').catch(() => '{}');
  const { auths, credHelpers, credsStore, currentContext } =
    DockerConfig.safeParse(parseJson(text)).data ?? DockerConfig.parse({});
  const key = image.registry === 'docker.io' ? DOCKER_HUB_KEY : image.registry;
  const isTrusted = mayUseCredentials(trust, image.registry, image.repository);
  const helper = credHelpers[key] ?? credsStore;
  // It knows where the engine is, and at most one login.
  const config = {
    ...(isTrusted && auths[key] ? { auths: { [key]: auths[key] } } : {}),
    ...(isTrusted && helper ? { credHelpers: { [key]: helper } } : {}),
    currentContext,
  };
  const closed = await mkdtemp(join(stagingDir, 'docker-'));
  await writeFile(join(closed, 'config.json'), JSON.stringify(config), { mode: 0o600 });
  await symlink(join(folder, 'contexts'), join(closed, 'contexts'));
  return { DOCKER_CONFIG: closed, REGISTRY_AUTH_FILE: join(closed, 'config.json') };
}
