// Which npm packages a manifest may name.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { npmKind } from '../../../../src/install/artifacts/npm/npm.ts';
import { specFaults } from '../artifact-context.ts';

const REFUSED: [fields: object, fault: RegExp][] = [
  [{ package: '--global' }, /must be the name of an npm package/],
  [{ package: '../folder' }, /must be the name of an npm package/],
  [{ package: 'git+https://host.example/x.git' }, /must be the name of an npm package/],
  [{ package: 'thing.tgz' }, /must be the name of an npm package/],
  [{ package: 'node_modules' }, /must be the name of an npm package/],
  [{ package: 'thing', version: '--force' }, /must be a version/],
  [{ package: 'thing', version: 'file:../x' }, /must be a version/],
  [{ package: 'thing', version: 'npm:other@1' }, /must be a version/],
  [{ package: 'thing', registry_url: 'file:///etc' }, /starts with http/],
  [{ package: 'thing', registry_url: 'https://me:pw@host.example/' }, /must not contain a user name or a password/],
];

for (const [fields, fault] of REFUSED) {
  test(`npm spec: ${JSON.stringify(fields)} is refused`, () => {
    assert.match(specFaults(npmKind, { registry: 'npm', ...fields }), fault);
  });
}

for (const [version, read] of [
  [undefined, 'latest'],
  ['', 'latest'],
  ['v1.2.3', '1.2.3'],
  ['1.0.0+build.1', '1.0.0+build.1'],
  ['>=1.2 <2', '>=1.2 <2'],
  ['next', 'next'],
] as const) {
  test(`npm spec: version ${version} is read as ${read}`, () => {
    assert.equal(npmKind.spec.parse({ registry: 'npm', package: 'thing', version }).version, read);
  });
}

test('npm spec: the public registry is the one that the machine is set up for', () => {
  const spec = { registry: 'npm', package: '@scope/thing', registry_url: 'https://registry.npmjs.org' };
  assert.equal(npmKind.spec.parse(spec).registry_url, undefined);
  assert.equal(npmKind.describe(npmKind.spec.parse(spec)), 'npm install @scope/thing@latest');
});
