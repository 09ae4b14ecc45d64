// Somebody who puts a link in the place of a folder, again and again, while something is done there.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import type { TestContext } from 'node:test';

const SCRIPT = new URL('./swapping-process.ts', import.meta.url).pathname;

/** `pauseMs`: for how long the link is there at most, and ten times as long the folder; without one, as briefly as can be. */
export async function whileSwapping<T>(
  t: TestContext,
  { folder, outside, pauseMs = 0 }: { folder: string; outside: string; pauseMs?: number },
  work: () => Promise<T>,
): Promise<T> {
  const child = spawn(process.execPath, [SCRIPT, folder, outside, String(pauseMs)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  t.after(() => child.kill('SIGKILL'));
  await once(child.stdout, 'data');
  try {
    return await work();
  } finally {
    // Before the folders are removed, in which it would go on.
    child.kill('SIGKILL');
    await once(child, 'exit');
  }
}
