// Every kind of artifact with its installer, and which of them a manifest means.
import type { JsonObject } from '../../lib/json.ts';
import type { ArtifactInstaller, InstallContext, InstalledArtifact, InstallerKind } from './artifact-installer.ts';
import { gitInstaller } from './git.ts';
import { installerKindOf } from './installer-kind.ts';
import { mcpbInstaller } from './mcpb.ts';
import { npmInstaller } from './npm.ts';
import { ociInstaller } from './oci.ts';
import { pypiInstaller } from './pypi.ts';
import { remoteInstaller } from './remote.ts';
import { unsupportedInstaller } from './unsupported.ts';
import { zipInstaller } from './zip.ts';

/** An installer together with the spec it was given. */
export interface ReadyArtifact {
  step: string;
  command: string;
  place: string | undefined;
  install(context: InstallContext): Promise<InstalledArtifact>;
}

/** What is wrong with a spec, as a whole sentence. */
export interface SpecFault {
  step: string;
  fault: string;
}

type ReadSpec = (spec: JsonObject) => ReadyArtifact | SpecFault;

/** A new kind does not compile until it has an installer here. */
const READERS: Readonly<Record<InstallerKind, ReadSpec>> = {
  pypi: reader(pypiInstaller),
  oci: reader(ociInstaller),
  npm: reader(npmInstaller),
  git: reader(gitInstaller),
  zip: reader(zipInstaller),
  mcpb: reader(mcpbInstaller),
  remote: reader(remoteInstaller),
  unsupported: reader(unsupportedInstaller),
};

export function readArtifact(kind: string, spec: JsonObject): ReadyArtifact | SpecFault {
  const installer = installerKindOf(kind, spec);
  return READERS[installer](inItsOwnWords(installer, spec));
}

/** The same thing is said in more than one way, depending on who wrote the manifest. */
function inItsOwnWords(kind: InstallerKind, spec: JsonObject): JsonObject {
  switch (kind) {
    case 'pypi':
      return { ...spec, index_url: spec.index_url ?? spec.registry_url };
    case 'npm':
      return { ...spec, registry: 'npm' };
    case 'oci':
      return { ...spec, image: spec.image ?? spec.package };
    case 'mcpb':
      return {
        ...spec,
        registry: 'mcpb',
        package: spec.package ?? spec.url,
        fileSha256: spec.fileSha256 ?? spec.file_sha256 ?? spec.digest,
      };
    default:
      return spec;
  }
}

function reader<Spec>(installer: ArtifactInstaller<Spec>): ReadSpec {
  return (raw) => {
    const read = installer.spec.safeParse(raw);
    if (!read.success) return { step: installer.step, fault: sentence(read.error.issues) };
    return {
      step: installer.step,
      command: installer.command(read.data),
      place: installer.place?.(read.data),
      install: (context) => installer.install(read.data, context),
    };
  };
}

function sentence(issues: readonly { path: PropertyKey[]; message: string }[]): string {
  const faults = issues.map(({ path, message }) => `${['spec', ...path].join('.')} ${plain(message)}`);
  return `The artifact cannot be installed: ${faults.join('; ')}.`;
}

/** zod's own words are for developers. */
function plain(message: string): string {
  const [, expected, received] = /^Invalid input: expected (\w+), received (\w+)$/.exec(message) ?? [];
  if (expected === undefined) return message;
  return received === 'undefined' ? 'is missing' : `must be of type ${expected}`;
}
