import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { type BackgroundDependencies, startBackgroundSync } from '../../src/remotes/background.ts';
import { atEnd } from '../support/at-end.ts';
import { emptyDatabase } from '../support/databases/databases.ts';
import { startIndexServer } from '../support/servers/index-server.ts';
import { until } from '../support/until.ts';
import { hubOn } from './hubs.ts';
import { someManifests } from './ingest/test-ingest.ts';

type Started = Awaited<ReturnType<typeof hubOn>>;

/** The background sync of a hub, with a far shorter interval than settings allow. */
function startOn(t: TestContext, { hub, world }: Started, some: Partial<BackgroundDependencies> = {}) {
  const outcomes: string[] = [];
  const background = startBackgroundSync({
    sync: hub,
    book: { list: () => hub.listRemotes() },
    intervalMs: 40,
    now: () => new Date(),
    log: world.log,
    count: (outcome) => {
      outcomes.push(outcome);
      world.metrics.countBackgroundSync(outcome);
    },
    ...some,
  });
  t.after(() => background.stop());
  return { background, outcomes };
}

test('background: syncs at intervals, counts and logs it, and stops on close', async (t) => {
  const host = await startIndexServer(t);
  const [a] = someManifests('a');
  host.put('/m/a.json', a);
  host.put('/index.json', ['m/a.json']);
  const started = await hubOn(t, await emptyDatabase(t, 'sqlite'), { HUB_REMOTES: host.url('/index.json') });
  const { background, outcomes } = startOn(t, started);
  await until(() => outcomes.length >= 3);
  background.stop();
  assert.deepEqual([...new Set(outcomes)], ['done']);
  assert.equal((await started.hub.countEntities()).tool, 1);
  assert.ok(started.world.logged.some(({ message }) => message === 'Background sync done'));
  const { text } = await started.world.metrics.render();
  assert.match(text, /hub_background_syncs_total\{outcome="done"\} [3-9]/);

  // Succeeds once the sync that was running when it stopped has ended.
  const isFree = () => started.hub.syncRemotes().then(() => true);
  await until(() => isFree().catch(() => false));
  const before = host.requests.length;
  await sleep(500);
  assert.equal(host.requests.length, before, 'nothing more happens');
});

let shared: Promise<Started> | undefined;
/** A hub without remotes, for the tests that need no more. */
async function withoutRemotes(): Promise<Started> {
  shared ??= emptyDatabase(atEnd, 'sqlite').then((address) => hubOn(atEnd, address));
  return shared;
}

test('background: waits for at least nine tenths of the interval', async (t) => {
  const started = await withoutRemotes();
  const startedAt = performance.now();
  const { outcomes } = startOn(t, started, { intervalMs: 300 });
  await until(() => outcomes.length === 1);
  assert.ok(performance.now() - startedAt >= 265);
});

test('background: skips a round that another hub has just done or is doing', async (t) => {
  const host = await startIndexServer(t);
  host.put('/index.json', []);
  const address = await emptyDatabase(t, 'sqlite');
  const settings = { HUB_REMOTES: host.url('/index.json') };
  const [one, other] = [await hubOn(t, address, settings), await hubOn(t, address, settings)];
  await one.hub.syncRemotes();
  // The hubs' clocks are frozen at the time of that sync.
  const recent = startOn(t, other, { now: one.world.now });
  await until(() => recent.outcomes.length >= 2);
  recent.background.stop();
  assert.deepEqual([...new Set(recent.outcomes)], ['skipped']);
  assert.ok(saidWhy(other, /skipped: every remote was read recently/));

  const letGo = host.hold('/index.json');
  const before = host.requests.length;
  const syncing = one.hub.syncRemotes();
  await until(() => host.requests.length > before);
  const busy = startOn(t, other);
  await until(() => busy.outcomes.length >= 1);
  busy.background.stop();
  assert.equal(busy.outcomes[0], 'skipped');
  assert.ok(saidWhy(other, /skipped: another sync is running/));
  letGo();
  await syncing;
});

test('background: counts and logs a failure, and continues with the next round', async (t) => {
  const started = await withoutRemotes();
  let rounds = 0;
  const { outcomes } = startOn(t, started, {
    book: {
      list: async () => {
        rounds += 1;
        if (rounds === 1) throw new Error('no room');
        return started.hub.listRemotes();
      },
    },
  });
  await until(() => outcomes.length >= 2);
  assert.deepEqual(outcomes.slice(0, 2), ['failed', 'done']);
  assert.ok(
    started.world.logged.some(({ level, message }) => level === 'error' && message === 'Background sync failed'),
  );
});

test('background: starts with the hub when configured, and stops when it closes', async (t) => {
  const host = await startIndexServer(t);
  host.put('/index.json', []);
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const settings = { HUB_REMOTES: host.url('/index.json'), INGEST_INTERVAL_MIN: '5' };
  const { hub } = await hubOn(t, await emptyDatabase(t, 'sqlite'), settings);
  t.mock.timers.tick(4 * 60_000);
  await new Promise(setImmediate);
  assert.equal(host.requests.length, 0);
  t.mock.timers.tick(2 * 60_000);
  while (host.requests.length === 0) await new Promise(setImmediate);
  await hub.close();
  t.mock.timers.tick(60 * 60_000);
  assert.equal(host.requests.length, 1);
});

test('background: a round fails only when no remote can be read', async (t) => {
  const host = await startIndexServer(t);
  const started = await hubOn(t, await emptyDatabase(t, 'sqlite'));
  await started.hub.addRemote(host.url('/gone.json'));
  const alone = startOn(t, started);
  await until(() => alone.outcomes.length >= 1);
  alone.background.stop();
  assert.equal(alone.outcomes[0], 'failed');
  assert.ok(saidWhy(started, /failed: no remote could be read/));

  host.put('/index.json', []);
  await started.hub.addRemote(host.url('/index.json'));
  const beside = startOn(t, started);
  // A round that was under way when the first background stopped makes others skip theirs.
  await until(() => beside.outcomes.some((outcome) => outcome !== 'skipped'));
  assert.equal(
    beside.outcomes.find((outcome) => outcome !== 'skipped'),
    'done',
  );
});

test('background: skips a round while all remotes are being ingested', async (t) => {
  const host = await startIndexServer(t);
  host.put('/index.json', []);
  const started = await hubOn(t, await emptyDatabase(t, 'sqlite'));
  await started.hub.addRemote(host.url('/index.json'));
  const letGo = host.hold('/index.json');
  const ingesting = started.hub.ingest(host.url('/index.json'));
  await until(() => host.requests.length > 0);
  const { background, outcomes } = startOn(t, started);
  await until(() => outcomes.length >= 1);
  background.stop();
  letGo();
  await ingesting;
  assert.equal(outcomes[0], 'skipped');
  assert.ok(saidWhy(started, /skipped: every remote is already being ingested/));
});

function saidWhy({ world }: Started, what: RegExp): boolean {
  return world.logged.some(({ message }) => what.test(message));
}
