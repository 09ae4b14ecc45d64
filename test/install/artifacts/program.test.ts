import assert from 'node:assert/strict';
import { test } from 'node:test';
import { outputEnd, runProgram } from '../../../src/install/artifacts/program.ts';
import { runStep } from '../../../src/install/step.ts';
import { RunError } from '../../../src/lib/run.ts';
import { testWorld } from '../../support/world.ts';
import { artifactContext } from './artifact-context.ts';

for (const [written, shown] of [
  ['404 https://me:pass@host.example/npm/left-pad', '404 https://host.example/npm/left-pad'],
  ['GET https://host.example/npm/?token=s3cr3t-s3cr3t failed', 'GET https://host.example/npm/?token=*** failed'],
  [
    "fatal: unable to access 'https://x-token:abc@host.example/a.git/'",
    "fatal: unable to access 'https://host.example/a.git/'",
  ],
  ['nothing secret in https://host.example/a?page=2', 'nothing secret in https://host.example/a?page=2'],
] as const) {
  test(`programs: what one wrote is told without secrets: ${shown}`, () => {
    assert.equal(outputEnd(written), shown);
  });
}

test('programs: an address is told without its login also where the end begins within it', () => {
  const address = 'GET https://me:hunter2@host.example/npm';
  for (let more = 0; more < address.length; more += 1) {
    const output = `${address} ${'x'.repeat(2_000 - address.length + more)}`;
    assert.doesNotMatch(outputEnd(output), /hunter|ter2/, String(more));
  }
});

test('programs: the operator’s own address is not repeated, whatever becomes of the program', async (t) => {
  const context = await artifactContext(t);
  const ownAddresses = ['https://me:pw@host.example/s3cret/org/npm/', 'https://public.example/'];
  const line =
    'GET https://host.example/s3cret/org/npm/left-pad, //host.example/s3cret/org/npm/:x, https://public.example/a';
  const request = { program: 'sh', cwd: context.stagingDir, whenMissing: '', ownAddresses, timeoutMs: 5_000 };
  const { stdout, stderr } = await runProgram(
    { ...request, args: ['-c', `echo '${line}'; echo '${line}' >&2; exit 1`] },
    context,
  );
  const told = 'GET the registry/left-pad, the registry/:x, https://public.example/a\n';
  assert.deepEqual([stdout, stderr], [told, told]);
  const slow = runProgram({ ...request, timeoutMs: 2_000, args: ['-c', `echo '${line}'; sleep 20`] }, context);
  await assert.rejects(slow, { extra: { output: told.trim() } });
});

test('programs: a step that had to be stopped tells no secret either', async (t) => {
  const output = `${'x'.repeat(3_000)} https://me:hunter2@host.example/a.git`;
  const world = testWorld();
  t.after(world.close);
  const { result } = await runStep('git.clone', { onEvent: () => {}, log: world.log }, async () => {
    throw new RunError('timeout', 'git was stopped', { output });
  });
  assert.match(String(result.extra?.output), / https:\/\/host\.example\/a\.git$/);
});

test('programs: of what one wrote, the end is told', () => {
  assert.equal(outputEnd(`${'x'.repeat(5_000)}end\n`).length, 2_000);
  assert.match(outputEnd(`${'x'.repeat(5_000)}end\n`), /end$/);
});

for (const [line, sentence] of [
  ['error: unable to write file: No space left on device', /^The disk is full: make room/],
  ['npm error code ENOSPC', /^The disk is full: make room/],
  ['write /srv/place/blob: disk quota exceeded', /^The disk quota is used up/],
] as const) {
  test(`programs: one that fails with '${line}' had no room, whatever it says last`, async (t) => {
    const context = await artifactContext(t);
    const request = { program: 'sh', cwd: context.stagingDir, whenMissing: '', timeoutMs: 5_000 };
    const script = (exitCode: number) => ['-c', `echo '${line}' >&2; echo 'fatal: it failed' >&2; exit ${exitCode}`];
    await assert.rejects(runProgram({ ...request, args: script(1) }, context), { message: sentence });
    assert.equal((await runProgram({ ...request, args: script(0) }, context)).exitCode, 0);
  });
}
