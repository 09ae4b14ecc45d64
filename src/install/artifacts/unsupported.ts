// Artifacts that the hub cannot install: the step says so.
import { z } from 'zod';
import { InstallError } from '../errors.ts';
import type { ArtifactKind } from './artifact.ts';

const AnySpec = z.record(z.string(), z.unknown());
type AnySpec = z.infer<typeof AnySpec>;

export const unsupportedKind: ArtifactKind<AnySpec> = {
  step: 'artifact.unsupported',
  spec: AnySpec,
  describe: (spec) => `nothing: ${reason(spec)}`,
  location: () => ({ kind: 'none' }),
  unavailable: async (spec) => `${sentence(spec)}.`,
  resolve: async (spec) => {
    throw new InstallError(`This artifact was not installed: ${reason(spec)}.`);
  },
  build: async (spec) => {
    throw new InstallError(`This artifact was not installed: ${reason(spec)}.`);
  },
};

function sentence(spec: AnySpec): string {
  const text = reason(spec);
  return `${text.slice(0, 1).toUpperCase()}${text.slice(1)}`;
}

function reason({ registry }: AnySpec): string {
  if (typeof registry === 'string' && registry !== '')
    return `the hub does not install from the registry '${registry.slice(0, 60)}'`;
  return 'the hub installs pypi, oci, git, zip, npm and mcpb artifacts, and this is none of them';
}
