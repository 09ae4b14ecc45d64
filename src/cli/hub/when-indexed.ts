// Waits until the index is loaded before a command searches in its own process.
import type { SearchPage } from '../../search/contract.ts';
import type { Call } from '../command.ts';

const INDEX_PATIENCE_MS = 60_000;

/** Repeats the search while the index is loading; each attempt waits a while. */
export async function whenIndexed(
  ask: () => Promise<SearchPage>,
  { access, terminal }: Pick<Call, 'access' | 'terminal'>,
): Promise<SearchPage> {
  const deadline = performance.now() + INDEX_PATIENCE_MS;
  let page = await ask();
  while (access.serverUrl === undefined && page.degraded && performance.now() < deadline && !terminal.shutdown.aborted)
    page = await ask();
  return page;
}
