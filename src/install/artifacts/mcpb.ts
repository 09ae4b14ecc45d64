// MCP bundles: zip archives with a manifest of their own.
import { lstat } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import type { Extracted } from './archive.ts';
import { refused } from './archive-entries.ts';
import { installArchive, publicUrl, WebAddress } from './archive-install.ts';
import type { ArtifactInstaller } from './artifact-installer.ts';
import { Destination, vendorFolder } from './destination.ts';
import { Digest } from './digest.ts';

const Sha256 = Digest.refine((digest) => digest.startsWith('sha256:'), { error: 'must be a sha256' });

const McpbSpec = z.object({
  registry: z.literal('mcpb'),
  /** Published catalogs put the address of the bundle here. */
  package: WebAddress,
  version: z.string().nullish(),
  fileSha256: Sha256.nullish(),
  dest: Destination.nullish(),
});
type McpbSpec = z.infer<typeof McpbSpec>;

export const mcpbInstaller: ArtifactInstaller<McpbSpec> = {
  step: 'mcpb.extract',
  spec: McpbSpec,
  command: (spec) =>
    `download ${publicUrl(spec.package)}, ${spec.fileSha256 ? `check ${spec.fileSha256}, ` : ''}extract into ${destinationOf(spec)}`,
  place: destinationOf,
  install: (spec, context) =>
    installArchive(
      { url: spec.package, digest: spec.fileSha256 ?? undefined, path: destinationOf(spec), inspect: checkBundle },
      context,
    ),
};

async function checkBundle(folder: string, { format }: Extracted): Promise<void> {
  const manifest = await lstat(join(folder, 'manifest.json')).catch(() => undefined);
  if (format !== 'zip' || !manifest?.isFile()) throw refused('it is no MCP bundle: a zip with a manifest.json in it');
}

function destinationOf({ package: url, dest }: McpbSpec): string {
  return dest ?? vendorFolder(url);
}
