// The facts about an entity that policy rules use: publisher, license, artifacts, and the content that approvals cover. Search results show some.
import { asObject, asText, isJsonObject, type JsonObject, storableText } from '../lib/json.ts';
import { jsonDigest } from '../lib/json-digest.ts';
import { kindNameOf } from './artifact-kind.ts';
import { installContentOf } from './launch/install-content.ts';
import type { Manifest } from './manifest.ts';
import { describeServer } from './server.ts';
import { transportsOf } from './transport.ts';

export interface EntityFacts {
  /** As stated in the manifest; only the remote vouches for it. */
  publisher: string | null;
  license: string | null;
  transports: string[];
  /** The distinct kinds of its artifacts. */
  artifacts: string[];
  /** False when an artifact has no digest. */
  hasDigests: boolean;
  /** Digest of its content, which approvals cover. */
  brings: string;
}

const LONGEST_PUBLISHER = 200;

export function factsOfManifest(manifest: Manifest, document: JsonObject): EntityFacts {
  const { artifacts, startsCommand } = installContentOf(document);
  const installed = artifacts.filter((artifact) => kindOf(artifact) !== 'remote');
  return {
    publisher: publisherOf(manifest, document),
    license: licenseOf(manifest),
    transports: [...new Set([...transportsOf(manifest.mcpRegistration), ...(startsCommand ? ['stdio'] : [])])],
    // Manifests need not list a hosted server among their artifacts.
    artifacts:
      artifacts.length === 0 && describeServer(manifest.mcpRegistration).url
        ? ['remote']
        : [...new Set(artifacts.map(kindOf))],
    hasDigests: installed.every((artifact) => artifactDigest(artifact) !== undefined),
    brings: jsonDigest(contentToApprove(document, manifest.mcpRegistration)),
  };
}

/** The content that approvals cover: artifacts, registration and agent card, without descriptions. Sorted keys make its digest cheap. */
export function contentToApprove(
  { type, adapters, agent_card: card, artifacts, packages, remotes }: JsonObject,
  mcpRegistration: JsonObject | null,
): JsonObject {
  // Only the cards of agents are served; members that are undefined are not part of the digest.
  const agent_card = type === 'agent' && isJsonObject(card) ? card : undefined;
  return { adapters, agent_card, artifacts, packages, remotes, server: mcpRegistration };
}

/** Registries reserve names such as `io.github.owner/thing` for `io.github.owner`. */
function publisherOf({ name, slug }: Manifest, document: JsonObject): string | null {
  const namespaced = [name, slug].find((each) => /^[^\s/]+\/[^\s/]/.test(each));
  const claimed = asText(document.publisher) ?? asText(asObject(document.publisher).name);
  const publisher = namespaced?.slice(0, namespaced.indexOf('/')) ?? claimed;
  return publisher === undefined ? null : storableText(publisher).slice(0, LONGEST_PUBLISHER).toWellFormed();
}

/** What catalogs write for an unknown license. */
const NO_LICENSE = /^(unknown|none|noassertion|n\/a)$/i;

function licenseOf({ license }: Manifest): string | null {
  return license === null || NO_LICENSE.test(license) ? null : license;
}

function kindOf({ kind, spec }: JsonObject): string {
  return kindNameOf(asText(kind) ?? '', asObject(spec));
}

/** The digest that an install verifies its content against; undefined when the content may be anything. */
export function artifactDigest({ kind, spec }: JsonObject): string | undefined {
  const fields = asObject(spec);
  const { digest, fileSha256, image, package: name, ref } = fields;
  switch (kindNameOf(asText(kind) ?? '', fields)) {
    case 'zip':
      return asText(digest);
    case 'mcpb':
      return asText(fileSha256) ?? asText(digest);
    case 'oci':
      return asText(digest) ?? /@(sha256:[0-9a-f]{64})$/.exec(asText(image) ?? asText(name) ?? '')?.[1];
    case 'git':
      return /^(?:[0-9a-f]{40}|[0-9a-f]{64})$/.exec(asText(ref) ?? '')?.[0];
    default:
      return undefined;
  }
}
