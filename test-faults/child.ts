// A hub in a process of its own that does one thing when it is told to, until it is killed.
import { once } from 'node:events';
import { readConfig } from '../src/config.ts';
import { createHub } from '../src/hub.ts';
import { testWorld } from '../test/support/world.ts';

const [{ database, settings, install }] = await once(process, 'message');
const hub = await createHub({
  config: { ...readConfig(settings), database },
  world: testWorld(),
  baseUrl: () => 'http://hub.test',
});
process.send?.('begun');
if (install) await hub.install(install);
else await hub.syncRemotes();
process.send?.('done');
