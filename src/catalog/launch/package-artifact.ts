// Lists the artifacts that a manifest installs; most published servers list only packages, which are converted.
import { asObject, asObjects, asText, type JsonObject } from '../../lib/json.ts';
import { kindNameOf } from '../artifact-kind.ts';
import { plainText } from './package-runner.ts';
import { hostedAddress, launchPackage } from './registry-package.ts';

const INSTALLED = ['npm', 'pypi', 'oci', 'mcpb'];

export function artifactsOf({ artifacts, packages }: JsonObject): JsonObject[] {
  if (Array.isArray(artifacts) && artifacts.length > 0)
    return artifacts.map((artifact) => withDigestOfPackage(asObject(artifact), asObjects(packages)));
  return asObjects(packages)
    .filter((pack) => isInstalled(pack) && asText(pack.identifier) && !hostedAddress(pack))
    .map((pack) => ({ ...artifactOfPackage(pack), reason: 'The manifest lists it under packages.' }));
}

/** Whether the hub installs packages of its registry. */
export function isInstalled(pack: JsonObject): boolean {
  return INSTALLED.includes(registryOf(pack));
}

/** Registries list the digest of a bundle in `packages`, not in the artifact. */
function withDigestOfPackage(artifact: JsonObject, packages: readonly JsonObject[]): JsonObject {
  const spec = asObject(artifact.spec);
  if (kindNameOf(asText(artifact.kind) ?? '', spec) !== 'mcpb' || (spec.fileSha256 ?? spec.digest)) return artifact;
  const pack = packages.find(({ identifier }) => identifier === (spec.package ?? spec.url));
  return pack?.fileSha256 ? { ...artifact, spec: { ...spec, fileSha256: pack.fileSha256 } } : artifact;
}

export function artifactOfPackage(pack: JsonObject): JsonObject {
  const registry = registryOf(pack) || 'unknown';
  const identifier = asText(pack.identifier) ?? '';
  const version = asText(pack.version);
  const pinned = version ? { version } : {};
  switch (registry) {
    case 'pypi':
      return { kind: 'pypi', spec: { package: identifier, ...pinned, ...extrasOf(pack, identifier) } };
    case 'oci':
      return { kind: 'oci', spec: { image: identifier, ...(version ? { tag: version } : {}) } };
    case 'mcpb': {
      const sha256 = asText(pack.fileSha256);
      return { kind: 'other', spec: { registry, url: identifier, ...(sha256 ? { digest: `sha256:${sha256}` } : {}) } };
    }
    default:
      return { kind: 'other', spec: { registry, package: identifier, ...pinned } };
  }
}

function registryOf(pack: JsonObject): string {
  return asText(pack.registryType)?.toLowerCase() ?? '';
}

/** Only the arguments of uvx contain extras: `--from pkg[mcp]`. */
function extrasOf(pack: JsonObject, identifier: string): JsonObject {
  const given = [pack.runtimeArguments, pack.packageArguments].flat();
  // Most packages have no arguments, and the launch is slow to derive.
  if (given.every((argument) => argument === undefined)) return {};
  const launch = launchPackage(pack);
  const words = launch.kind === 'command' ? launch.args.map(plainText) : [];
  const named = words.map((word) => /^([\w.-]+)\[([\w.,-]+)\]/.exec(word)).find((found) => found?.[1] === identifier);
  return named?.[2] ? { extras: named[2].split(',').filter(Boolean) } : {};
}
