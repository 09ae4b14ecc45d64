// What programs write when they cannot pull an image, as sentences that a person can act on.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { pullCause } from '../../../../src/install/artifacts/image/causes.ts';

const CAUSES: [written: string, cause: RegExp][] = [
  [
    'pinging container registry h.example: Get \\"https://h.example/v2/\\": dial tcp: lookup h.example: no such host',
    /could not be reached/,
  ],
  ['reading manifest 1.0 in h.example/a: manifest unknown', /has no such image or tag/],
  ['reading manifest 1.0 in h.example/a: unauthorized: authentication required', /needs a login/],
  ['reading manifest 1.0: toomanyrequests: You have reached your pull rate limit', /limits requests/],
  ['open /etc/containers/policy.json: no such file or directory', /install the package containers-common/],
  ['tls: failed to verify certificate: x509: certificate signed by unknown authority', /certificate of the registry/],
  ['something \\"else\\" in parts went wrong', /^something "else" in parts went wrong$/],
];

for (const [written, cause] of CAUSES)
  test(`image: ${cause.source}`, () => {
    assert.match(pullCause(`time="2026-01-01T00:00:00Z" level=fatal msg="${written}"\n`), cause);
  });
