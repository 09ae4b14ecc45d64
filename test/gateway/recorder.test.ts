import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createRecorder } from '../../src/gateway/registration/recorder.ts';
import { createTurns } from '../../src/gateway/registration/turns.ts';
import type { RegistrationRecord } from '../../src/gateway/store.ts';

const aRecord = (uid: string): RegistrationRecord => ({
  uid,
  at: new Date(),
  manifestDigest: '',
  error: null,
  isNews: true,
  nextTryAt: null,
  tries: 0,
});

test('recorder: groups records that arrive during a write, and returns a result for each', async () => {
  const groups: string[][] = [];
  const record = createRecorder({
    async record(records) {
      groups.push(records.map(({ uid }) => uid));
      await new Promise((resolve) => setTimeout(resolve, 5));
      return new Set(records.map(({ uid }) => uid).filter((uid) => uid !== 'gone'));
    },
  });
  const answers = await Promise.all(['a', 'b', 'gone', 'c'].map((uid) => record(aRecord(uid))));
  assert.deepEqual(groups, [['a'], ['b', 'gone', 'c']]);
  assert.deepEqual(answers, [true, true, false, true]);
  assert.equal(await record(aRecord('d')), true);
});

test('recorder: a failed write rejects only its own records', async () => {
  let writes = 0;
  const record = createRecorder({
    async record(records) {
      writes += 1;
      if (writes === 1) throw new Error('disk full');
      return new Set(records.map(({ uid }) => uid));
    },
  });
  const [first, second] = await Promise.allSettled([record(aRecord('a')), record(aRecord('b'))]);
  assert.deepEqual([first.status, second.status], ['rejected', 'fulfilled']);
});

test('turns: run one at a time per key, in order; other keys and failures do not block', async () => {
  const take = createTurns();
  const seen: string[] = [];
  const run = (name: string, until?: Promise<void>) => async () => {
    seen.push(`${name} begins`);
    await until;
    seen.push(`${name} ends`);
    if (name === 'a1') throw new Error('a1');
    return name;
  };
  const otherKey = Promise.withResolvers<void>();
  const a1 = take('a', run('a1', otherKey.promise));
  const a2 = take('a', run('a2'));
  const b1 = take('b', run('b1'));
  await b1;
  otherKey.resolve();
  const results = await Promise.allSettled([a1, a2, b1]);
  assert.deepEqual(
    results.map(({ status }) => status),
    ['rejected', 'fulfilled', 'fulfilled'],
  );
  assert.deepEqual(seen, ['a1 begins', 'b1 begins', 'b1 ends', 'a1 ends', 'a2 begins', 'a2 ends']);
});
