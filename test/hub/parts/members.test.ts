// What remotes list is recorded by the writing thread, with the policy and the events of the hub.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sql } from 'kysely';
import { type Entity, entityFromManifest, textOfEntity } from '../../../src/catalog/entity.ts';
import { openMembers } from '../../../src/hub/parts/members.ts';
import { createMetrics } from '../../../src/lib/metrics.ts';
import { admissionRules } from '../../../src/policy/admission.ts';
import { createCatalogStore } from '../../../src/store/catalog/catalog-store.ts';
import { openDatabase } from '../../../src/store/database.ts';
import { createOutbox } from '../../../src/store/events/outbox.ts';
import { createWebhookStore } from '../../../src/store/events/webhook-store.ts';
import { createAdmission } from '../../../src/store/governance/admission.ts';
import { createPolicyStore } from '../../../src/store/governance/policy-store.ts';
import { createRemoteStore } from '../../../src/store/remotes/remote-store.ts';
import { createRevision } from '../../../src/store/revision.ts';
import { aManifest } from '../../support/builders.ts';
import { emptyDatabase, testOnEveryEngine } from '../../support/databases/databases.ts';

const at = new Date('2026-06-01T12:00:00.000Z');
const REMOTE = 'https://a.example/index.json';
const HIDING = 'version: 1\nrules: []\ndefault: { search: hide }\n';
const SHOWING = 'version: 1\nrules: []\n';

testOnEveryEngine('members: ingest in the writing thread follows the policy and writes events', async (t, address) => {
  const database = await openDatabase(address, { metrics: createMetrics() });
  t.after(() => database.close());
  assert.equal(database.inWriter !== undefined, address.engine === 'sqlite');
  const revision = createRevision(
    database,
    createOutbox(database, () => at),
  );
  const admission = createAdmission(database, { rulesOf: admissionRules, now: () => at });
  const members = openMembers(database, { revision, admission });
  const catalog = createCatalogStore(database, revision);
  await createRemoteStore(database, revision).add([REMOTE], at);
  const policies = createPolicyStore(database, revision, admission);
  await policies.write({ text: HIDING, digest: 'first', at, by: 'a test' });
  const receiver = { name: 'a', url: 'https://receiver.example.org', secret: 'whsec_' };
  const webhook = { ...receiver, events: ['entity.added' as const], createdAt: at.toISOString(), createdBy: 'a test' };
  await createWebhookStore(database).add(webhook);

  const before = await catalog.revision();
  const entityOf = (id: string) => entityFromManifest({ document: aManifest({ type: 'tool', id }) });
  const made = ['x', 'y'].map(entityOf);
  const urlOf = ({ slug }: Entity) => `https://a.example/${slug}.json`;
  const state = { etag: null, lastModified: null, digest: 'sha256:1' };
  const textOf = (entity: Entity) => ({ entity: textOfEntity(entity), manifestUrl: urlOf(entity) });
  const memberOf = (entity: Entity) => ({ url: urlOf(entity), uid: entity.uid, ...state });
  const [entities, listed] = [made.map(textOf), made.map(memberOf)];
  assert.deepEqual(await members.record(REMOTE, listed, at, { entities, isStored: true }), ['created', 'created']);
  assert.equal(await catalog.revision(), before + 1, 'visible at once');
  const stored = await catalog.get({ type: 'tool', slug: 'x' });
  assert.deepEqual([stored?.isHidden, stored?.ownerUrl, stored?.createdAt], [true, REMOTE, at.toISOString()]);
  const events = await database.read.selectFrom('event').select(['type', 'at', 'data']).orderBy('position').execute();
  assert.deepEqual(
    events.map(({ type, data, ...event }) => [type, event.at, JSON.parse(data).id]),
    ['x', 'y'].map((id) => ['entity.added', at.toISOString(), `tool:${id}@1.0.0`]),
  );
  const broken = { entity: { fields: '{', manifestText: '' }, manifestUrl: 'https://a.example/z.json' };
  await assert.rejects(members.record(REMOTE, listed, at, { entities: [broken] }));
  assert.deepEqual(await members.record(REMOTE, listed, at, { entities }), ['unchanged', 'unchanged']);

  await policies.write({ text: SHOWING, digest: 'second', at, by: 'a test' });
  const later = entityOf('later');
  await members.record(REMOTE, [memberOf(later)], at, { entities: [textOf(later)] });
  assert.equal((await catalog.get({ type: 'tool', slug: 'later' }))?.isHidden, false, 'the policy of now');

  const other = 'https://removed.example/index.json';
  assert.equal(await members.record(other, listed, at, { entities, isStored: true }), undefined);
});

test('members: a full disk is reported as such, and the next batch is saved', async (t) => {
  const address = await emptyDatabase(t, 'sqlite');
  const database = await openDatabase(address, { metrics: createMetrics() });
  t.after(() => database.close());
  const revision = createRevision(database);
  const members = openMembers(database, {
    revision,
    admission: createAdmission(database, { rulesOf: admissionRules, now: () => at }),
  });
  const document = aManifest({ type: 'tool', id: 'large', description: 'x'.repeat(100_000) });
  const entity = entityFromManifest({ document });
  const url = 'https://a.example/large.json';
  const record = () =>
    members.record(REMOTE, [{ url, uid: entity.uid, etag: null, lastModified: null, digest: 'sha256:1' }], at, {
      entities: [{ entity: textOfEntity(entity), manifestUrl: url }],
    });
  const { rows } = await sql<{ page_count: number }>`pragma page_count`.execute(database.write);
  const setMost = (pages: number) => sql`pragma max_page_count = ${sql.lit(pages)}`.execute(database.write);
  await setMost(rows[0]?.page_count ?? 0);
  await assert.rejects(record(), { code: 'database_unavailable', message: /^The disk of the database is full\./ });
  await setMost(1_000_000);
  assert.deepEqual(await record(), ['created']);
});
