import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { withoutSecrets } from '../../../src/lib/secrets/known-secrets.ts';

test('withoutSecrets: removes all, also when one is part of another', () => {
  assert.equal(withoutSecrets('token hunter22 and hunter2.', ['hunter2', 'hunter22']), 'token … and ….');
  assert.equal(withoutSecrets('a b c', ['a', 'b']), 'a b c', 'too short to tell from ordinary words');
  fc.assert(
    fc.property(fc.string(), fc.stringMatching(/^[a-z0-9]{4,12}$/), fc.string(), (before, secret, after) => {
      assert.ok(!withoutSecrets(`${before}${secret}${after}`, [secret]).includes(secret));
    }),
  );
});
