import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { isReadable, routableUrl } from '../../src/http/address-path.ts';

const cases = [
  ['/', '/'],
  ['/catalog/entities/tool:a/b@1', '/catalog/entities/tool:a%2Fb@1'],
  ['/catalog/entities/tool%3Aa%2Fb@1?x=/', '/catalog/entities/tool%3Aa%2Fb@1?x=/'],
  ['/entities/%zz', '/entities/%25zz'],
  ['/entities/a/%ff', '/entities/a%2F%25ff'],
  ['/%zz?q=%zz#%', '/%25zz?q=%zz#%'],
  ['/100%', '/100%25'],
  ['/catalog?q=100%', '/catalog?q=100%'],
] as const;
for (const [url, expected] of cases) {
  test(`addresses: ${url} is read as ${expected}`, () => assert.equal(routableUrl(url), expected));
}

test('addresses: the router can decode every normalized path', () => {
  const part = fc.oneof(fc.constantFrom('%', '%zz', '%ff', '%41', '/', '?', '#', '/entities/'), fc.string());
  fc.assert(fc.property(fc.array(part), (parts) => isReadable(routableUrl(`/${parts.join('')}`))));
});
