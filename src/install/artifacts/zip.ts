// Archives by address: zip and tar.gz.
import { z } from 'zod';
import { installArchive, publicUrl, WebAddress } from './archive-install.ts';
import type { ArtifactInstaller } from './artifact-installer.ts';
import { Destination, vendorFolder } from './destination.ts';
import { Digest } from './digest.ts';

const ZipSpec = z.object({ url: WebAddress, digest: Digest.nullish(), dest: Destination.nullish() });
type ZipSpec = z.infer<typeof ZipSpec>;

export const zipInstaller: ArtifactInstaller<ZipSpec> = {
  step: 'zip.extract',
  spec: ZipSpec,
  command: (spec) =>
    `download ${publicUrl(spec.url)}, ${spec.digest ? `check ${spec.digest}, ` : ''}extract into ${destinationOf(spec)}`,
  place: destinationOf,
  install: (spec, context) =>
    installArchive({ url: spec.url, digest: spec.digest ?? undefined, path: destinationOf(spec) }, context),
};

function destinationOf({ url, dest }: ZipSpec): string {
  return dest ?? vendorFolder(url);
}
