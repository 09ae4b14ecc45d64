import assert from 'node:assert/strict';
import { test } from 'node:test';
import { withoutCredentials } from '../../src/lib/credentials.ts';

const SECRET: [name: string, value: unknown, shown: unknown][] = [
  ['a token', { auth_token: 's3cret', auth_type: 'bearer' }, { auth_token: '***', auth_type: 'bearer' }],
  ['in camel case', { apiKey: 's3cret', clientSecret: 's3cret' }, { apiKey: '***', clientSecret: '***' }],
  ['a login', { auth_username: 'me', auth_password: 's3cret' }, { auth_username: '***', auth_password: '***' }],
  ['in an address', { url: 'https://me:s3cret@a.example/sse?key=s3cret' }, { url: 'https://a.example/sse?key=***' }],
  [
    'in headers by name',
    { headers: { Authorization: 'Bearer s3cret', 'X-Team': 's3cret' } },
    { headers: { Authorization: '***', 'X-Team': '***' } },
  ],
  [
    'in a list of headers',
    { headers: [{ key: 'X-Api', value: 's3cret' }] },
    { headers: [{ key: 'X-Api', value: '***' }] },
  ],
  [
    'in an environment',
    { env: { OPENAI_KEY: 's3cret', LOG_LEVEL: 'info', DB: 'postgres://me:s3cret@db/x' } },
    { env: { OPENAI_KEY: '***', LOG_LEVEL: 'info', DB: 'postgres://db/x' } },
  ],
  [
    'marked as secret',
    [{ name: 'TEAM', isSecret: true, value: 's3cret', default: 5 }],
    [{ name: 'TEAM', isSecret: true, value: '***', default: '***' }],
  ],
  ['named as secret', { name: 'GITHUB_TOKEN', value: 's3cret' }, { name: 'GITHUB_TOKEN', value: '***' }],
  [
    'on a command line',
    { cmd: ['run', '--api-key', 's3cret', '--token=s3cret', '--port', '80'] },
    { cmd: ['run', '--api-key', '***', '--token=***', '--port', '80'] },
  ],
  [
    'below auth',
    { auth: { type: 'bearer', bearer: 's3cret', token_url: 'https://a.example/t' } },
    { auth: { type: 'bearer', bearer: '***', token_url: 'https://a.example/t' } },
  ],
];

for (const [name, value, shown] of SECRET) {
  test(`credentials: ${name} are not shown`, () => {
    assert.deepEqual(withoutCredentials(value), shown);
    assert.doesNotMatch(JSON.stringify(withoutCredentials(value)), /s3cret/);
  });
}

const HARMLESS: unknown[] = [
  { author: 'Ada', authors: ['Ada'], keywords: ['token'], max_tokens: 100, tokenizer: 'bpe', key: 'x' },
  { inputSchema: { properties: { token: { type: 'string' }, api_key: { type: 'string', description: 'Yours.' } } } },
  { env: { API_KEY: `\${API_KEY}`, OTHER_TOKEN: '<your token>' }, headers: { Authorization: 'Bearer {token}' } },
  { url: 'https://{host}/mcp', args: ['--token', '--verbose', '--key-file=a.pem'], token_url: 'https://a.example/t' },
  { authentication: 'required', password_required: true, deep: [null, 7, true, ''] },
];
for (const value of HARMLESS) {
  test(`credentials: ${JSON.stringify(value)} stays as it is`, () =>
    assert.deepEqual(withoutCredentials(value), value));
}
