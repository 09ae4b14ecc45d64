import assert from 'node:assert/strict';
import { test } from 'node:test';
import { testHub } from '../support/hub.ts';
import { shared } from '../support/shared.ts';

const TOKEN = 'operators-only-0123456789';
const openHub = shared((t) => testHub(t, { settings: { BASE_URL: 'https://hub.example.org' } }));
const BODY = { url: 'https://catalog.example.org/index.json' };

test('origin: an open hub accepts changes from programs and its own page, not from other sites', async () => {
  const { app } = await openHub();
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

/** Host names that the owner of a public name server cannot point to this machine. */
const WELCOME = [
  'localhost:8443',
  'localhost.',
  'hub.localhost',
  '127.0.0.1:8443',
  '192.168.1.7',
  '[::1]:8443',
  '[fd00::1]:8443',
  'hub',
  'hub:8443',
  'HUB.EXAMPLE.ORG',
  'raspberry.local',
  'hub.corp.internal',
  'hub.lan:8443',
  'hub.home.arpa',
  'hub.test',
];
const REBOUND = [
  'evil.example',
  'evil.example:8443',
  'local.evil.example',
  'evillocal.com',
  'hub.example.org.evil.example',
];
const ADMIN_READS = ['/gateways/pending', '/diagnostics', '/remotes/rejections'];

test('origin: an open hub serves admin reads only under host names that cannot be rebound', async () => {
  const { app } = await openHub();
  const get = (url: string, host: string) => app.inject({ url, headers: { host } });
  for (const host of WELCOME) assert.equal((await get('/gateways/pending', host)).statusCode, 200, host);
  for (const url of ADMIN_READS)
    for (const host of REBOUND) {
      const { statusCode, body } = await get(url, host);
      assert.equal(statusCode, 403, `${url} ${host}`);
      assert.match(JSON.parse(body).detail, /Set BASE_URL .*API_TOKEN/);
    }
  assert.equal((await get('/catalog', 'evil.example')).statusCode, 200, 'public routes stay public');
  assert.equal(
    (await app.inject({ method: 'POST', url: '/remotes', payload: BODY, headers: { host: 'evil.example' } }))
      .statusCode,
    403,
  );
});

test('origin: a hub with a token requires it from every origin', async (t) => {
  const { app } = await testHub(t, { settings: { API_TOKEN: TOKEN } });
  const headers = { authorization: `Bearer ${TOKEN}`, host: 'hub.internal', origin: 'http://hub.internal' };
  const { statusCode } = await app.inject({ method: 'POST', url: '/remotes', payload: BODY, headers });
  assert.equal(statusCode, 201);
});
