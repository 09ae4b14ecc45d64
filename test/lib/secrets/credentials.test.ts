import assert from 'node:assert/strict';
import { test } from 'node:test';
import { withoutCredentials } from '../../../src/lib/secrets/credentials.ts';
import { cpuMs } from '../../support/in-time.ts';

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
  [
    'in variables on a command line',
    { args: ['run', '-e', 'GITHUB_TOKEN=s3cret', '--env=OPENAI_KEY=s3cret', 'DB=postgres://me:s3cret@db/x', 'A=b'] },
    { args: ['run', '-e', 'GITHUB_TOKEN=***', '--env=OPENAI_KEY=***', 'DB=postgres://db/x', 'A=b'] },
  ],
  [
    'in headers on a command line',
    { args: ['--header', 'Authorization: Bearer s3cret', '-H', 'X-Team: s3cret', '--header=X-Api-Key: s3cret'] },
    { args: ['--header', 'Authorization: ***', '-H', 'X-Team: ***', '--header=X-Api-Key: ***'] },
  ],
  ['in a list of words', ['Authorization: Bearer s3cret', 'token=s3cret'], ['Authorization: ***', 'token=***']],
  ['in a list of variables', { env: ['API_KEY=s3cret', 'LEVEL=info'] }, { env: ['API_KEY=***', 'LEVEL=info'] }],
  [
    'in a command line that is one text',
    { command: `A=b API_KEY='s3cret s3cret'  npx x --token s3cret -H "X-Api-Key: s3cret" --port 80` },
    { command: `A=b API_KEY=***  npx x --token *** -H "X-Api-Key: ***" --port 80` },
  ],
  ['in a shell word', { cmd: ['sh', '-c', 'TOKEN=s3cret run x'] }, { cmd: ['sh', '-c', 'TOKEN=*** run x'] }],
  [
    'in described arguments',
    { runtimeArguments: [{ type: 'named', name: '-e', value: 'A_TOKEN=s3cret' }] },
    { runtimeArguments: [{ type: 'named', name: '-e', value: 'A_TOKEN=***' }] },
  ],
  [
    'of any type under a secret name',
    { token: { value: 's3cret', type: 'string' }, api_keys: ['s3cret', 7], password: 12345, auth: { key: 's3cret' } },
    { token: { value: '***', type: 'string' }, api_keys: ['***', '***'], password: '***', auth: { key: '***' } },
  ],
  ['in access tokens', { env: { GH_PAT: 's3cret', DB_PASS: 's3cret' } }, { env: { GH_PAT: '***', DB_PASS: '***' } }],
  [
    'in query parameters within a sentence',
    'GET https://a.example/x?q=1&token=s3cret failed (see https://b.example/?key=s3cret#api_key=s3cret). Or "http://c.example?code=s3cret".',
    'GET https://a.example/x?q=1&token=*** failed (see https://b.example/?key=***#api_key=***). Or "http://c.example?code=***".',
  ],
  [
    'in addresses as programs print them',
    `a //a.example/:_authToken=s3cret b https://a.example/?token='s3cret' c "https://a.example/x?api%5Fkey=s3cret" d //a.example/x?token=s3cret&auth=s3cret`,
    `a //a.example/:_authToken=*** b https://a.example/?token=*** c "https://a.example/x?api%5Fkey=***" d //a.example/x?token=***&auth=***`,
  ],
  [
    'late in a long address',
    `see https://a.example/${'x'.repeat(5_000)}?token=s3cret or https://${'me'.repeat(500)}:s3cret@a.example.`,
    `see https://a.example/${'x'.repeat(5_000)}?token=*** or https://a.example.`,
  ],
  [
    'in an address within a sentence',
    { error: 'Cannot reach postgres://me:s3cret@db.example/x or https://s3cret@a.example: refused.' },
    { error: 'Cannot reach postgres://db.example/x or https://a.example: refused.' },
  ],
  [
    'around a placeholder',
    { headers: { Authorization: 'Bearer sk-{x}-s3cret' }, token: `s3cret\${A}`, password: `\${A:-s3cret}` },
    { headers: { Authorization: '***' }, token: '***', password: '***' },
  ],
];

for (const [name, value, shown] of SECRET) {
  test(`credentials are hidden: ${name}`, () => {
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
  { description: 'Set API_KEY=abc or --token abc, and send Authorization: Bearer abc. Token: see below.' },
  {
    description:
      '--token is needed, as in postgres://user:password@host/db, https://<user>:<pass>@host or git+ssh://git@a.example/b.',
  },
  { features: ['Token: renewed before it expires', 'API key: optional', 'Logins without a password'] },
  {
    cmd: ['uvx', 'agent-token-budget==1.1.4', '--max-tokens', '4096', '-e', 'OAUTH_CALLBACK_PORT=8085', 'GITHUB_TOKEN'],
  },
  { args: ['-H', 'Accept: text/html', '-H', 'localhost:80', '--header', `Authorization:\${AUTH}`, `TOKEN="$TOKEN"`] },
  { headers: { Authorization: `Bearer \${TOKEN}`, 'X-App': 'App {KEY}', 'X-Other': 'Bearer <YOUR_KEY>' } },
  { tokens: 128_000, env: { MAX_TOKENS: '4096', AUTH_MODE: 'none' }, usage: { input_tokens: 5, price_per_token: 0.1 } },
  { properties: { password: { type: 'string', minLength: 8, pattern: '^.+$', anyOf: [{ type: 'null' }] } } },
  { env: [{ key: 'LOG_LEVEL', value: 'info', description: 'How much is told.' }], allow_secrets: 'false' },
  { command: 'nothing: token: must be a text' },
  '// A comment: is it the key=value of the token? See //a.example/author=me, and the auth=basic of (https://a.example/).',
  'Ask https://a.example/?keyword=pdf&author=me&page=2, or https://b.example/?token={TOKEN}&api_key=<yours>.',
];
for (const value of HARMLESS) {
  test(`credentials: ${JSON.stringify(value)} stays unchanged`, () =>
    assert.deepEqual(withoutCredentials(value), value));
}

test('credentials: long texts are handled quickly', async () => {
  for (const part of ['//', 'https://', "='", '//a=', '?a', '://a@', '/:', '//%'])
    for (const text of [part.repeat(100_000), `//${part.repeat(100_000)}`]) {
      const took = await cpuMs(() => withoutCredentials(text));
      assert.ok(took < 5_000, `${part}: ${took} ms`);
    }
});
