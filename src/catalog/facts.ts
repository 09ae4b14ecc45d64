// Facts about an entity that policy rules use and no other column has: publisher, license, artifacts, and the content that approvals cover.
import { asObject, asText, type JsonObject, storableText } from '../lib/json.ts';
import { jsonDigest } from '../lib/json-digest.ts';
import { kindNameOf } from './artifact-kind.ts';
import { artifactsOf } from './launch/package-artifact.ts';
import type { Manifest } from './manifest.ts';
import { transportsOf } from './transport.ts';

export interface EntityFacts {
  /** As stated in the manifest; only the remote that lists it vouches for it. */
  publisher: string | null;
  license: string | null;
  transports: string[];
  /** Kinds of its artifacts, each once. */
  artifacts: string[];
  /** False when some artifact has no digest. */
  hasDigests: boolean;
  /** Digest of its content, which approvals cover. */
  brings: string;
}

const LONGEST_PUBLISHER = 200;

export function factsOfManifest(manifest: Manifest, document: JsonObject): EntityFacts {
  const artifacts = artifactsOf(document);
  const installed = artifacts.filter((artifact) => kindOf(artifact) !== 'remote');
  return {
    publisher: publisherOf(manifest, document),
    license: licenseOf(manifest),
    transports: transportsOf(manifest.mcpRegistration),
    artifacts: artifacts.length === 0 && hasAddress(manifest) ? ['remote'] : [...new Set(artifacts.map(kindOf))],
    hasDigests: installed.every((artifact) => artifactDigest(artifact) !== undefined),
    brings: jsonDigest(broughtBy(document, manifest.mcpRegistration)),
  };
}

/** Manifests need not list a server that runs elsewhere among their artifacts. */
function hasAddress({ mcpRegistration }: Manifest): boolean {
  return Boolean(asText(asObject(mcpRegistration?.server).url)?.trim());
}

/** The content of an entity that approvals cover: its artifacts and its registration, without descriptions. */
export function broughtBy(
  { artifacts, packages, remotes, adapters }: JsonObject,
  mcpRegistration: JsonObject | null,
): JsonObject {
  return { artifacts, packages, remotes, adapters, server: mcpRegistration };
}

/** `io.github.owner/thing` is a name that registries give to `io.github.owner` alone. */
function publisherOf({ name, slug }: Manifest, document: JsonObject): string | null {
  const namespaced = [name, slug].find((each) => /^[^\s/]+\/[^\s/]/.test(each));
  const claimed = asText(document.publisher) ?? asText(asObject(document.publisher).name);
  const publisher = namespaced?.slice(0, namespaced.indexOf('/')) ?? claimed;
  return publisher === undefined ? null : storableText(publisher).slice(0, LONGEST_PUBLISHER).toWellFormed();
}

/** Catalogs write these where they know of none. */
const NO_LICENSE = /^(unknown|none|noassertion|n\/a)$/i;

function licenseOf({ license }: Manifest): string | null {
  return license === null || NO_LICENSE.test(license) ? null : license;
}

function kindOf({ kind, spec }: JsonObject): string {
  return kindNameOf(typeof kind === 'string' ? kind : '', asObject(spec));
}

/** What its content is checked against, wherever its spec names it; undefined when it may be anything. */
export function artifactDigest(artifact: JsonObject): string | undefined {
  const { digest, sha256, integrity, fileSha256, file_sha256, image, package: name, ref } = asObject(artifact.spec);
  const named = asText(digest) ?? asText(sha256) ?? asText(integrity) ?? asText(fileSha256) ?? asText(file_sha256);
  const [, pinned] = /@(sha256:[0-9a-f]{64})$/.exec(asText(image) ?? asText(name) ?? '') ?? [];
  const [commit] = /^[0-9a-f]{40}$/.exec(asText(ref) ?? '') ?? [];
  return named ?? pinned ?? commit;
}
