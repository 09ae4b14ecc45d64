import assert from 'node:assert/strict';
import { test } from 'node:test';
import { outputEnd } from '../../../src/install/artifacts/program.ts';

for (const [written, shown] of [
  ['404 https://me:pass@host.example/npm/left-pad', '404 https://host.example/npm/left-pad'],
  ['GET https://host.example/npm/?token=s3cr3t-s3cr3t failed', 'GET https://host.example/npm/?token=*** failed'],
  [
    "fatal: unable to access 'https://x-token:abc@host.example/a.git/'",
    "fatal: unable to access 'https://host.example/a.git/'",
  ],
  ['nothing secret in https://host.example/a?page=2', 'nothing secret in https://host.example/a?page=2'],
] as const) {
  test(`programs: what one wrote is told without secrets: ${shown}`, () => {
    assert.equal(outputEnd(written), shown);
  });
}

test('programs: of what one wrote, the end is told', () => {
  assert.equal(outputEnd(`${'x'.repeat(5_000)}end\n`).length, 2_000);
  assert.match(outputEnd(`${'x'.repeat(5_000)}end\n`), /end$/);
});
