// A server that runs elsewhere: there is nothing to install.
import { z } from 'zod';
import { shownAddress } from '../../lib/secret-address.ts';
import type { ArtifactKind } from './artifact.ts';

const RemoteSpec = z.object({ url: z.string(), transport: z.string().optional() });
type RemoteSpec = z.infer<typeof RemoteSpec>;

export const remoteKind: ArtifactKind<RemoteSpec> = {
  step: 'remote.skip',
  spec: RemoteSpec,
  describe: ({ url }) => `nothing: it runs at ${shownAddress(url)}`,
  location: () => ({ kind: 'none' }),
  resolve: async ({ url }) => ({ resolved: shownAddress(url), integrity: null }),
  build: async ({ url }) => ({ skipped: `The server runs at ${shownAddress(url)}, so there is nothing to install.` }),
};
