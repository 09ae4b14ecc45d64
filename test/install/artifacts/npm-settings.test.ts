// What an .npmrc that came with a target may say, and what comes of it.
import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { npmInstaller } from '../../../src/install/artifacts/npm.ts';
import { treeDigest } from '../../../src/lib/file-digest.ts';
import { startNpmRegistry } from './npm-registry.ts';
import { stage } from './stage.ts';

const SPEC = { registry: 'npm', package: 'thing', version: '1.0.0' };

/** Together, because each of them alone has to change nothing. */
const SETTINGS = [
  'timing=true\nlogs-dir=OUTSIDE\ndry-run=true\nlockfile-version=1\nsave=false\njson=true\nheading=x\ninstall-strategy=linked',
  'package-lock-only=true\nglobal=true\nsave-bundle=true\nbin-links=false\ninstall-strategy=nested\numask=0777\nomit[]=peer',
  'location=global\nusage=true\nglobal-style=true\nomit-lockfile-registry-resolved=true\nonly=prod\noptional=false',
  'legacy-bundling=true',
];

for (const settings of SETTINGS) {
  test(`npm: an .npmrc with ${settings.split('\n').join(', ')} changes nothing`, async (t) => {
    const registry = await startNpmRegistry(t);
    registry.publish({ name: 'inner', version: '1.0.0' });
    registry.publish({ name: 'deep', version: '1.0.0', dependencies: { inner: '1.0.0' } });
    registry.publish({
      ...{ name: 'thing', version: '1.0.0', dependencies: { deep: '1.0.0' } },
      bin: { thing: 'index.js' },
    });
    const [plain, place] = [await stage(t, { env: registry.env }), await stage(t, { env: registry.env })];
    const installed = await plain.install(npmInstaller, SPEC);
    const text = settings.replace('OUTSIDE', dirname(place.targetDir));
    await writeFile(join(place.targetDir, '.npmrc'), text);
    assert.deepEqual(await place.install(npmInstaller, SPEC), installed);
    assert.equal(await place.read('.npmrc'), text);
    assert.equal(await treeDigest(place.targetDir, { skip: ['.npmrc'] }), await treeDigest(plain.targetDir));
    await place.assertContained();
  });
}
