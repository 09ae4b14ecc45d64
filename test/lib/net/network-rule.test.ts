import assert from 'node:assert/strict';
import { test } from 'node:test';
import { addressFault } from '../../../src/lib/net/network-rule.ts';

const ALWAYS = [
  '8.8.8.8',
  '1.1.1.1',
  '93.184.216.34',
  '172.15.255.255',
  '172.32.0.1',
  '2606:4700:4700::1111',
  '::ffff:8.8.8.8',
  '64:ff9b::8.8.8.8',
];
const ONLY_WHEN_PRIVATE_IS_ALLOWED = [
  '127.0.0.1',
  '127.255.255.254',
  '10.0.0.1',
  '172.16.0.1',
  '172.31.255.255',
  '192.168.1.1',
  '100.64.0.1',
  '::1',
  'fc00::1',
  'fd12:3456::1',
  '::ffff:127.0.0.1',
  '::ffff:7f00:1',
  '::127.0.0.1',
  '::ffff:10.1.2.3',
  '64:ff9b::127.0.0.1',
  '64:ff9b::a00:1',
];
const NEVER = [
  '0.0.0.0',
  '0.1.2.3',
  '169.254.0.1',
  '169.254.169.254',
  '100.100.100.200',
  '192.0.0.192',
  '168.63.129.16',
  '255.255.255.255',
  '224.0.0.1',
  '240.0.0.1',
  '192.0.2.1',
  '198.18.0.1',
  '203.0.113.9',
  '::',
  'fe80::1',
  'fe80::1%eth0',
  'fd00:ec2::254',
  'fd20:ce::254',
  'ff02::1',
  'fec0::1',
  '2001:db8::1',
  '2002:7f00:1::1',
  '2001:0:1:2::1',
  '::7f00:1',
  '::808:808',
  '::ffff:169.254.169.254',
  '::ffff:0:127.0.0.1',
  '64:ff9b::169.254.169.254',
  '64:ff9b::168.63.129.16',
  '64:ff9b:1::7f00:1',
];

for (const address of ALWAYS) {
  test(`network rule: ${address} is always allowed`, () => {
    assert.equal(addressFault(address, { allowPrivate: false }), undefined);
    assert.equal(addressFault(address, { allowPrivate: true }), undefined);
  });
}

for (const address of ONLY_WHEN_PRIVATE_IS_ALLOWED) {
  test(`network rule: ${address} is allowed only with private addresses`, () => {
    assert.match(addressFault(address, { allowPrivate: false }) ?? '', /ALLOW_PRIVATE_NETWORK/);
    assert.equal(addressFault(address, { allowPrivate: true }), undefined);
  });
}

for (const address of NEVER) {
  test(`network rule: ${address} is never allowed`, () => {
    assert.ok(addressFault(address, { allowPrivate: false }));
    assert.match(addressFault(address, { allowPrivate: true }) ?? '', /never connected to|metadata/);
  });
}
