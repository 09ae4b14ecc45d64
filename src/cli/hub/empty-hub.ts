// A hub with the settings of the local one on an empty database, which is deleted when the hub closes.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type LocalHub, type LocalHubOptions, openLocalHub } from './local-hub.ts';

export async function openEmptyHub({ config, ...options }: LocalHubOptions): Promise<LocalHub> {
  const folder = await mkdtemp(join(tmpdir(), 'hub-'));
  const removeFolder = () => rm(folder, { recursive: true, force: true });
  const empty = { ...config, database: { engine: 'sqlite', path: join(folder, 'empty.sqlite') } } as const;
  try {
    const { hub, close } = await openLocalHub({ ...options, config: empty });
    return { hub, close: () => close().finally(removeFolder) };
  } catch (error) {
    await removeFolder();
    throw error;
  }
}
