// Names of container images.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { pullName, readImageReference } from '../../../src/catalog/launch/image-reference.ts';

const D = `sha256:${'a'.repeat(64)}`;
const READ: [string, string][] = [
  ['alpine', 'docker.io/library/alpine:latest'],
  ['alpine:3.20', 'docker.io/library/alpine:3.20'],
  ['owner/thing', 'docker.io/owner/thing:latest'],
  ['docker.io/alpine', 'docker.io/library/alpine:latest'],
  ['index.docker.io/owner/thing:1', 'docker.io/owner/thing:1'],
  ['ghcr.io/owner/a/b:v1.2.3', 'ghcr.io/owner/a/b:v1.2.3'],
  ['localhost/thing', 'localhost/thing:latest'],
  ['localhost:5000/thing', 'localhost:5000/thing:latest'],
  ['127.0.0.1:5000/a/b:c', '127.0.0.1:5000/a/b:c'],
  ['[::1]:5000/a:b', '[::1]:5000/a:b'],
  [`thing@${D}`, `docker.io/library/thing@${D}`],
  [`ghcr.io/o/t:1.0@${D}`, `ghcr.io/o/t@${D}`],
  ['docker://ghcr.io/o/t:1', 'ghcr.io/o/t:1'],
  ['Registry.Example/o/t', 'registry.example/o/t:latest'],
];
for (const [written, expected] of READ) {
  test(`image ${written} is ${expected}`, () => {
    const reference = readImageReference(written);
    assert.ok(typeof reference !== 'string', String(reference));
    assert.equal(pullName(reference), expected);
  });
}
