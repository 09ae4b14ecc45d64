// Code that packages or the target bring along: none of it is run, and what is asked for is installed all the same.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { cp, mkdir, readdir, writeFile } from 'node:fs/promises';
import { delimiter, dirname, join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { pypiInstaller } from '../../../src/install/artifacts/pypi.ts';
import { unlessHere } from '../../support/programs.ts';
import { aFolder } from '../installing.ts';
import { startPackageIndex } from './package-index.ts';
import { type Stage, stage } from './stage.ts';

const folders = (process.env.PATH ?? '').split(delimiter);
const PATHS = {
  pip: folders.filter((folder) => !existsSync(join(folder, 'uv'))).join(delimiter),
  uv: process.env.PATH,
};

for (const tool of ['pip', 'uv'] as const) {
  const skip = unlessHere('python3', ...(tool === 'uv' ? ['uv'] : []));

  test(`pypi by ${tool}: nothing of a package is run by the next install, nor by its own upgrade`, {
    skip,
  }, async (t) => {
    const index = await startPackageIndex(t);
    const place = await stageWith(t, tool);
    const { code, assertNothingRan } = watch(place);
    const files = {
      'evil.pth': `import os; ${code}\n`,
      'sitecustomize.py': code,
      'usercustomize.py': code,
      'keyring.py': code,
      'socks.py': code,
      'pip/__init__.py': code,
      'pip/__main__.py': code,
      'pip/_internal/__init__.py': code,
    };
    for (const version of ['1.0', '2.0']) index.publish({ name: 'evil', version, module: code, files });
    index.publish({ name: 'harmless', version: '1.0' });
    const install = async (spec: object) => {
      const { resolved } = await place.install(pypiInstaller, { ...spec, index_url: index.url });
      return resolved;
    };
    assert.equal(await install({ package: 'evil', version: '1.0' }), 'evil==1.0');
    assert.equal(await install({ package: 'harmless' }), 'harmless==1.0');
    assert.equal(await install({ package: 'evil' }), 'evil==2.0');
    await assertNothingRan();
    const packages = await sitePackages(join(place.targetDir, '.venv'));
    const described = (await readdir(packages)).filter((name) => /^(evil|harmless).*dist-info$/.test(name));
    assert.deepEqual(described.sort(), ['evil-2.0.dist-info', 'harmless-1.0.dist-info']);
  });

  test(`pypi by ${tool}: what a package needs by an address is not built`, { skip }, async (t) => {
    const index = await startPackageIndex(t);
    const place = await stageWith(t, tool);
    const { code, assertNothingRan } = watch(place);
    index.publishSource('evil', '1.0', `${code}\nfrom setuptools import setup\nsetup(name='evil', version='1.0')\n`);
    index.publish({ name: 'setuptools', version: '70.0', files: { 'setuptools/build_meta.py': code } });
    index.publish({ name: 'wheel', version: '0.40' });
    index.publish({ name: 'thing', version: '1.0', requires: [`evil @ ${index.host.url('/files/evil-1.0.tar.gz')}`] });
    index.publish({ name: 'harmless', version: '1.0' });
    const spec = (name: string) => ({ package: name, index_url: index.url });
    // Also where an environment is in place, whose Python could be started.
    for (const before of [undefined, 'harmless']) {
      if (before) await place.install(pypiInstaller, spec(before));
      const message = await place.failure(pypiInstaller, spec('thing'));
      if (tool === 'pip') assert.match(message, /given by an address and not by a name/);
      await assertNothingRan();
    }
  });

  test(`pypi by ${tool}: nothing of an environment that came with the target is run`, { skip }, async (t) => {
    const index = await startPackageIndex(t);
    index.publish({ name: 'thing', version: '1.0' });
    const place = await stageWith(t, tool);
    const { code, assertNothingRan } = watch(place);
    const venv = join(place.targetDir, '.venv');
    execFileSync('python3', ['-I', '-m', 'venv', '--without-pip', venv]);
    const packages = await sitePackages(venv);
    await writeFile(join(packages, 'evil.pth'), `import os; ${code}\n`);
    for (const name of ['sitecustomize', 'usercustomize', 'encodings', 'os', 'pip'])
      await writeFile(join(packages, `${name}.py`), code);
    await mkdir(join(packages, 'pip-99.dist-info'));
    await writeFile(join(packages, 'pip-99.dist-info/METADATA'), 'Metadata-Version: 2.1\nName: pip\nVersion: 99\n');
    await writeFile(join(packages, 'pip-99.dist-info/RECORD'), 'pip.py,,\npip-99.dist-info/METADATA,,\n');
    const installed = await place.install(pypiInstaller, { package: 'thing', index_url: index.url });
    assert.deepEqual([installed.resolved, installed.extra?.tool], ['thing==1.0', tool]);
    assert.ok(existsSync(join(packages, 'thing.py')), 'it went into that environment');
    await assertNothingRan();
  });

  test(`pypi by ${tool}: a standard library that came with the target is not that of the installer`, {
    skip,
  }, async (t) => {
    const index = await startPackageIndex(t);
    index.publish({ name: 'thing', version: '1.0' });
    const place = await stageWith(t, tool);
    const { code, assertNothingRan } = watch(place);
    const venv = join(place.targetDir, '.venv');
    execFileSync('python3', ['-I', '-m', 'venv', '--without-pip', venv]);
    const [version = ''] = await readdir(join(venv, 'lib'));
    const own = execFileSync('python3', ['-I', '-c', 'import os; print(os.path.dirname(os.__file__))'], {
      encoding: 'utf8',
    }).trim();
    const library = join(place.targetDir, 'other/lib', version);
    await cp(join(own, 'encodings'), join(library, 'encodings'), { recursive: true });
    await writeFile(join(library, 'os.py'), '');
    await writeFile(join(library, 'encodings/__init__.py'), `import posix\n${code}`);
    await writeFile(join(venv, 'pyvenv.cfg'), `home = ${join(place.targetDir, 'other/bin')}\nversion = 3.99.0\n`);
    await place.install(pypiInstaller, { package: 'thing', index_url: index.url });
    await assertNothingRan();
  });
}

async function stageWith(t: TestContext, tool: keyof typeof PATHS): Promise<Stage> {
  return stage(t, { env: { ...process.env, PATH: PATHS[tool], HOME: await aFolder(t) } });
}

/** Code of Python that leaves a file when it is run, without anything that would have to be imported. */
function watch({ targetDir, assertContained }: Stage): { code: string; assertNothingRan(): Promise<void> } {
  const proof = join(dirname(targetDir), 'ran');
  return {
    code: `__import__("posix").mkdir(${JSON.stringify(proof)})\n`,
    async assertNothingRan() {
      assert.ok(!existsSync(proof), 'code of the package or of the target was run');
      await assertContained();
    },
  };
}

async function sitePackages(venv: string): Promise<string> {
  const [version = ''] = await readdir(join(venv, 'lib'));
  return join(venv, 'lib', version, 'site-packages');
}
