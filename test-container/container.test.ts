// The image can install every kind of artifact: with its own programs, user and environment, on a read-only root.
import assert from 'node:assert/strict';
import { readFile, rm } from 'node:fs/promises';
import { after, before, test } from 'node:test';
import { readDockerfile } from './dockerfile.ts';
import { installEverything, publishEverything, STEPS } from './everything.ts';
import { buildHub, layOut } from './image-folder.ts';
import { hasEngine, runFolder, runImage } from './running-hub.ts';

const DOCKERFILE = await readFile(new URL('../Dockerfile', import.meta.url), 'utf8');
const isReal = await hasEngine();
let hub: string;

before(async () => {
  if (!isReal) hub = await buildHub(readDockerfile(DOCKERFILE));
});
after(async () => {
  if (hub) await rm(hub, { recursive: true, force: true, maxRetries: 3 });
});

test('the image installs one artifact of each kind', { timeout: 600_000 }, async (t) => {
  t.diagnostic(isReal ? 'in the image' : '*** no container engine: in a folder that the Dockerfile lays out ***');
  const running = isReal ? await runImage(t) : await runFolder(t, await layOut(readDockerfile(DOCKERFILE), hub));
  const published = await publishEverything(t);
  const report = await installEverything(running, published);
  assert.deepEqual(
    report.results.map(({ step, ok, extra }) => (ok ? step : `${step}: ${extra?.error}`)),
    STEPS,
  );
  const image = report.results.find(({ step }) => step === 'oci.pull');
  assert.equal(image?.extra?.skipped, true, 'a missing engine is not a failure');
  assert.match(String(image?.extra?.resolved), /@sha256:[0-9a-f]{64}$/);

  for (const program of ['clock', 'greeter'])
    assert.equal(await running.run([`${running.target}/.hub/bin/${program}`]), `${program} runs\n`);
  assert.deepEqual(await running.changes(), [], 'only /data and the folder for temporary files are written to');
});

test('a program missing from the Dockerfile is noticed', { skip: isReal && 'needs no engine' }, async (t) => {
  const image = readDockerfile(DOCKERFILE.replace(/ git(?= )/, ''));
  // Without uv, pip is used.
  const withoutGit = { ...image, commands: image.commands.filter((command) => !command.includes('uv')) };
  const running = await runFolder(t, await layOut(withoutGit, hub));
  const report = await installEverything(running, await publishEverything(t));
  const failed = report.results.filter(({ ok }) => !ok);
  assert.deepEqual(
    failed.map(({ step }) => step),
    ['git.checkout'],
  );
  assert.match(String(failed[0]?.extra?.error), /git is not installed/);

  const withoutPython = readDockerfile(DOCKERFILE.replace(/ python3 python3-venv/, ''));
  await assert.rejects(layOut(withoutPython, hub), /python3/);
});
