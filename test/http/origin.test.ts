import assert from 'node:assert/strict';
import { test } from 'node:test';
import { testHub } from '../support/hub.ts';

const TOKEN = 'operators-only-0123456789';
const BODY = { url: 'https://catalog.example.org/index.json' };

test('origin: an open hub takes changes from programs and from its own page, not from pages of other sites', async (t) => {
  const { app } = await testHub(t, { settings: { BASE_URL: 'https://hub.example.org' } });
  const status = async (headers: Record<string, string>) =>
    (await app.inject({ method: 'POST', url: '/remotes', payload: BODY, headers })).statusCode;
  const welcome: Record<string, string>[] = [
    {},
    { host: 'anything.internal' },
    { host: 'hub.example.org', origin: 'https://hub.example.org' },
    { host: '127.0.0.1:8443', origin: 'http://127.0.0.1:8443', 'sec-fetch-site': 'same-origin' },
  ];
  for (const headers of welcome) assert.equal(await status(headers), 201, JSON.stringify(headers));
  const refused: Record<string, string>[] = [
    { host: '127.0.0.1:8443', origin: 'https://evil.example' },
    { host: 'evil.example', origin: 'http://evil.example' },
    { host: 'evil.example', 'sec-fetch-site': 'same-origin' },
    { host: 'localhost', origin: 'null' },
  ];
  for (const headers of refused) assert.equal(await status(headers), 403, JSON.stringify(headers));
});

test('origin: a hub with a token needs the token, wherever a request comes from', async (t) => {
  const { app } = await testHub(t, { settings: { API_TOKEN: TOKEN } });
  const headers = { authorization: `Bearer ${TOKEN}`, host: 'hub.internal', origin: 'http://hub.internal' };
  const { statusCode } = await app.inject({ method: 'POST', url: '/remotes', payload: BODY, headers });
  assert.equal(statusCode, 201);
});
