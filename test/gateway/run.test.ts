import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createPauses } from '../../src/gateway/client/pauses.ts';
import type { Attempt } from '../../src/gateway/registration/batch.ts';
import { type RegistrationRun, registerAllDue } from '../../src/gateway/registration/run.ts';
import type { RegistrableEntity } from '../../src/gateway/store.ts';
import { aServer } from './stage.ts';

const registered = (name: string): Attempt => ({ registration: { outcome: 'registered', calls: [], name }, items: [] });
const down = (error: string, retryAfterMs: number): Attempt => ({
  registration: { outcome: 'gateway_down', calls: [], error, retryAfterMs },
  items: [],
});

/** A run over these entities with everything else working. */
function aRun(entities: RegistrableEntity[], changes: Partial<RegistrationRun> = {}): RegistrationRun {
  return {
    store: {
      countDue: async () => entities.length,
      due: async ({ after, limit }) => entities.filter(({ uid }) => uid > after).slice(0, limit),
      record: async (records) => new Set(records.map(({ uid }) => uid)),
    },
    query: { types: ['mcp_server'], effort: 'background' },
    concurrency: 2,
    now: () => new Date('2026-06-01T12:00:00Z'),
    signal: new AbortController().signal,
    pauses: createPauses(async () => {}, new AbortController().signal),
    register: async ({ name }) => registered(name),
    remember: async () => true,
    rememberItems: async () => {},
    ...changes,
  };
}

const many = Array.from({ length: 450 }, (_, index) => aServer({ name: `s${String(index).padStart(4, '0')}` }));

test('run: registers page by page, each once', async () => {
  const seen: string[] = [];
  const run = aRun(many, {
    async register({ name }) {
      seen.push(name);
      return registered(name);
    },
  });
  assert.deepEqual(await registerAllDue(run), { registered: 450, failed: 0 });
  assert.deepEqual(
    seen.toSorted(),
    many.map(({ name }) => name),
  );
});

test('run: a failing database ends it at once', async () => {
  const tried: string[] = [];
  const run = aRun(many, {
    async register({ name }) {
      tried.push(name);
      return registered(name);
    },
    remember: async () => Promise.reject(new Error('disk full')),
  });
  await assert.rejects(registerAllDue(run), /disk full/);
  assert.ok(tried.length <= 6, `${tried.length} were tried`);
});

test('run: a pause applies to all, and the call that caused it is retried', async () => {
  const pauses: number[] = [];
  let isLimited = true;
  const run = aRun(many.slice(0, 4), {
    pauses: createPauses(async (ms) => {
      pauses.push(ms);
      isLimited = false;
    }, new AbortController().signal),
    register: async ({ name }) => (isLimited ? down('429', 60_000) : registered(name)),
  });
  assert.deepEqual(await registerAllDue(run), { registered: 4, failed: 0 });
  assert.deepEqual(pauses, [60_000]);
});

test('run: pauses without progress come to an end', async () => {
  const pauses: number[] = [];
  const run = aRun(many.slice(0, 10), {
    pauses: createPauses(async (ms) => void pauses.push(ms), new AbortController().signal),
    register: async () => down('Too many.', 1_000),
  });
  const report = await registerAllDue(run);
  assert.equal(report.stopped, 'Too many.');
  assert.equal(pauses.length, 5);
  assert.ok(report.failed <= 2, `${report.failed} failed`);
});

test('run: an entity deleted meanwhile does not count', async () => {
  const run = aRun(many.slice(0, 3), { remember: async ({ name }) => name !== 's0001' });
  assert.deepEqual(await registerAllDue(run), { registered: 2, failed: 0 });
});
