// Something that runs elsewhere: there is nothing to install.
import { z } from 'zod';
import { shownAddress } from '../../lib/secret-address.ts';
import type { ArtifactInstaller } from './artifact-installer.ts';

const RemoteSpec = z.object({ url: z.string(), transport: z.string().optional() });
type RemoteSpec = z.infer<typeof RemoteSpec>;

export const remoteInstaller: ArtifactInstaller<RemoteSpec> = {
  step: 'remote.skip',
  spec: RemoteSpec,
  command: ({ url }) => `nothing: it runs at ${shownAddress(url)}`,
  install: async ({ url }) => ({ resolved: shownAddress(url), integrity: null, path: null, extra: { skipped: true } }),
};
