// Determines what an install brings: every artifact and package that it may start, and whether it starts a command.
import { asObject, asObjects, asText, isJsonObject, type JsonObject } from '../../lib/json.ts';
import { kindNameOf } from '../artifact-kind.ts';
import { imageName, readImageReference } from './image-reference.ts';
import { alternativesOf, hasCommand, type LaunchKind, launchKindOf } from './launch.ts';
import { artifactOfPackage, artifactsOf, isInstalled } from './package-artifact.ts';
import { packageName } from './package-runner.ts';
import { hostedAddress, launchPackage } from './registry-package.ts';
import { fetchedPackages } from './written-command.ts';

export interface InstallContent {
  /** The artifacts of the manifest, then the packages that are not among them. */
  artifacts: JsonObject[];
  startsCommand: boolean;
}

/**
 * A manifest can list one artifact, and start another package. Runs for every manifest that is ingested, so it derives no
 * more than it needs.
 */
export function installContentOf(document: JsonObject): InstallContent {
  const listed = artifactsOf(document);
  const mcpRegistration = isJsonObject(document.mcp_registration) ? document.mcp_registration : null;
  const hasPackages = asObjects(document.packages).length > 0;
  if (!hasPackages && !hasCommand(mcpRegistration) && !listed.some(isStartable))
    return { artifacts: listed, startsCommand: false };
  const launch = launchKindOf({ document, mcpRegistration, artifacts: listed });
  const artifacts = [...listed, ...furtherArtifacts(document, listed, launch)];
  const startsBundle = launch.kind === 'none' && artifacts.some((artifact) => kindOf(artifact) === 'mcpb');
  // An install starts the alternative that it chose, even if the publisher also hosts the server.
  const startsCommand = launch.kind === 'command' || startsBundle || alternativesOf(document, listed).length > 0;
  return { artifacts, startsCommand };
}

/** The packages that are not among the listed artifacts. */
function furtherArtifacts(document: JsonObject, listed: readonly JsonObject[], launch: LaunchKind): JsonObject[] {
  const packages = asObjects(document.packages).filter((pack) => asText(pack.identifier) && !hostedAddress(pack));
  // Without artifacts, the listed ones are the packages themselves.
  const hasArtifacts = Array.isArray(document.artifacts) && document.artifacts.length > 0;
  const unlisted = hasArtifacts ? packages : packages.filter((pack) => !isInstalled(pack));
  const candidates = [...unlisted, ...startedPackages(launch, packages)];
  if (candidates.length === 0) return [];
  const known = new Set(listed.map(identityOf));
  return candidates.map(artifactOfPackage).filter((artifact) => {
    const identity = identityOf(artifact);
    return !known.has(identity) && known.add(identity);
  });
}

/** An unknown package counts as a package of an unknown registry. */
function startedPackages(launch: LaunchKind, packages: readonly JsonObject[]): JsonObject[] {
  const alternatives = packages
    .filter(hasRunnerOptions)
    .map((pack) => launchPackage({ ...pack, transport: undefined }));
  return [launch, ...alternatives].flatMap((each) => {
    if (each.kind !== 'command') return [];
    // This runner starts a package that is listed.
    if (each.command === 'dnx' && packages.some((pack) => !isInstalled(pack))) return [];
    return fetchedPackages(each).map(({ kind, name }) => ({ registryType: kind, identifier: name }));
  });
}

/** Whether it may start further packages; deriving the command of every package would be slow. */
function hasRunnerOptions({ runtimeArguments }: JsonObject): boolean {
  return asObjects(runtimeArguments).length > 0;
}

function isStartable(artifact: JsonObject): boolean {
  return !['git', 'zip', 'remote', 'unsupported'].includes(kindOf(artifact));
}

function kindOf({ kind, spec }: JsonObject): string {
  return kindNameOf(asText(kind) ?? '', asObject(spec));
}

/** Kind and name, without the version. */
function identityOf(artifact: JsonObject): string {
  const { package: name, image, url } = asObject(artifact.spec);
  const kind = kindOf(artifact);
  const named = asText(kind === 'oci' ? (image ?? name) : (name ?? url)) ?? '';
  if (kind === 'oci') {
    const reference = readImageReference(named);
    return `oci ${typeof reference === 'string' ? named : imageName(reference)}`;
  }
  if (kind === 'npm') return `npm ${packageName(named, kind)}`;
  // Python treats these characters alike.
  if (kind === 'pypi')
    return `pypi ${packageName(named, kind)
      .replace(/[-_.]+/g, '-')
      .toLowerCase()}`;
  return `${kind} ${named}`;
}
