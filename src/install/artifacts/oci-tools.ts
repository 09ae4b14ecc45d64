// The ways to pull an image, in the order in which they are tried: docker, podman, skopeo, and the hub by itself.
import { join } from 'node:path';
import { pathInside } from '../../lib/path-inside.ts';
import { type InstallContext, InstallError } from './artifact-installer.ts';
import { putInPlace } from './destination.ts';
import { platformWarning, pullLayout } from './oci-layout.ts';
import { imageProgram, withoutLogins } from './oci-program.ts';
import { IMAGE_DIGEST, type ImageReference, imageName, pullName } from './oci-reference.ts';
import { connectRegistry, type OciRegistry } from './oci-registry.ts';
import { skopeoRegistry } from './oci-skopeo.ts';
import { works } from './program.ts';

interface Pulled {
  digest: string;
  /** Relative to the target; null when the image is in the store of the program that pulled it. */
  path: string | null;
  /** As in `InstalledArtifact`. */
  platform?: string;
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
      await imageProgram(name, ['pull', '--quiet', '--', pullName(image)], context);
      const listed = await imageProgram(
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
  pull: (image, place, context) => pullFolder(skopeoRegistry(image, context), image, place, context),
};

const ownClient: OciTool = {
  name: 'registry',
  works: async () => true,
  pull: (image, place, context) => pullFolder(connectRegistry(image, context), image, place, context),
};

/** The same folder whoever brings the bytes: a lockfile made with one must do for the other. */
async function pullFolder(
  registry: OciRegistry,
  image: ImageReference,
  place: string,
  context: InstallContext,
): Promise<Pulled> {
  const earlier = await pathInside(context.targetDir, place);
  const folder = join(context.scratchDir, 'image');
  const { digest, isChosen, ...extra } = await pullLayout(registry, image.digest ?? image.tag ?? 'latest', folder, {
    earlier,
    tag: image.tag,
  });
  await putInPlace(folder, place, context);
  const warning = platformWarning(extra.platform);
  return {
    digest,
    path: place,
    ...(isChosen && extra.platform ? { platform: extra.platform } : {}),
    extra: { ...extra, ...(warning ? { warning } : {}) },
  };
}
