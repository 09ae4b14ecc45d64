// The ways to pull an image, in the order in which they are tried: docker, podman, skopeo, and the hub by itself.
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pathInside } from '../../lib/files.ts';
import { type InstallContext, InstallError } from './artifact-installer.ts';
import { putInPlace } from './destination.ts';
import { pullLayout } from './oci-layout.ts';
import { IMAGE_DIGEST, type ImageReference, imageName, isLoopback, pullName } from './oci-reference.ts';
import { connectRegistry } from './oci-registry.ts';
import { outputEnd, runProgram, works } from './program.ts';

interface Pulled {
  digest: string;
  /** Relative to the target; null when the image is in the store of the program that pulled it. */
  path: string | null;
  extra?: Record<string, unknown>;
}

export interface OciTool {
  readonly name: 'docker' | 'podman' | 'skopeo' | 'registry';
  /** A client without an engine is as good as none. */
  works(context: InstallContext): Promise<boolean>;
  pull(image: ImageReference, place: string, context: InstallContext): Promise<Pulled>;
}

export async function findOciTool(context: InstallContext): Promise<OciTool> {
  for (const tool of [docker, podman, skopeo]) if (await tool.works(context)) return tool;
  return ownClient;
}

const docker = engine('docker', ['version', '--format', '{{.Server.Version}}']);
const podman = engine('podman', ['info', '--format', '{{.Version.Version}}']);

/** Both take the same commands, and keep images in a store of their own. */
function engine(name: 'docker' | 'podman', check: string[]): OciTool {
  return {
    name,
    works: async (context) => works(name, check, context, await withoutLogins(context)),
    async pull(image, _place, context) {
      await program(name, ['pull', '--quiet', '--', pullName(image)], context);
      const listed = await program(
        name,
        ['image', 'inspect', '--format', '{{range .RepoDigests}}{{println .}}{{end}}', '--', pullName(image)],
        context,
      );
      const digests = listed.split('\n').map((line) => line.trim().split('@') as [string, string | undefined]);
      const found = image.digest ?? (digests.find(([repository]) => isSameImage(repository, image)) ?? digests[0])?.[1];
      if (!found || !IMAGE_DIGEST.test(found))
        throw new InstallError(`${name} does not say which digest ${pullName(image)} has.`);
      return { digest: found, path: null };
    },
  };
}

/** docker leaves out what it takes for granted. */
function isSameImage(listed: string, image: ImageReference): boolean {
  return [imageName(image), image.repository, image.repository.replace(/^library\//, '')].includes(listed);
}

const skopeo: OciTool = {
  name: 'skopeo',
  works: (context) => works('skopeo', ['--version'], context),
  async pull(image, place, context) {
    const insecure = isLoopback(image.host) && context.allowPrivateNetwork;
    const source = (name: string) => `docker://${name}`;
    const listed = await program(
      'skopeo',
      [
        'inspect',
        '--no-creds',
        '--no-tags',
        ...(insecure ? ['--tls-verify=false'] : []),
        '--format',
        '{{.Digest}}',
        '--',
        source(pullName(image)),
      ],
      context,
    );
    const digest = image.digest ?? listed.trim();
    if (!IMAGE_DIGEST.test(digest)) throw new InstallError(`skopeo does not say which digest ${pullName(image)} has.`);
    const folder = join(context.scratchDir, 'image');
    const to = `oci:${folder}:${image.tag ?? 'latest'}`;
    const flags = ['--src-no-creds', '--override-os', 'linux', ...(insecure ? ['--src-tls-verify=false'] : [])];
    await program('skopeo', ['copy', '--quiet', ...flags, '--', source(`${imageName(image)}@${digest}`), to], context);
    await putInPlace(folder, place, context);
    return { digest, path: place };
  },
};

const ownClient: OciTool = {
  name: 'registry',
  works: async () => true,
  async pull(image, place, context) {
    const earlier = await pathInside(context.targetDir, place);
    const folder = join(context.scratchDir, 'image');
    const registry = connectRegistry(image, context);
    const { digest, ...extra } = await pullLayout(registry, image.digest ?? image.tag ?? 'latest', folder, {
      earlier,
      tag: image.tag,
    });
    await putInPlace(folder, place, context);
    return { digest, path: place, extra };
  },
};

async function program(name: string, args: string[], context: InstallContext): Promise<string> {
  const env = await withoutLogins(context);
  const { exitCode, stdout, stderr } = await runProgram(
    {
      program: name,
      args,
      cwd: context.scratchDir,
      env,
      // docker leaves the pulling to its engine, which no proxy of ours reaches.
      isGuarded: name !== 'docker',
      timeoutMs: 60 * 60_000,
      whenMissing: `${name} is gone from the machine of the hub; try again.`,
    },
    context,
  );
  if (exitCode === 0) return stdout;
  const output = outputEnd(stderr);
  const lastLine = output.split('\n').findLast((line) => line.trim() !== '') ?? 'it said nothing';
  throw new InstallError(`${name} could not pull the image: ${lastLine.slice(0, 300)}.`, { extra: { output } });
}

/** Whoever runs the hub may be logged in somewhere; a manifest gets only what is public. */
async function withoutLogins({ scratchDir }: InstallContext): Promise<Record<string, string>> {
  const folder = join(scratchDir, 'no-logins');
  const authFile = join(folder, 'config.json');
  await mkdir(folder, { recursive: true });
  await writeFile(authFile, '{}');
  return { DOCKER_CONFIG: folder, REGISTRY_AUTH_FILE: authFile };
}
