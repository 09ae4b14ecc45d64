// Launchers: names that stay, and programs that start from anywhere.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type LockedEntity, Lockfile } from '../../src/install/contract.ts';
import { launcherName, takenNames } from '../../src/install/launchers.ts';

const locked = (id: string, name: string): LockedEntity => ({
  ...{ id, type: 'mcp_server', name: 'clock', version: '1.0.0', artifacts: [], adapters: [] },
  launchers: [{ name, artifact: 0, program: name }],
  provenance: { manifest_url: null, source_url: null, manifest_digest: 'sha256:0' },
});

test('launchers: an upgrade keeps the name, another entity gets one of its own', () => {
  const lockfile = { version: 1, entities: [locked('mcp_server:clock@1.0.0', 'clock')] };
  assert.deepEqual([...takenNames(lockfile, 'mcp_server:clock@2.0.0')], []);
  const taken = takenNames(lockfile, 'mcp_server:io.example/time@1.0.0');
  assert.equal(launcherName('clock', { slug: 'io.example/time', taken }), 'time-clock');
});

test('lockfile: what is read and written again is the same, byte for byte', () => {
  const lockfile = { version: 1, entities: [locked('mcp_server:clock@1.0.0', 'clock')] };
  assert.equal(JSON.stringify(Lockfile.parse(lockfile)), JSON.stringify(lockfile));
});
