// Project files that are in a target before npm is.
import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { npmInstaller } from '../../../src/install/artifacts/npm.ts';
import { startNpmRegistry } from './npm-registry.ts';
import { stage } from './stage.ts';

const SPEC = { registry: 'npm', package: 'thing', version: '1.0.0' };

test('npm: a project file that holds something else than an object is left alone', async (t) => {
  const registry = await startNpmRegistry(t);
  registry.publish({ name: 'thing', version: '1.0.0' });
  const place = await stage(t, { env: registry.env });
  for (const text of ['[]', '\uFEFF [{}]\n', 'null', '"text"', '7']) {
    await writeFile(join(place.targetDir, 'package.json'), text);
    assert.match(
      await place.failure(npmInstaller, SPEC),
      /^package\.json .* as it is, because it holds no JSON object/,
    );
    assert.equal(await place.read('package.json'), text);
    assert.deepEqual(await place.files(), ['package.json']);
  }
});

test('npm: a mark that an editor put before package.json stays', async (t) => {
  const registry = await startNpmRegistry(t);
  registry.publish({ name: 'thing', version: '1.0.0' });
  const place = await stage(t, { env: registry.env });
  await writeFile(join(place.targetDir, 'package.json'), '\uFEFF{\n  "name": "mine"\n}\n');
  for (const _ of ['first', 'second']) {
    await place.install(npmInstaller, SPEC);
    const project = { name: 'mine', dependencies: { thing: '1.0.0' } };
    assert.equal(await place.read('package.json'), `\uFEFF${JSON.stringify(project, null, 2)}\n`);
  }
});
