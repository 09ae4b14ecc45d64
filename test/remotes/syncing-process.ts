// A process that syncs on request until a test kills it.
import { once } from 'node:events';
import { readConfig } from '../../src/config.ts';
import { createHub } from '../../src/hub/hub.ts';
import { testWorld } from '../support/world.ts';

const [{ database, settings }] = await once(process, 'message');
const hub = await createHub({
  config: { ...readConfig(settings), database },
  world: testWorld(),
  baseUrl: () => 'http://hub.test',
});
await hub.syncRemotes();
await hub.close();
process.disconnect();
