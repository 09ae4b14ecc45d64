// A guarded fetch with small limits, and its errors.
import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import { createFetch } from '../../../src/lib/net/fetch.ts';
import { FetchError } from '../../../src/lib/net/fetch-error.ts';
import type { NetworkRule } from '../../../src/lib/net/network-rule.ts';
import type { FetchReply, FetchRequest } from '../../../src/lib/world.ts';

const LIMITS = { maxBytes: 10_000, timeoutMs: 60_000 };

export function fetcher(t: TestContext, rule: NetworkRule = { allowPrivate: true }) {
  const { fetch, close } = createFetch(rule);
  t.after(close);
  return (url: string, some: Partial<FetchRequest> = {}) => fetch({ url, ...LIMITS, ...some });
}

export async function failure(work: Promise<FetchReply>): Promise<FetchError> {
  const error = await work.then(
    (reply) => assert.fail(`it was answered: ${reply.status} ${reply.body.toString().slice(0, 100)}`),
    (reason: unknown) => reason,
  );
  assert.ok(error instanceof FetchError, String(error));
  return error;
}
