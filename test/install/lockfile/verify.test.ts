import assert from 'node:assert/strict';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import type { Lockfile } from '../../../src/install/contract.ts';
import { verifyLockfile } from '../../../src/install/lockfile/verify.ts';
import { aFolder } from '../installing.ts';

test('verify: the launcher of a missing package was not changed', async (t) => {
  const target = await aFolder(t);
  await mkdir(join(target, '.hub/bin'), { recursive: true });
  await writeFile(join(target, '.hub/bin/pdf'), 'a launcher');
  const artifact = { kind: 'zip', spec: {}, resolved: 'pdf@1.0.0', integrity: null, path: '.hub/npm/pdf/0', ok: true };
  const entity = {
    id: 'tool:pdf@1.0.0',
    type: 'tool',
    name: 'pdf',
    version: '1.0.0',
    artifacts: [artifact],
    adapters: [],
  };
  const launchers = [{ name: 'pdf', artifact: 0, program: 'pdf' }];
  const lockfile = { version: 1, entities: [{ ...entity, launchers }] } as unknown as Lockfile;
  const launcher = (await verifyLockfile(target, lockfile))?.checks.find(({ what }) => what === 'launcher');
  assert.deepEqual([launcher?.outcome, launcher?.reason], ['unchecked', 'what it starts is missing']);
});
