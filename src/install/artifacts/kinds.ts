// All kinds of artifacts, and how the spec of a manifest is parsed for each.

import { z } from 'zod';
import { INSTALLED_KINDS, type KindName, kindNameOf } from '../../catalog/artifact-kind.ts';
import type { JsonObject } from '../../lib/json.ts';
import { plainIssue } from '../../lib/plain-issue.ts';
import { shownAddress } from '../../lib/secrets/secret-address.ts';
import { issueSentence } from '../errors.ts';
import { mcpbKind, zipKind } from './archive/archive.ts';
import type { ArtifactKind } from './artifact.ts';
import { gitKind } from './git/git.ts';
import { imageKind } from './image/image.ts';
import { npmKind } from './npm/npm.ts';
import { pythonKind } from './python/python.ts';

export interface ReadyArtifact {
  kind: ArtifactKind<unknown>;
  spec: unknown;
}

const remoteKind: ArtifactKind<{ url: string }> = {
  step: 'remote.skip',
  spec: z.object({ url: z.string() }),
  describe: ({ url }) => `nothing: it runs at ${shownAddress(url)}`,
  location: () => ({ kind: 'none' }),
  resolve: async ({ url }) => ({ resolved: shownAddress(url), integrity: null }),
  build: async ({ url }) => ({ skipped: `The server runs at ${shownAddress(url)}, so there is nothing to install.` }),
};

/** A new kind does not compile until it is listed here. */
const KINDS: Readonly<Record<Exclude<KindName, 'unsupported'>, ArtifactKind<unknown>>> = {
  pypi: pythonKind,
  oci: imageKind,
  npm: npmKind,
  git: gitKind,
  zip: zipKind,
  mcpb: mcpbKind,
  remote: remoteKind,
};

export function readArtifact(written: string, raw: JsonObject): ReadyArtifact | { step: string; fault: string } {
  const name = kindNameOf(written, raw);
  if (name === 'unsupported') return { step: 'artifact.unsupported', fault: unsupported(raw) };
  const kind = KINDS[name];
  const read = kind.spec.safeParse(normalized(name, raw), { error: plainIssue });
  return read.success
    ? { kind, spec: read.data }
    : { step: kind.step, fault: cannot(read.error.issues.map((issue) => issueSentence(issue, 'spec')).join('; ')) };
}

/** Manifests use different field names for the same thing. */
function normalized(name: KindName, spec: JsonObject): JsonObject {
  const { index_url, registry_url, image, package: identifier, url, fileSha256, digest } = spec;
  if (name === 'pypi') return { ...spec, index_url: index_url ?? registry_url };
  if (name === 'oci') return { ...spec, image: image ?? identifier };
  if (name === 'mcpb') return { ...spec, package: identifier ?? url, fileSha256: fileSha256 ?? digest };
  return spec;
}

function unsupported({ registry }: JsonObject): string {
  if (typeof registry === 'string' && registry !== '')
    return cannot(`the hub does not install from the registry '${registry.slice(0, 60)}'`);
  return cannot(`the hub installs only these kinds: ${INSTALLED_KINDS.join(', ')}`);
}

function cannot(why: string): string {
  return `The artifact cannot be installed: ${why}.`;
}
