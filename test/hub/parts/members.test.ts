// What remotes list is recorded by the writing thread, with the policy and the events of the hub.
import assert from 'node:assert/strict';
import { type Entity, entityFromManifest } from '../../../src/catalog/entity.ts';
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
import { testOnEveryEngine } from '../../support/databases/databases.ts';

const at = new Date('2026-06-01T12:00:00.000Z');
const REMOTE = 'https://a.example/index.json';
const POLICY = 'version: 1\nrules: []\ndefault: { search: hide }\n';

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
  await createPolicyStore(database, revision, admission).write({ text: POLICY, digest: 'first', at, by: 'a test' });
  const receiver = { name: 'a', url: 'https://receiver.example.org', secret: 'whsec_' };
  const webhook = { ...receiver, events: ['entity.added' as const], createdAt: at.toISOString(), createdBy: 'a test' };
  await createWebhookStore(database).add(webhook);

  const before = await catalog.revision();
  const made = ['x', 'y'].map((id) => entityFromManifest({ document: aManifest({ type: 'tool', id }) }));
  const urlOf = ({ slug }: Entity) => `https://a.example/${slug}.json`;
  const entities = made.map((entity) => ({ text: JSON.stringify(entity), manifestUrl: urlOf(entity) }));
  const state = { etag: null, lastModified: null, digest: 'sha256:1' };
  const listed = made.map((entity) => ({ url: urlOf(entity), uid: entity.uid, ...state }));
  assert.deepEqual(await members.record(REMOTE, listed, at, { entities, whileStored: true }), ['created', 'created']);
  assert.equal(await catalog.revision(), before + 1, 'visible at once');
  const stored = await catalog.get({ type: 'tool', slug: 'x' });
  assert.deepEqual([stored?.isHidden, stored?.ownerUrl, stored?.createdAt], [true, REMOTE, at.toISOString()]);
  const events = await database.read.selectFrom('event').select(['type', 'at', 'data']).orderBy('position').execute();
  assert.deepEqual(
    events.map(({ type, data, ...event }) => [type, event.at, JSON.parse(data).id]),
    ['x', 'y'].map((id) => ['entity.added', at.toISOString(), `tool:${id}@1.0.0`]),
  );
  const broken = { text: '{', manifestUrl: 'https://a.example/z.json' };
  await assert.rejects(members.record(REMOTE, listed, at, { entities: [broken] }));
  assert.deepEqual(await members.record(REMOTE, listed, at, { entities }), ['unchanged', 'unchanged']);
});
