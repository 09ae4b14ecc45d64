// A process of its own that syncs, until a test kills it.
import { readConfig } from '../../src/config.ts';
import { createHub } from '../../src/hub.ts';
import { testWorld } from '../support/world.ts';

const hub = await createHub({
  config: { ...readConfig({}), database: JSON.parse(process.env.ADDRESS ?? '') },
  world: testWorld(),
  baseUrl: () => 'http://hub.test',
});
await hub.syncRemotes();
await hub.close();
