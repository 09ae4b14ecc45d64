// A hub in a separate process that runs operations on request, until it is killed.
import { once } from 'node:events';
import { flushCompileCache } from 'node:module';
import { readConfig } from '../src/config.ts';
import { createHub } from '../src/hub/hub.ts';
import { testWorld } from '../test/support/world.ts';
import type { Call, Outcome } from './hub-process.ts';

const [{ database, settings }] = await once(process, 'message');
const hub = await createHub({
  config: { ...readConfig(settings), database },
  world: testWorld(),
  baseUrl: () => 'http://hub.test',
});
// Flushed now, because a killed process writes nothing at its end.
flushCompileCache();

process.on('message', async ({ name, given }: Call) => {
  const operation = hub[name] as (...given: unknown[]) => Promise<unknown>;
  const outcome: Outcome = await operation(...given).then(
    (result) => ({ result }),
    (error) => ({ code: error.code, message: String(error) }),
  );
  process.send?.(outcome);
});
process.send?.('ready');
