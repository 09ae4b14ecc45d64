// Names for folders below `vendor/`, made from addresses.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { vendorNames } from '../../../src/install/artifacts/destination.ts';
import { mayUseCredentials } from '../../../src/install/artifacts/trusted-host.ts';

const COMMIT = 'a'.repeat(40);
const NAMES: [address: string, names: string[]][] = [
  ['https://github.com/owner/repo', ['repo', 'owner-repo']],
  ['https://github.com/owner/repo.git', ['repo', 'owner-repo']],
  ['ssh://git@github.com/owner/repo.git', ['repo', 'owner-repo']],
  ['https://github.com/owner/repo/archive/refs/heads/main.zip', ['repo', 'owner-repo']],
  ['https://github.com/owner/repo/archive/refs/tags/v1.2.3.tar.gz', ['repo', 'owner-repo']],
  [`https://github.com/owner/repo/archive/${COMMIT}.zip`, ['repo', 'owner-repo']],
  ['https://github.com/owner/repo/releases/download/v1.0/thing.mcpb', ['thing', 'repo-thing']],
  ['https://gitlab.example/group/thing/-/archive/main/thing-main.zip', ['thing-main', 'thing-thing-main']],
  ['https://example.org/thing-1.0.zip', ['thing-1.0', 'example.org-thing-1.0']],
  ['https://example.org/latest', ['archive']],
  ['https://example.org/', ['archive']],
  ['https://example.org/%2e%2e%2f%2e%2e/a%20b.zip', ['a-b']],
  ['file:///srv/thing.git', ['thing', 'srv-thing']],
];

for (const [address, names] of NAMES)
  test(`vendor names of ${address}`, () => {
    assert.deepEqual(vendorNames(address), names);
  });

test('credentials are for named hosts, and for whole parts of their paths', () => {
  const trust = { credentialsFor: ['git.example.com', 'ghcr.io/team'] };
  assert.ok(mayUseCredentials(trust, 'git.example.com', '/any/repo'));
  assert.ok(mayUseCredentials(trust, 'GHCR.io', 'team/tool'));
  assert.ok(mayUseCredentials(trust, 'ghcr.io', 'team'));
  for (const [host, path] of [
    ['ghcr.io', 'teams/tool'],
    ['ghcr.io', ''],
    ['git.example.com.evil', ''],
    ['git.example.com:8443', ''],
  ] as const)
    assert.ok(!mayUseCredentials(trust, host, path), `${host}/${path}`);
});
