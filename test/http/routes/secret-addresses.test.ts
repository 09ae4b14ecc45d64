import assert from 'node:assert/strict';
import { test } from 'node:test';
import { testHub } from '../../support/hub.ts';
import { startIndexServer } from '../../support/servers/index-server.ts';

const TOKEN = 'operators-only-0123456789';
const READS = ['/remotes', '/catalog/remotes', '/ingest/status'];

test('remotes: secrets in addresses are shown with a token and masked without', async (t) => {
  const { app, hub } = await testHub(t, { settings: { API_TOKEN: TOKEN } });
  const host = await startIndexServer(t);
  const address = host.url('/index.json?page=1&private_token=s3cretvalue');
  await hub.addRemote(address);
  await hub.ingest();
  const read = (url: string, headers: Record<string, string> = {}) => app.inject({ url, headers });
  for (const url of READS) {
    const strangers: Record<string, string>[] = [
      {},
      { authorization: 'Bearer wrong' },
      { authorization: 'Basic dTpw' },
    ];
    for (const headers of strangers) {
      const { statusCode, body } = await read(url, headers);
      assert.equal(statusCode, 200, url);
      assert.match(body, /index\.json\?page=1&private_token=\*\*\*/, url);
      assert.doesNotMatch(body, /s3cretvalue/, url);
    }
    const { body } = await read(url, { authorization: `Bearer ${TOKEN}` });
    assert.ok(body.includes(address), url);
  }
});

test('remotes: a hub without a token shows addresses in full', async (t) => {
  const { app, hub } = await testHub(t);
  await hub.addRemote('https://catalog.example.org/index.json?token=s3cretvalue');
  assert.match((await app.inject('/remotes')).body, /token=s3cretvalue/);
});
