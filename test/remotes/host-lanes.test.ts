import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { createHostLanes, type HostLanes, type Lane } from '../../src/remotes/fetching/host-lanes.ts';

interface Entry {
  host: string;
  number: number;
}

type Started = { entry: Entry; lane: Lane<Entry> };

function add(lanes: HostLanes<Entry>, host: string, count: number): void {
  for (let number = 0; number < count; number += 1) lanes.add(host, { host, number });
}

function startAll(lanes: HostLanes<Entry>): Started[] {
  const started: Started[] = [];
  for (let next = lanes.next(); next; next = lanes.next()) started.push(next);
  return started;
}

const countOf = (started: readonly Started[], host: string) =>
  started.filter(({ entry }) => entry.host === host).length;

/** Marks a host as one that answers. */
function prove(lanes: HostLanes<Entry>, host: string): void {
  add(lanes, host, 1);
  for (const { lane } of startAll(lanes)) lanes.ended(lane, { isAnswered: true });
}

test('host lanes: a host gets few requests until its first response, then as many as allowed', () => {
  const lanes = createHostLanes<Entry>({ requestsPerHost: 32, mostUnderWay: 128 });
  add(lanes, 'a', 100);
  const first = startAll(lanes);
  assert.equal(first.length, 4);
  const [one, two] = first as [Started, Started];
  lanes.ended(one.lane, { isAnswered: false });
  assert.equal(startAll(lanes).length, 1, 'a failure is not an answer');
  lanes.ended(two.lane, { isAnswered: true });
  assert.equal(startAll(lanes).length, 32 - 3);
  assert.equal(lanes.waitingCount(), 100 - 4 - 1 - 29);
});

test('host lanes: a host never gets more concurrent requests than allowed', () => {
  const lanes = createHostLanes<Entry>({ requestsPerHost: 2, mostUnderWay: 128 });
  add(lanes, 'a', 100);
  assert.equal(startAll(lanes).length, 2);
});

test('host lanes: silent hosts leave half of the requests to the others', () => {
  const lanes = createHostLanes<Entry>({ requestsPerHost: 32, mostUnderWay: 128 });
  prove(lanes, 'good');
  for (let number = 0; number < 1_000; number += 1) add(lanes, `dead${number}`, 10);
  add(lanes, 'good', 1_000);
  const started = startAll(lanes);
  assert.equal(started.length, 64 + 32);
  assert.equal(countOf(started, 'good'), 32);
});

test('host lanes: slow hosts leave a share for a host that comes later', () => {
  const lanes = createHostLanes<Entry>({ requestsPerHost: 32, mostUnderWay: 128 });
  const slow = Array.from({ length: 8 }, (_, number) => `slow${number}`);
  for (const host of slow) prove(lanes, host);
  for (const host of slow) add(lanes, host, 1_000);
  const held = startAll(lanes);
  assert.ok(held.length < 128);
  add(lanes, 'fast', 500);
  // The slow hosts finish nothing, and the fast host is served completely.
  let served = 0;
  for (let started = startAll(lanes); started.length > 0; started = startAll(lanes)) {
    served += countOf(started, 'fast');
    for (const { lane, entry } of started) if (entry.host === 'fast') lanes.ended(lane, { isAnswered: true });
  }
  assert.equal(served, 500);
});

test('host lanes: every entry comes once, in order per host, within all limits', () => {
  const step = fc.oneof(
    fc.record({ add: fc.constantFrom('a', 'b', 'c', 'd') }),
    fc.record({ end: fc.nat(), isAnswered: fc.boolean() }),
  );
  fc.assert(
    fc.property(
      fc.array(step, { maxLength: 300 }),
      fc.integer({ min: 1, max: 6 }),
      fc.integer({ min: 4, max: 10 }),
      (steps, requestsPerHost, mostUnderWay) => {
        const lanes = createHostLanes<Entry>({ requestsPerHost, mostUnderWay });
        const [added, lastOf] = [new Map<string, number>(), new Map<string, number>()];
        const underWay: Started[] = [];
        const check = () => {
          for (const started of startAll(lanes)) {
            const { host, number } = started.entry;
            assert.equal(number, (lastOf.get(host) ?? -1) + 1);
            lastOf.set(host, number);
            underWay.push(started);
            assert.ok(countOf(underWay, host) <= requestsPerHost);
          }
          assert.ok(underWay.length <= mostUnderWay);
        };
        const end = (place: number, isAnswered: boolean) => {
          const [ended] = underWay.splice(place % underWay.length, 1);
          if (ended) lanes.ended(ended.lane, { isAnswered });
        };
        for (const each of steps) {
          if ('add' in each) {
            const number = added.get(each.add) ?? 0;
            added.set(each.add, number + 1);
            lanes.add(each.add, { host: each.add, number });
          } else if (underWay.length > 0) end(each.end, each.isAnswered);
          check();
        }
        while (underWay.length > 0) {
          end(0, false);
          check();
        }
        assert.equal(lanes.waitingCount(), 0);
        for (const [host, count] of added) assert.equal(lastOf.get(host), count - 1);
      },
    ),
  );
});
