// The outside world of a test: a frozen clock, a recorded log, and separate metrics.

import { createMetrics } from '../../src/lib/metrics.ts';
import { createDownload } from '../../src/lib/net/download.ts';
import { createFetch } from '../../src/lib/net/fetch.ts';
import { createGuardedProxy } from '../../src/lib/net/guarded-proxy.ts';
import { createRun } from '../../src/lib/run.ts';
import type { World } from '../../src/lib/world.ts';

export interface LoggedEvent {
  level: 'debug' | 'info' | 'warn' | 'error';
  fields: object;
  message: string;
}

export interface TestWorld extends World {
  logged: LoggedEvent[];
  /** Sets the clock. */
  setTime(iso: string): void;
  close(): Promise<void>;
}

export function testWorld(): TestWorld {
  const network = createFetch({ allowPrivate: true });
  const downloads = createDownload({ allowPrivate: true });
  const proxy = createGuardedProxy({ allowPrivate: true });
  let time = new Date('2026-06-01T12:00:00.000Z');
  const logged: LoggedEvent[] = [];
  const write = (level: LoggedEvent['level']) => (fields: object, message: string) => {
    logged.push({ level, fields, message });
  };
  return {
    now: () => time,
    fetch: network.fetch,
    fetchTrusted: network.fetch,
    download: downloads.download,
    vetAddress: downloads.vetAddress,
    run: createRun(process.env, proxy),
    close: async () => void (await Promise.all([network, downloads, proxy].map((each) => each.close()))),
    setTime: (iso) => {
      time = new Date(iso);
    },
    log: { debug: write('debug'), info: write('info'), warn: write('warn'), error: write('error') },
    metrics: createMetrics(),
    logged,
  };
}
