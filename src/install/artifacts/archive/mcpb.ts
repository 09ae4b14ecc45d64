// MCP bundles: zip archives with a manifest that says how their server is started.
import { lstat, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import type { ArtifactKind, Built } from '../artifact.ts';
import { Destination, vendorNames } from '../destination.ts';
import { Digest } from '../digest.ts';
import { publicUrl, WebAddress } from '../web-address.ts';
import { type ArchiveSource, buildArchive, resolveArchive } from './archive.ts';
import { refused } from './entries.ts';
import { removeSignature } from './mcpb-signature.ts';

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

/** How the server of a bundle is started; `${__dirname}` stands for its folder. */
const Command = z.object({
  command: z.string(),
  args: z.array(z.string()).default([]),
  env: z.record(z.string(), z.string()).default({}),
});
const CommandOverride = z.object({
  command: z.string().optional(),
  args: z.array(z.string()).optional(),
  env: z.record(z.string(), z.string()).optional(),
});
const BundleManifest = z.object({
  server: z.object({
    mcp_config: Command.extend({ platform_overrides: z.record(z.string(), CommandOverride).default({}) }),
  }),
});
type BundleCommand = z.infer<typeof Command>;

const MAX_MANIFEST_BYTES = 1_000_000;

export const mcpbKind: ArtifactKind<McpbSpec> = {
  step: 'mcpb.extract',
  spec: McpbSpec,
  describe: ({ package: url, fileSha256 }) =>
    `download ${publicUrl(url)}, ${fileSha256 ? `check ${fileSha256}, ` : ''}extract it`,
  location: ({ package: url, dest }) => ({ kind: 'vendor', dest: dest ?? undefined, names: vendorNames(url) }),
  resolve: (spec, context) => resolveArchive(sourceOf(spec), context),
  async build(spec, resolution, folder, context) {
    const extracted = await buildArchive(sourceOf(spec), resolution, folder, context);
    const manifest = await lstat(join(folder, 'manifest.json')).catch(() => undefined);
    if (extracted.format !== 'zip' || !manifest?.isFile() || manifest.size > MAX_MANIFEST_BYTES)
      throw refused('it is not an MCP bundle, which is a zip with a manifest.json in it');
    const { extra } = await inspectBundle(folder);
    return { extra: { ...extracted, ...extra } };
  },
  inspect: inspectBundle,
};

async function inspectBundle(folder: string): Promise<Built> {
  const bundle = bundleCommand(await readFile(join(folder, 'manifest.json'), 'utf8'));
  return { extra: bundle ? { bundle } : {} };
}

function sourceOf({ package: url, fileSha256 }: McpbSpec): ArchiveSource {
  return { url, digest: fileSha256 ?? undefined, prepare: removeSignature };
}

/** Undefined when the manifest does not say how the server is started. */
export function bundleCommand(manifest: string, platform: string = process.platform): BundleCommand | undefined {
  const read = BundleManifest.safeParse(parsed(manifest));
  if (!read.success) return undefined;
  const { platform_overrides: overrides, ...common } = read.data.server.mcp_config;
  const own = Object.hasOwn(overrides, platform) ? overrides[platform] : undefined;
  return { command: own?.command ?? common.command, args: own?.args ?? common.args, env: own?.env ?? common.env };
}

function parsed(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch {
    return undefined;
  }
}
