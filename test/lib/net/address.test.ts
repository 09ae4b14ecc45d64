import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  type DatabaseAddress,
  describeDatabase,
  isLoopbackHost,
  listenerUrl,
  withoutBrackets,
} from '../../../src/lib/net/address.ts';

const HOSTS: [host: string, isLoopback: boolean][] = [
  ['localhost', true],
  ['LocalHost', true],
  ['hub.localhost', true],
  ['127.0.0.1', true],
  ['127.8.9.10', true],
  ['::1', true],
  ['0.0.0.0', false],
  ['::', false],
  ['192.168.1.7', false],
  ['128.0.0.1', false],
  ['127.0.0.1.example.org', false],
  ['127.example.org', false],
  ['notlocalhost', false],
  ['localhost.example.org', false],
  ['', false],
];
for (const [host, isLoopback] of HOSTS) {
  test(`address: '${host}' is reached from ${isLoopback ? 'the machine itself only' : 'elsewhere too'}`, () =>
    assert.equal(isLoopbackHost(host), isLoopback));
}

const BRACKETED: [host: string, bare: string][] = [
  ['[::1]', '::1'],
  ['[fd00:ec2::254]', 'fd00:ec2::254'],
  ['::1', '::1'],
  ['127.0.0.1', '127.0.0.1'],
  ['hub.example.org', 'hub.example.org'],
  ['[::1', '[::1'],
  ['::1]', '::1]'],
  ['[::1]:80', '[::1]:80'],
  ['', ''],
];
for (const [host, bare] of BRACKETED) {
  test(`address: '${host}' without brackets is '${bare}'`, () => assert.equal(withoutBrackets(host), bare));
}

const LISTENERS: [host: string, port: number, secure: boolean, url: string][] = [
  ['127.0.0.1', 8443, false, 'http://127.0.0.1:8443'],
  ['127.0.0.1', 443, true, 'https://127.0.0.1:443'],
  ['0.0.0.0', 80, false, 'http://localhost:80'],
  ['::', 8443, true, 'https://localhost:8443'],
  ['::1', 8443, false, 'http://[::1]:8443'],
  ['hub.example.org', 443, true, 'https://hub.example.org:443'],
];
for (const [host, port, secure, url] of LISTENERS) {
  test(`address: a ${secure ? 'secure ' : ''}listener on ${host} and ${port} is reached at ${url}`, () => {
    assert.equal(listenerUrl({ host, port, secure }), url);
    assert.ok(URL.canParse(url));
  });
}

const DATABASES: [address: DatabaseAddress, description: string][] = [
  [{ engine: 'sqlite', path: '/data/catalog.sqlite' }, 'SQLite at /data/catalog.sqlite'],
  [postgres('postgres://hub:hunter2@db.example.org:5433/catalog'), 'PostgreSQL at db.example.org:5433/catalog'],
  [postgres('postgresql://db.example.org/catalog?password=hunter2'), 'PostgreSQL at db.example.org/catalog'],
  [postgres('postgres:///catalog'), 'PostgreSQL at localhost/catalog'],
];
for (const [address, description] of DATABASES) {
  test(`address: is shown as '${description}', never with a password`, () =>
    assert.equal(describeDatabase(address), description));
}

function postgres(url: string): DatabaseAddress {
  return { engine: 'postgres', url, poolSize: 10 };
}
