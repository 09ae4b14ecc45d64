// The policy version that every entity follows, on both engines.
import assert from 'node:assert/strict';
import { admissionRules } from '../../../src/policy/admission.ts';
import { createAdmission } from '../../../src/store/governance/admission.ts';
import { createPolicyStore } from '../../../src/store/governance/policy-store.ts';
import { createRevision } from '../../../src/store/revision.ts';
import { openHere, testOnEveryEngine } from '../../support/databases/databases.ts';

const at = new Date('2026-06-01T12:00:00.000Z');

testOnEveryEngine('policy: a hub that finishes late does not undo a newer policy', async (t, address) => {
  const dialect = await openHere(address);
  t.after(() => dialect.close());
  const admission = createAdmission(dialect, { rulesOf: admissionRules, now: () => at });
  const store = createPolicyStore(dialect, createRevision(dialect), admission);

  await store.write({ text: 'version: 1\n', digest: 'first', at, by: 'a test' });
  const { version: first } = await store.read();
  await store.write({ text: 'version: 1\nrules: []\n', digest: 'second', at, by: 'a test' });
  await store.markApplied(first);
  assert.equal((await store.read()).isApplied, false);

  await store.markApplied((await store.read()).version);
  await store.markApplied(first);
  assert.equal((await store.read()).isApplied, true);
});
