// Checks on this machine whether an index can be read, before a catalog is created for it.
import type { IngestResult } from '../../remotes/contract.ts';
import type { Call } from '../command.ts';
import { lineLogger } from '../terminal/line-logger.ts';

/** Returns the result of an ingest that would fail. */
export async function failedCheck(
  url: string,
  { access, terminal }: Pick<Call, 'access' | 'terminal'>,
): Promise<IngestResult | undefined> {
  const [{ openWorld }, { checkIndex }] = await Promise.all([
    import('./world.ts'),
    import('../../remotes/open-remotes.ts'),
  ]);
  const config = access.config();
  const { world, close } = openWorld(config, lineLogger(terminal), terminal.environment);
  const { ingest: settings, remoteCredentials: credentials } = config;
  return checkIndex(url, { settings, credentials, world, signal: terminal.shutdown }).finally(close);
}
