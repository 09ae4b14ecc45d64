import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isSameArtifact } from '../../../src/install/lockfile/lockfile.ts';
import { shownAddress } from '../../../src/lib/secrets/secret-address.ts';
import { rawZip } from '../../install/artifacts/raw-archives.ts';
import { installStage } from '../../install/installing.ts';
import { aManifest } from '../../support/builders.ts';
import { startIndexServer } from '../../support/servers/index-server.ts';

const SHOWN: [string, string][] = [
  ['https://a.example/x?page=1#top', 'https://a.example/x?page=1#top'],
  ['https://me:pw@a.example/x', 'https://a.example/x'],
  ['https://token@a.example/', 'https://a.example/'],
  ['git+https://me:p@w@a.example/x', 'git+https://a.example/x'],
  ['https://a.example/?api_key=1&b=2', 'https://a.example/?api_key=***&b=2'],
  ['https://a.example/?b=2&X-Amz-Signature=a%3D', 'https://a.example/?b=2&X-Amz-Signature=***'],
  ['https://a.example/?api%5Fkey=1', 'https://a.example/?api%5Fkey=***'],
  ['https://a.example/#access_token=1', 'https://a.example/#access_token=***'],
  ['https://a.example/?code=1;sig=2', 'https://a.example/?code=***;sig=***'],
  ['https://a.example/?%=1&q=a@b', 'https://a.example/?%=1&q=a@b'],
];

for (const [address, shown] of SHOWN) {
  test(`address: ${address} is written as ${shown}`, () => assert.equal(shownAddress(address), shown));
}

test('address: its secret is used, but is in neither lockfile nor steps; frozen installs still work', async (t) => {
  const web = await startIndexServer(t);
  const archive = rawZip([{ name: 'a', content: 'a' }]);
  web.put('/a.zip', archive);
  const { install, read } = await installStage(t);
  const url = web.url('/a.zip?token=s3cret').replace('//', '//me:passw0rd@');
  const manifest = aManifest({
    artifacts: [
      { kind: 'zip', spec: { url, headers: { Authorization: 'Bearer s3cret' }, token: 's3cret' } },
      { kind: 'other', spec: { transport: 'SSE', url: 'https://x.example/sse?token=s3cret' } },
    ],
  });
  const report = await install(manifest);
  assert.equal(report.ok, true, JSON.stringify(report.results));
  const commands = report.plan.artifacts.map(({ command }) => command);
  for (const text of [await read('hub.lock.json'), JSON.stringify([report.results, commands])])
    assert.doesNotMatch(text, /s3cret|passw0rd/);
  assert.equal(web.requests[0]?.path, '/a.zip?token=s3cret');
  assert.equal((await install(manifest, { frozen: true })).ok, true);
});

test('address: failing steps do not show its secret', async (t) => {
  const web = await startIndexServer(t);
  const { install } = await installStage(t);
  const report = await install(
    aManifest({
      artifacts: [
        { kind: 'git', spec: { repo: web.url('/x.git?private_token=s3cret') } },
        { kind: 'other', spec: { registry: 'npm', package: 'x', registry_url: web.url('/?token=s3cret') } },
        {
          kind: 'other',
          spec: { registry: 'npm', package: 'x', registry_url: 'http://169.254.169.254/?token=s3cret' },
        },
      ],
    }),
  );
  assert.deepEqual(
    report.results.slice(0, 3).map(({ ok }) => ok),
    [false, false, false],
  );
  const commands = report.plan.artifacts.map(({ command }) => command);
  assert.match(commands.join(), /private_token=\*\*\*.*token=\*\*\*/);
  assert.doesNotMatch(JSON.stringify([report, commands]), /s3cret/);
});

test('address: an artifact is recognized in a lockfile that masks its secrets', () => {
  const spec = { url: 'https://x.example/a.zip?token=s3cret', headers: { Authorization: 'Bearer s3cret' } };
  const locked = { url: 'https://x.example/a.zip?token=***', headers: { Authorization: 'Bearer s3cret' } };
  const now = { url: 'https://x.example/a.zip?token=***', headers: { Authorization: '***' } };
  for (const written of [locked, now]) assert.ok(isSameArtifact({ kind: 'zip', spec: written }, { kind: 'zip', spec }));
  assert.ok(!isSameArtifact({ kind: 'zip', spec: { ...now, dest: 'x' } }, { kind: 'zip', spec }));
});
