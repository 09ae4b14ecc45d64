// Names of images, as manifests write them, and what a registry's challenge says.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { imageKind } from '../../../../src/install/artifacts/image/image.ts';
import { pullName, readImageReference } from '../../../../src/install/artifacts/image/reference.ts';
import { readChallenge } from '../../../../src/install/artifacts/image/registry.ts';

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

const REFUSED = [
  { image: '' },
  {},
  { image: 5 },
  { image: '-v' },
  { image: '--help' },
  { image: 'UPPER' },
  { image: 'a b' },
  { image: '../x' },
  { image: '/etc/passwd' },
  { image: 'a/../b' },
  { image: 'https://a.example/x' },
  { image: 'a:b:c' },
  { image: 'a:-x' },
  { image: 'a@sha256:123' },
  { image: 'a@md5:1' },
  { image: 'a;id' },
  { image: 'a$(id)' },
  { image: 'a\nb' },
  { image: `a:${'t'.repeat(129)}` },
  { image: 'n'.repeat(300) },
  { image: 'dir:/tmp/x' },
  { image: 'docker-archive:/etc/x' },
  { image: 'a', tag: '-x' },
  { image: 'a', tag: 'a/b' },
  { image: 'a:1', tag: '2' },
  { image: 'a', digest: 'sha256:12' },
  { image: `a@${D}`, digest: `sha256:${'b'.repeat(64)}` },
  { image: 'user:pw@host/a' },
];
for (const spec of REFUSED) {
  test(`image ${JSON.stringify(spec).slice(0, 70)} is refused`, () => {
    assert.equal(imageKind.spec.safeParse(spec).success, false);
  });
}

test('a challenge is read with quotes and without', () => {
  const expected = { scheme: 'bearer', realm: 'https://a/b', service: 'c d' };
  assert.deepEqual(readChallenge('Bearer realm="https://a/b",service="c d",scope="x"'), expected);
  assert.deepEqual(readChallenge('bearer Realm=https://a/b, service="c d"'), expected);
  assert.deepEqual(readChallenge(''), { scheme: '', realm: undefined, service: undefined });
});
