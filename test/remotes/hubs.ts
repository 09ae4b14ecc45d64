// Hubs on a database that the test chooses; several may share one.
import { type Environment, readConfig } from '../../src/config.ts';
import { createHub, type Hub } from '../../src/hub/hub.ts';
import type { DatabaseAddress } from '../../src/lib/net/address.ts';
import type { Ending } from '../support/databases/databases.ts';
import { type TestWorld, testWorld } from '../support/world.ts';

export async function hubOn(
  t: Ending,
  database: DatabaseAddress,
  settings: Environment = {},
): Promise<{ hub: Hub; world: TestWorld }> {
  const world = testWorld();
  const hub = await createHub({
    config: { ...readConfig(settings), database },
    world,
    baseUrl: () => 'http://hub.test',
    mayBlock: true,
  });
  t.after(async () => {
    await hub.close();
    await world.close();
  });
  return { hub, world };
}
