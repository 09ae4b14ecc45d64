// Versions of Python packages: one that is written in two ways is the same.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { PypiSpec } from '../../../src/install/artifacts/pypi-spec.ts';
import { isVersion, normalVersion } from '../../../src/install/artifacts/pypi-version.ts';

/** As the library `packaging` writes them, which pip uses. */
const NORMAL = {
  '1.0': '1.0',
  'v1.0.0': '1.0.0',
  '1.0.0-beta.1': '1.0.0b1',
  '1.0a': '1.0a0',
  '1.0.preview5': '1.0rc5',
  '1.0-1': '1.0.post1',
  '1.0.rev2': '1.0.post2',
  '1.0.dev': '1.0.dev0',
  '2!01.02': '2!1.2',
  '1.0+Ubuntu-01': '1.0+ubuntu.1',
  '1.0c3.post4.dev5+a_b': '1.0rc3.post4.dev5+a.b',
  '1.0.0.post1': '1.0.0.post1',
  'no version': 'no version',
};
for (const [written, expected] of Object.entries(NORMAL)) {
  test(`pypi: version ${written} is ${expected}`, () => assert.equal(normalVersion(written), expected));
}

const SAME: [wanted: string, found: string, isSame: boolean][] = [
  ['==1.0', '1.0.0', true],
  ['==1', '1.0.0', true],
  ['==1.0.0', '1', true],
  ['===1.0', '1.0', true],
  ['==1.0.0-beta.1', '1.0.0b1', true],
  ['==1.0.post1', '1.0.0.post1', true],
  ['==1.0', '1.0+local', true],
  ['==1.0+local', '1.0', false],
  ['==1.0', '1.0.1', false],
  ['==1.0', '1.0b1', false],
  ['==10', '1', false],
  ['==1.10', '1.1', false],
  ['==1.0', '1!1.0', false],
];
for (const [wanted, found, isSame] of SAME) {
  test(`pypi: ${found} is ${isSame ? '' : 'not '}what ${wanted} asks for`, () => {
    const { exactVersion = '' } = PypiSpec.parse({ package: `thing${wanted}` });
    assert.equal(isVersion(found, exactVersion), isSame);
  });
}
