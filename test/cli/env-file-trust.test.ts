import assert from 'node:assert/strict';
import { chmod, readFile, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { createServer as createSocketServer } from 'node:net';
import { delimiter, join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { trustedSettings } from '../../src/cli/env-file-trust.ts';
import type { Environment } from '../../src/config.ts';
import { isSecret, SENT_TO, SETTINGS } from '../../src/settings.ts';
import { aManifest } from '../support/builders.ts';
import { tempDir } from '../support/databases.ts';
import { run } from './process.ts';

const SECRET = 'of-the-user';

test('every secret of the settings is known to be sent somewhere, or to stay', () => {
  // REMOTE_CREDENTIALS names the addresses that it is for.
  const stays = ['API_TOKEN', 'METRICS_TOKEN', 'DATABASE_URL', 'REMOTE_CREDENTIALS'];
  const secrets = Object.keys(SETTINGS.shape).filter(isSecret);
  assert.deepEqual(
    secrets.filter((name) => !(name in SENT_TO)),
    stays,
  );
  for (const address of Object.values(SENT_TO)) assert.ok(address in SETTINGS.shape, address);
});

for (const [secret, address] of Object.entries(SENT_TO)) {
  const url = address === 'DATABASE_URL' ? 'postgres://db.example/x' : 'http://a.example';
  const cases: [name: string, environment: Environment, envFile: Environment, sent: string | undefined][] = [
    ['the address only in .env', { [secret]: SECRET }, { [address]: url }, undefined],
    ['both in the environment', { [secret]: SECRET, [address]: url }, { [address]: 'http://b.example' }, SECRET],
    ['neither address', { [secret]: SECRET }, {}, SECRET],
    [
      'an address of .env that the environment empties',
      { [secret]: SECRET, [address]: '' },
      { [address]: url },
      SECRET,
    ],
  ];
  for (const [name, environment, envFile, sent] of cases) {
    test(`${secret}: ${name}`, () => {
      const { settings, withheld } = trustedSettings(environment, envFile);
      assert.equal(settings[secret], sent);
      assert.deepEqual(withheld, sent === undefined ? [{ address, secrets: [secret] }] : []);
    });
  }
  if (secret in SETTINGS.shape)
    test(`${secret}: that of .env goes to the address of .env, whatever the environment has`, () => {
      const { settings, withheld } = trustedSettings({ [secret]: SECRET }, { [secret]: 'of-file', [address]: url });
      assert.deepEqual([settings[secret], withheld], ['of-file', []]);
    });
}

test('what is no setting of the hub is not taken from .env', () => {
  const envFile = {
    HTTPS_PROXY: 'http://evil.example',
    NODE_EXTRA_CA_CERTS: 'x',
    PATH: '.',
    PORT: '8080',
    constructor: 'x',
  };
  assert.deepEqual(trustedSettings({ HOME: '/home/me' }, envFile).settings, { HOME: '/home/me', PORT: '8080' });
});

async function folderWith(t: TestContext, env: string[]): Promise<string> {
  const folder = await tempDir(t);
  await writeFile(join(folder, '.env'), `${env.join('\n')}\n`);
  await writeFile(join(folder, 'manifest.json'), JSON.stringify(aManifest()));
  return folder;
}

/** Keeps all that it is sent. */
async function startStranger(t: TestContext): Promise<{ url: string; seen: string[] }> {
  const seen: string[] = [];
  const server = createServer((request, response) => {
    seen.push(`${request.url} ${JSON.stringify(request.headers)}`);
    response.writeHead(500).end('{}');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  const address = server.address();
  return { url: `http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}`, seen };
}

test('an address out of .env gets no secret of the environment', async (t) => {
  const { url, seen } = await startStranger(t);
  const folder = await folderWith(t, [
    `MCP_GATEWAY_URL=${url}/gateway`,
    `EMBEDDING_BASE_URL=${url}/embedding`,
    'EMBEDDING_MODEL=m',
    `LLM_BASE_URL=${url}/llm`,
    'LLM_MODEL=m',
  ]);
  const settings = {
    JWT_SECRET_KEY: SECRET,
    MCP_GATEWAY_TOKEN: SECRET,
    EMBEDDING_API_KEY: SECRET,
    LLM_API_KEY: SECRET,
  };
  const install = await run(t, { args: ['install', '--manifest', 'manifest.json'], folder, settings });
  assert.match(install.stdout, /^Installed/m, install.stderr);
  const doctor = await run(t, { args: ['doctor'], folder, settings });
  for (const part of ['/gateway', '/embedding', '/llm'])
    assert.ok(
      seen.some((request) => request.startsWith(part)),
      `${part} was asked: ${seen}`,
    );
  assert.doesNotMatch(seen.join('\n'), /authorization|of-the-user/i);
  for (const { stderr } of [install, doctor]) {
    assert.match(
      stderr,
      /^hub: MCP_GATEWAY_TOKEN and JWT_SECRET_KEY of the environment are not used, because MCP_GATEWAY_URL comes from \.env in this folder: if that is right, set them in one place\.$/m,
    );
    assert.equal(stderr.match(/LLM_API_KEY of the environment is not used/g)?.length, 1);
    assert.doesNotMatch(stderr, /of-the-user/);
  }
});

test('a PostgreSQL out of .env gets no password of the environment, nor of a password file', async (t) => {
  const seen: Buffer[] = [];
  const server = createSocketServer((socket) => {
    socket.on('error', () => {});
    socket.on('data', (chunk) => {
      seen.push(chunk);
      if (chunk[0] === 'p'.charCodeAt(0)) socket.destroy();
      // To the question for TLS: no; otherwise it asks for the password, in clear.
      else socket.write(chunk.length === 8 ? 'N' : Buffer.from([0x52, 0, 0, 0, 8, 0, 0, 0, 3]));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.after(() => server.close());
  const address = server.address();
  const port = typeof address === 'object' ? address?.port : '';
  const home = await tempDir(t);
  const passwords = join(home, '.pgpass');
  await writeFile(passwords, `*:*:*:*:${SECRET}\n`, { mode: 0o600 });
  const folder = await folderWith(t, [`DATABASE_URL=postgres://u@127.0.0.1:${port}/x`]);
  const secrets: Record<string, string>[] = [{ PGPASSWORD: SECRET }, { HOME: home }, { PGPASSFILE: passwords }];
  for (const settings of secrets) {
    const { code, stderr } = await run(t, { args: ['search', 'x'], folder, settings });
    assert.equal(code, 1, stderr);
    assert.match(
      stderr,
      /cannot be used: it wants a password, and only \.env in this folder names it.*set DATABASE_URL/,
    );
    assert.equal(/PGPASS\w+ of the environment is not used/.test(stderr), !('HOME' in settings));
  }
  assert.ok(seen.length > 0);
  assert.doesNotMatch(Buffer.concat(seen).toString('latin1'), /of-the-user/);
  await writeFile(join(folder, '.env'), `DATABASE_URL=postgres://u:of-the-file@127.0.0.1:${port}/x\n`);
  await run(t, { args: ['search', 'x'], folder, settings: { PGPASSWORD: SECRET } });
  assert.match(Buffer.concat(seen).toString('latin1'), /of-the-file/, 'its own');
});

test('programs get nothing out of .env', async (t) => {
  const folder = await folderWith(t, [
    'HTTPS_PROXY=http://evil.example',
    'NODE_EXTRA_CA_CERTS=./evil.pem',
    'LC_X=evil',
  ]);
  const programs = await tempDir(t);
  const seen = join(programs, 'seen');
  await writeFile(join(programs, 'git'), `#!/bin/sh\nenv > '${seen}'\necho git version 2\n`);
  await chmod(join(programs, 'git'), 0o755);
  const settings = { PATH: `${programs}${delimiter}${process.env.PATH}`, LANG: 'C' };
  await run(t, { args: ['doctor'], folder, settings });
  const passedOn = await readFile(seen, 'utf8');
  assert.match(passedOn, /^LANG=C$/m);
  assert.doesNotMatch(passedOn, /evil/);
});
