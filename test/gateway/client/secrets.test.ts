import assert from 'node:assert/strict';
import { test } from 'node:test';
import { secretsIn } from '../../../src/gateway/client/secrets.ts';

test('secretsIn: finds every credential of a registration, at any depth, and nothing else', () => {
  const body = {
    name: 'pdf-tables',
    url: 'https://h.example/mcp',
    auth_type: 'bearer',
    auth_token: 'secret-a',
    auth_password: 'secret-b',
    auth_headers: [{ key: 'X-Api-Key', value: 'secret-c' }],
    auth_header_key: 'X-Other',
    auth_header_value: 'secret-d',
    oauth_config: { client_id: 'hub', client_secret: 'secret-e', token_url: 'secret-f' },
    tool: { headers: { 'X-Key': 'secret-g' }, auth_username: 'secret-h' },
  };
  assert.deepEqual(
    new Set(secretsIn(body)),
    new Set(['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h'].map((letter) => `secret-${letter}`)),
  );
  assert.deepEqual(secretsIn(undefined), []);
});
