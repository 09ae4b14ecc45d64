// Which Python packages a manifest may name.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { pythonKind } from '../../../../src/install/artifacts/python/python.ts';
import { specFaults } from '../artifact-context.ts';

const REFUSED: [fields: object, fault: RegExp][] = [
  [{ package: '--index-url=https://host.example' }, /not the name of a Python package/],
  [{ package: '-r requirements.txt' }, /not the name of a Python package/],
  [{ package: 'thing @ https://host.example/x.whl' }, /not the name of a Python package/],
  [{ package: './folder' }, /not the name of a Python package/],
  [{ package: 'thing', version: '--pre' }, /neither a version nor a range/],
  [{ package: 'thing==1', version: '2' }, /names a version twice/],
  [{ package: 'thing', extras: ['--pre'] }, /must be a name/],
  [{ package: 'thing', markers: 'os_name == "x"\n--pre' }, /a marker that cannot be read/],
  [{ package: 'thing', markers: 'os_name == "x" --pre' }, /a marker that cannot be read/],
  [{ package: 'thing\n--pre' }, /not the name of a Python package/],
  [{ package: 'thing', index_url: 'file:///etc' }, /starts with http/],
];

for (const [fields, fault] of REFUSED) {
  test(`python spec: ${JSON.stringify(fields)} is refused`, () => assert.match(specFaults(pythonKind, fields), fault));
}

for (const [fields, requirement] of [
  [{ package: 'Some_Thing' }, 'Some_Thing'],
  [{ package: 'thing', version: 'v1.2' }, 'thing==1.2'],
  [{ package: 'thing', version: 'latest' }, 'thing'],
  [{ package: 'thing[a]', extras: ['b'], version: '>=1,<2' }, 'thing[a,b]>=1,<2'],
  [{ package: 'thing', markers: "os_name == 'posix'" }, "thing ; os_name == 'posix'"],
] as const) {
  test(`python spec: ${JSON.stringify(fields)} is read as ${requirement}`, () => {
    assert.equal(pythonKind.spec.parse(fields).requirement, requirement);
  });
}
