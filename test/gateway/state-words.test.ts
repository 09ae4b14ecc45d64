import assert from 'node:assert/strict';
import { test } from 'node:test';
import { gatewayLine, gatewayState, reasonNotRegistered } from '../../src/gateway/state-words.ts';

const AT = '2026-01-02T03:04:05.000Z';
const states: [registeredAt: string | null, error: string | null, line: string, label: string | undefined][] = [
  [null, null, 'not registered', undefined],
  [AT, null, `registered ${AT}`, undefined],
  [null, 'No room.', 'not registered: No room.', 'Why it is not registered'],
  [AT, 'No room.', `registered ${AT}, but its update failed: No room.`, 'Why its update failed'],
];
for (const [gateway_registered_at, gateway_error, line, label] of states) {
  test(`gateway state: '${line}'`, () => {
    const state = gatewayState({ gateway_registered_at, gateway_error });
    assert.equal(gatewayLine(state), line);
    assert.equal(state.reason?.label, label);
  });
}

test('gateway state: each caller formats the time, or omits it', () => {
  const facts = { gateway_registered_at: AT, gateway_error: 'No room.' };
  assert.equal(gatewayState(facts, () => 'yesterday').words, 'registered yesterday, but its update failed');
  assert.equal(gatewayState(facts, () => '').words, 'registered, but its update failed');
});

test('gateway state: an error from before a block is no longer the reason', () => {
  const blocked = { gateway_registered_at: null, gateway_error: 'No room.', blocked_at: AT };
  assert.equal(gatewayLine(gatewayState(blocked)), 'not registered');
});

const WAITING = {
  type: 'mcp_server',
  blocked_at: null,
  lifecycle: { status: 'active', reason: null },
  missing_since: null,
  mcp_registration: { server: { url: 'https://mcp.example.org/mcp', transport: 'SSE' } },
} as const;
const waits: [name: string, changes: Partial<Parameters<typeof reasonNotRegistered>[0]>, reason: RegExp][] = [
  ['a server', {}, /the next sync registers it/],
  ['a blocked one', { blocked_at: AT }, /blocked/],
  ['a disabled one', { lifecycle: { status: 'disabled', reason: null } }, /disabled/],
  ['one without a registration', { mcp_registration: null }, /no mcp_registration/],
  ['a local process', { mcp_registration: { server: { transport: 'STDIO' } } }, /local process/],
  ['one that is held back', { held_by: 'rule 1' }, /policy/],
  ['a tool', { type: 'tool' }, /a tool is registered when the hub installs it/],
  ['one that no remote lists', { missing_since: AT }, /'hub sync --force' tries it/],
  ['an agent', { type: 'agent' }, /Agents are not registered/],
];
for (const [name, changes, reason] of waits) {
  test(`gateway state: says why ${name} is not registered`, () => {
    assert.match(reasonNotRegistered({ ...WAITING, ...changes }), reason);
  });
}
