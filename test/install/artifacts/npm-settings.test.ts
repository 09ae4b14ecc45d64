// What an .npmrc that came with a target may say, and what comes of it.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
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

test('npm: with a proxy of the operator, an .npmrc that came with the target names no other', async (t) => {
  const registry = await startNpmRegistry(t);
  const proxy = async () => {
    const asked: string[] = [];
    const server = createServer((request, answer) => {
      asked.push(`${request.method} ${request.url}`);
      answer.writeHead(502).end();
    });
    server.on('connect', ({ url }, socket) => {
      asked.push(`CONNECT ${url}`);
      socket.end('HTTP/1.1 502 no\r\n\r\n');
    });
    await once(server.listen(0, '127.0.0.1'), 'listening');
    t.after(() => server.close());
    return { asked, host: `127.0.0.1:${(server.address() as AddressInfo).port}` };
  };
  const theirs = await proxy();
  for (const name of ['HTTPS_PROXY', 'all_proxy'])
    for (const scheme of ['http://', '']) {
      const own = await proxy();
      const place = await stage(t, { env: { ...registry.env, [name]: `${scheme}${own.host}` } });
      const settings = `proxy=http://${theirs.host}\nhttps-proxy=http://${theirs.host}\nnoproxy=127.0.0.1\n`;
      await writeFile(join(place.targetDir, '.npmrc'), settings);
      await place.failure(npmInstaller, { ...SPEC, registry_url: registry.host.url('/') });
      assert.deepEqual([theirs.asked, registry.host.requests], [[], []], `${name}=${scheme}`);
      assert.ok(own.asked.length > 0, `${name}=${scheme}`);
    }
});
