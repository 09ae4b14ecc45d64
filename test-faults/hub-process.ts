// A hub that can be killed at any moment: its operations run in a separate process.
import assert from 'node:assert/strict';
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Hub } from '../src/hub/hub.ts';
import type { DatabaseAddress } from '../src/lib/net/address.ts';
import type { Scope } from './harness.ts';

const SCRIPT = fileURLToPath(new URL('./child.ts', import.meta.url));

type Operation = 'syncRemotes' | 'install' | 'getEntity' | 'listPending';

export interface Call {
  name: Operation;
  given: unknown[];
}

export type Outcome = { result: unknown } | { code: unknown; message: string };

export interface HubProcess {
  /** One call at a time. @throws Error with the hub's code */
  call<Name extends Operation>(name: Name, ...given: Parameters<Hub[Name]>): Promise<Awaited<ReturnType<Hub[Name]>>>;
  /** `kill -9`. */
  kill(): Promise<void>;
}

export async function startHubProcess(
  scope: Scope,
  given: { database: DatabaseAddress; settings: Record<string, string> },
): Promise<HubProcess> {
  const env = { ...process.env, NODE_COMPILE_CACHE: join(tmpdir(), 'hub-test-compile-cache') };
  const child = fork(SCRIPT, { execArgv: [], env });
  scope.after(() => void child.kill('SIGKILL'));
  const killed = once(child, 'exit').then(([code]) => assert.equal(code, null, 'the hub ended before it was killed'));
  // Callers that wait for a response handle the rejection.
  killed.catch(() => {});
  const answer = () => Promise.race([once(child, 'message'), killed.then(() => [{ message: 'killed' }])]);
  child.send(given);
  await answer();
  return {
    async call(name, ...given) {
      child.send({ name, given } satisfies Call);
      const [outcome] = await answer();
      if ('result' in outcome) return outcome.result;
      throw Object.assign(new Error(outcome.message), { code: outcome.code });
    },
    async kill() {
      child.kill('SIGKILL');
      await killed;
    },
  };
}
