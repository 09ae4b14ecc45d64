import assert from 'node:assert/strict';
import { admissionRules } from '../../../src/policy/admission.ts';
import { createAdmission } from '../../../src/store/governance/admission.ts';
import { createTrustStore } from '../../../src/store/governance/trust-store.ts';
import { createRevision } from '../../../src/store/revision.ts';
import { aManifest } from '../../support/builders.ts';
import { openHere, testOnEveryEngine } from '../../support/databases/databases.ts';
import { testHub } from '../../support/hub.ts';

const UID = 'mcp_server:pdf-tables@1.0.0';

testOnEveryEngine('trust: a check is due early if a hub with a wrong clock postponed it', async (t, database) => {
  const { hub, world } = await testHub(t, { manifests: [aManifest()], database });
  await hub.changePolicy('version: 1\ndefault: { install: require_approval }');
  const dialect = await openHere(database);
  t.after(() => dialect.close());
  const admission = createAdmission(dialect, { rulesOf: admissionRules, now: world.now });
  const store = createTrustStore(dialect, createRevision(dialect), admission);

  await store.postpone(UID, new Date('2026-06-01T13:00:00.000Z'));
  assert.deepEqual(await store.waiting(world.now(), 10), []);
  await store.postpone(UID, new Date('2026-07-01T13:00:00.000Z'));
  assert.deepEqual(await store.waiting(world.now(), 10), [UID]);
});
