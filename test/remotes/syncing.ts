// Hubs in separate processes that tests can kill.
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { fileURLToPath } from 'node:url';
import type { Environment } from '../../src/config.ts';
import type { DatabaseAddress } from '../../src/lib/net/address.ts';

export interface SyncingProcess {
  /** Opens the database and syncs. */
  start(database: DatabaseAddress, settings?: Environment): void;
  hasEnded(): boolean;
  /** Returns the signal that ended it. */
  kill(): Promise<NodeJS.Signals | null>;
}

const SCRIPT = fileURLToPath(new URL('./syncing-process.ts', import.meta.url));

/** Loads everything and waits for the start. */
export function syncingProcess(t: TestContext): SyncingProcess {
  const child: ChildProcess = fork(SCRIPT, {
    execArgv: [],
    // Compiling again each time would take longer than the work.
    env: { ...process.env, NODE_COMPILE_CACHE: join(tmpdir(), 'hub-test-compile-cache') },
  });
  const ended = once(child, 'exit');
  t.after(async () => {
    child.kill('SIGKILL');
    await ended;
  });
  return {
    start: (database, settings = {}) => void child.send({ database, settings }),
    hasEnded: () => child.exitCode !== null || child.signalCode !== null,
    async kill() {
      child.kill('SIGKILL');
      const [, signal] = await ended;
      return signal;
    },
  };
}
