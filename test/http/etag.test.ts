import assert from 'node:assert/strict';
import { test } from 'node:test';
import { matchesEtag } from '../../src/http/etag.ts';

const cases = [
  { given: undefined, matches: false },
  { given: '', matches: false },
  { given: '*', matches: true },
  { given: 'W/"abc"', matches: true },
  { given: '"abc"', matches: true },
  { given: '"other"', matches: false },
  { given: '"other", W/"abc"', matches: true },
  { given: '"other" , "one more"', matches: false },
  { given: '"a,b", "abc"', matches: true },
  { given: 'abc', matches: false },
  { given: '"*"', matches: false },
  { given: 'W/"ABC"', matches: false },
];
for (const { given, matches } of cases) {
  test(`etag: If-None-Match ${given} ${matches ? 'has' : 'does not have'} W/"abc"`, () => {
    assert.equal(matchesEtag(given, 'W/"abc"'), matches);
  });
}
