import assert from 'node:assert/strict';
import { test } from 'node:test';
import { howItEnded, operationOf, whatWasDone, whoDidIt } from '../../src/access/audit-for-people.ts';

test('audit for people: names the caller, and the interface unless it is HTTP', () => {
  const entry = {
    caller: 'anonymous',
    caller_kind: 'anybody',
    role: 'admin',
    via: 'http',
    address: '127.0.0.1',
  } as const;
  assert.equal(whoDidIt(entry), 'no token · admin · 127.0.0.1');
  const user = {
    caller: 'ada',
    caller_kind: 'machine user',
    role: 'admin',
    via: 'command line',
    address: null,
  } as const;
  assert.equal(whoDidIt(user), 'ada (machine user) · admin · command line');
});

test('audit for people: names the operation in words', () => {
  assert.equal(whatWasDone({ operation: 'syncRemotes' }), 'Sync remotes');
  assert.equal(whatWasDone({ operation: 'install' }), 'Install');
  assert.equal(whatWasDone({ operation: 'removeManyPending' }), 'Remove pending servers');
});

test('audit for people: words lead back to their operation', () => {
  for (const operation of ['syncRemotes', 'install', 'removeManyPending', 'blockEntity', 'createToken']) {
    assert.equal(operationOf(operation), operation);
    assert.equal(operationOf(whatWasDone({ operation })), operation);
  }
  assert.equal(operationOf('add token'), 'createToken');
});

test('audit for people: the result follows the outcome', () => {
  assert.equal(howItEnded({ outcome: 'ok', result: null }), 'ok');
  assert.equal(howItEnded({ outcome: 'ok', result: 'new: 3' }), 'ok: new: 3');
  assert.equal(howItEnded({ outcome: 'failed', result: 'entity_not_found' }), 'failed: entity_not_found');
});
