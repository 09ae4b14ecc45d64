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
  test(`programs: output is shown without secrets: ${shown}`, () => {
    assert.equal(outputEnd(written), shown);
  });
}

test('programs: no login is shown, even where the output is cut within an address', () => {
  const address = 'GET https://me:hunter2@host.example/npm';
  for (let more = 0; more < address.length; more += 1) {
    const output = `${address} ${'x'.repeat(2_000 - address.length + more)}`;
    assert.doesNotMatch(outputEnd(output), /hunter|ter2/, String(more));
  }
});

test('programs: only the host of the operator’s own registry is shown, whatever becomes of the program', async (t) => {
  const context = await artifactContext(t);
  const line =
    "GET https://me:pw@host.example/s3cret/npm/left-pad, '//host.example/s3cret/:x', https://host.example/, host.example with url: /s3cret/x";
  const shown =
    "GET https://host.example/*** '//host.example/***', https://host.example/*** host.example with url: ***";
  const request = { program: 'sh', cwd: context.stagingDir, whenMissing: '', isRegistrySecret: true };
  const { stdout, stderr } = await runProgram(
    { ...request, args: ['-c', `echo "${line}"; echo "${line}" >&2; exit 1`] },
    context,
  );
  assert.deepEqual([stdout, stderr], [`${shown}\n`, `${shown}\n`]);
  const slow = runProgram({ ...request, timeoutMs: 500, args: ['-c', `echo "${line}"; sleep 20`] }, context);
  await assert.rejects(slow, { extra: { output: shown } });
});

test('programs: the output of a stopped step shows no secret', async (t) => {
  const output = `${'x'.repeat(3_000)} https://me:hunter2@host.example/a.git`;
  const world = testWorld();
  t.after(world.close);
  const { result } = await runStep('git.clone', { onEvent: () => {}, log: world.log }, async () => {
    throw new RunError('timeout', 'git was stopped', { output });
  });
  assert.match(String(result.extra?.output), / https:\/\/host\.example\/a\.git$/);
});

test('programs: the end of the output is shown', () => {
  assert.equal(outputEnd(`${'x'.repeat(5_000)}end\n`).length, 2_000);
  assert.match(outputEnd(`${'x'.repeat(5_000)}end\n`), /end$/);
});

for (const line of ['fatal: No space left on device', 'npm error code ENOSPC', 'write blob: disk quota exceeded']) {
  test(`programs: one that fails with '${line}' had no room, whatever it says last`, async (t) => {
    const context = await artifactContext(t);
    const request = { program: 'sh', cwd: context.stagingDir, whenMissing: '', timeoutMs: 5_000 };
    const script = (exitCode: number) => ['-c', `echo '${line}' >&2; echo 'fatal: it failed' >&2; exit ${exitCode}`];
    await assert.rejects(runProgram({ ...request, args: script(1) }, context), {
      message: /^The disk is full: make room/,
    });
    assert.equal((await runProgram({ ...request, args: script(0) }, context)).exitCode, 0);
  });
}
