// Archives in zip or tar.gz form.
import { z } from 'zod';
import type { ArtifactKind } from '../artifact.ts';
import { Destination, vendorNames } from '../destination.ts';
import { Digest } from '../digest.ts';
import { publicUrl, WebAddress } from '../web-address.ts';
import { type ArchiveSource, buildArchive, resolveArchive } from './archive.ts';

const ZipSpec = z.object({ url: WebAddress, digest: Digest.nullish(), dest: Destination.nullish() });
type ZipSpec = z.infer<typeof ZipSpec>;

export const zipKind: ArtifactKind<ZipSpec> = {
  step: 'zip.extract',
  spec: ZipSpec,
  describe: ({ url, digest }) => `download ${publicUrl(url)}, ${digest ? `check ${digest}, ` : ''}extract it`,
  location: ({ url, dest }) => ({ kind: 'vendor', dest: dest ?? undefined, names: vendorNames(url) }),
  resolve: (spec, context) => resolveArchive(sourceOf(spec), context),
  build: async (spec, resolution, folder, context) => ({
    extra: { ...(await buildArchive(sourceOf(spec), resolution, folder, context)) },
  }),
};

function sourceOf({ url, digest }: ZipSpec): ArchiveSource {
  return { url, digest: digest ?? undefined };
}
