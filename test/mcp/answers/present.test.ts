import assert from 'node:assert/strict';
import { test } from 'node:test';
import { gatewayText } from '../../../src/mcp/answers/present.ts';

const AT = '2026-01-02T03:04:05.000Z';
const states: [registeredAt: string | null, error: string | null, state: string | undefined][] = [
  [null, null, undefined],
  [AT, null, `registered ${AT}`],
  [null, 'No room.', 'not registered: No room'],
  [AT, 'No room.', `registered ${AT}, but its update failed: No room`],
  [null, 'No way to https://me:s3cret@a.example/x.', 'not registered: No way to https://a.example/x'],
];
for (const [gateway_registered_at, gateway_error, state] of states) {
  test(`mcp: ${gateway_registered_at ? 'registered' : 'not registered'}, error ${gateway_error}: ${state ? `'${state}'` : 'no text'}`, () => {
    assert.equal(gatewayText({ gateway_registered_at, gateway_error }), state);
  });
}
