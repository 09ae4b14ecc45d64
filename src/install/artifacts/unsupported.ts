// Artifacts that the hub cannot install: the step says so.
import { z } from 'zod';
import { type ArtifactInstaller, InstallError } from './artifact-installer.ts';

const AnySpec = z.record(z.string(), z.unknown());
type AnySpec = z.infer<typeof AnySpec>;

export const unsupportedInstaller: ArtifactInstaller<AnySpec> = {
  step: 'artifact.unsupported',
  spec: AnySpec,
  command: (spec) => `nothing: ${why(spec)}`,
  install: async (spec) => {
    throw new InstallError(`This artifact was not installed: ${why(spec)}.`);
  },
};

function why({ registry }: AnySpec): string {
  if (typeof registry === 'string' && registry !== '')
    return `the hub does not install from the registry '${registry.slice(0, 60)}'`;
  return 'the hub installs pypi, oci, git, zip, npm and mcpb artifacts, and this is none of them';
}
