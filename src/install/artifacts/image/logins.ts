// Logins for registries: a person's own, or those of the operator for the hosts that the operator named.
import { mkdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { z } from 'zod';
import { parseJson } from '../../../lib/json.ts';
import { mayUseCredentials } from '../address.ts';
import type { ArtifactContext } from '../artifact.ts';
import type { ImageReference } from './reference.ts';

export interface Logins {
  /** For docker, podman and skopeo. */
  env: Record<string, string>;
  /** `user:password` in base64, for the hub's own requests to the registry of the image. */
  basic: string | undefined;
}

const DockerConfig = z.object({
  auths: z.record(z.string(), z.looseObject({ auth: z.string().optional() })).default({}),
  credHelpers: z.record(z.string(), z.string()).default({}),
  credsStore: z.string().optional(),
  currentContext: z.string().optional(),
});

/** docker keeps the login of its own registry under this name. */
const DOCKER_HUB_KEY = 'https://index.docker.io/v1/';

export async function loginsFor(image: ImageReference, { trust, stagingDir }: ArtifactContext): Promise<Logins> {
  const folder = join(homedir(), '.docker');
  const text = await readFile(join(folder, 'config.json'), 'utf8').catch(() => '{}');
  const { auths, credHelpers, credsStore, currentContext } =
    DockerConfig.safeParse(parseJson(text)).data ?? DockerConfig.parse({});
  const key = image.registry === 'docker.io' ? DOCKER_HUB_KEY : image.registry;
  const isTrusted = trust.isOwnMachine || mayUseCredentials(trust, image.registry, image.repository);
  const auth = isTrusted ? auths[key] : undefined;
  if (trust.isOwnMachine) return { env: {}, basic: auth?.auth };
  const helper = isTrusted ? (credHelpers[key] ?? credsStore) : undefined;
  const config = {
    ...(auth ? { auths: { [key]: auth } } : {}),
    ...(helper ? { credHelpers: { [key]: helper } } : {}),
    currentContext,
  };
  return { env: await closedConfig(join(stagingDir, 'docker'), folder, config), basic: auth?.auth };
}

/** A configuration that knows where the engine is, and at most one login. */
async function closedConfig(closed: string, folder: string, config: object) {
  await mkdir(closed, { recursive: true });
  const file = join(closed, 'config.json');
  await writeFile(file, JSON.stringify(config), { mode: 0o600 });
  await symlink(join(folder, 'contexts'), join(closed, 'contexts')).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'EEXIST') throw error;
  });
  return { DOCKER_CONFIG: closed, REGISTRY_AUTH_FILE: file };
}
