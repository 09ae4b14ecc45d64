import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ERROR_CODES, HubError, SettingError, StartError } from '../src/errors.ts';

test('errors: every code is one word for programs and one sentence for people', () => {
  for (const [code, meaning] of Object.entries(ERROR_CODES)) {
    assert.match(code, /^[a-z]+(_[a-z]+)*$/);
    assert.match(meaning, /^[A-Z].+\.$/);
  }
});

test('errors: an error of the hub has a code, a message, field errors and a cause', () => {
  const cause = new Error('disk full');
  const faults = [{ path: 'id', message: 'must not be empty' }];
  const error = new HubError('invalid_manifest', 'The manifest cannot be read.', { faults, cause });
  assert.equal(String(error), 'HubError: The manifest cannot be read.');
  assert.equal(error.code, 'invalid_manifest');
  assert.deepEqual(error.faults, faults);
  assert.equal(error.cause, cause);
  assert.ok(error.stack?.includes('errors.test.ts'));
});

test('errors: an error without invalid input lists no fields', () => {
  assert.deepEqual(new HubError('internal_error', 'Something went wrong.').faults, []);
});

test('errors: a wrong setting is a StartError', () => {
  const error = new SettingError('PORT is taken.');
  assert.ok(error instanceof StartError);
  assert.equal(String(error), 'SettingError: PORT is taken.');
  assert.equal(String(new StartError('No room.')), 'StartError: No room.');
});
