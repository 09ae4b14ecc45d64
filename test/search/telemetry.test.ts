import assert from 'node:assert/strict';
import { readdir, readFile } from 'node:fs/promises';
import { test } from 'node:test';
import { MODELS_FOLDER, openEmbeddedModel } from '../../src/search/embedded-model.ts';

test('embedded model: whoever loads it, its runtime does not report to its makers', {
  skip: process.platform === 'linux' ? false : 'only Linux tells the environment of other processes',
}, async (t) => {
  const before = new Set(await children());
  const model = await openEmbeddedModel({ folder: MODELS_FOLDER }, { warn: () => {} });
  t.after(() => model.close());
  const started = (await children()).filter((pid) => !before.has(pid));
  assert.equal(started.length, 1, 'the process that holds the model');
  const environment = await readFile(`/proc/${started[0]}/environ`, 'utf8');
  assert.ok(environment.split('\0').includes('ORT_DISABLE_TELEMETRY=1'));
});

async function children(): Promise<string[]> {
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name));
  const stats = await Promise.all(pids.map((pid) => readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '')));
  // After the name, which may hold anything: state, then parent.
  return pids.filter((_pid, index) => stats[index]?.split(') ').at(-1)?.split(' ')[1] === String(process.pid));
}
