import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ardManifest, serverNameOf } from '../../../src/registry/ard/ard-entry.ts';

for (const [address, publisher] of [
  ['https://hub.example.com', 'hub.example.com'],
  ['http://127.0.0.1:8080', 'localhost.localdomain'],
  ['http://[::1]:8080', 'localhost.localdomain'],
  ['http://localhost:8080', 'localhost.localdomain'],
]) {
  test(`ard: the hub at ${address} is published by ${publisher}`, () => {
    const [entry] = ardManifest(address ?? '').entries as { identifier: string }[];
    assert.equal(entry?.identifier, `urn:air:${publisher}:registry:hub`);
  });
}

test('ard: an identifier resolves to the name of its server, any other to none', () => {
  assert.equal(serverNameOf('urn:air:Some.github.io:mcp:numbers'), 'io.github.Some/numbers');
  assert.equal(serverNameOf('urn:air:example.org:registry:hub'), undefined);
});
