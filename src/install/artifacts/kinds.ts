// Every kind of artifact, and how the spec of a manifest is read for it.
import type { JsonObject } from '../../lib/json.ts';
import { mcpbKind } from './archive/mcpb.ts';
import { zipKind } from './archive/zip.ts';
import type { ArtifactContext, ArtifactKind, Built, KindName, Location, Resolution } from './artifact.ts';
import { gitKind } from './git/git.ts';
import { imageKind } from './image/image.ts';
import { kindNameOf } from './kind-name.ts';
import { npmKind } from './npm/npm.ts';
import { pythonKind } from './python/python.ts';
import { remoteKind } from './remote.ts';
import { unsupportedKind } from './unsupported.ts';

/** An artifact whose spec was read. */
export interface ReadyArtifact {
  name: KindName;
  step: string;
  command: string;
  location: Location;
  unavailable(context: ArtifactContext): Promise<string | undefined>;
  resolve(context: ArtifactContext): Promise<Resolution>;
  build(resolution: Resolution, folder: string, context: ArtifactContext): Promise<Built>;
  inspect(folder: string): Promise<Built>;
}

/** What is wrong with a spec, as a sentence. */
export interface SpecFault {
  step: string;
  fault: string;
}

type ReadSpec = (name: KindName, spec: JsonObject) => ReadyArtifact | SpecFault;

/** A new kind does not compile until it is listed here. */
const KINDS: Readonly<Record<KindName, ReadSpec>> = {
  pypi: reader(pythonKind),
  oci: reader(imageKind),
  npm: reader(npmKind),
  git: reader(gitKind),
  zip: reader(zipKind),
  mcpb: reader(mcpbKind),
  remote: reader(remoteKind),
  unsupported: reader(unsupportedKind),
};

export function readArtifact(kind: string, spec: JsonObject): ReadyArtifact | SpecFault {
  const name = kindNameOf(kind, spec);
  return KINDS[name](name, normalized(name, spec));
}

/** Manifests use different field names for the same thing. */
function normalized(name: KindName, spec: JsonObject): JsonObject {
  switch (name) {
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

function reader<Spec>(kind: ArtifactKind<Spec>): ReadSpec {
  return (name, raw) => {
    const read = kind.spec.safeParse(raw);
    if (!read.success) return { step: kind.step, fault: sentence(read.error.issues) };
    const spec = read.data;
    return {
      name,
      step: kind.step,
      command: kind.describe(spec),
      location: kind.location(spec),
      unavailable: async (context) => kind.unavailable?.(spec, context),
      resolve: (context) => kind.resolve(spec, context),
      build: (resolution, folder, context) => kind.build(spec, resolution, folder, context),
      inspect: async (folder) => kind.inspect?.(folder) ?? {},
    };
  };
}

function sentence(issues: readonly { path: PropertyKey[]; message: string }[]): string {
  const faults = issues.map(({ path, message }) => `${['spec', ...path].join('.')} ${plain(message)}`);
  return `The artifact cannot be installed: ${faults.join('; ')}.`;
}

/** zod's own messages are for developers. */
function plain(message: string): string {
  const [, expected, received] = /^Invalid input: expected (\w+), received (\w+)$/.exec(message) ?? [];
  if (!expected) return message;
  return received === 'undefined' ? 'is missing' : `must be a ${expected}, not ${received}`;
}
