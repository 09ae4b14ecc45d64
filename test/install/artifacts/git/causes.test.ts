// What git writes when it fails, as sentences that a person can act on.
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { gitIn } from '../../../../src/install/artifacts/git/command.ts';
import { artifactContext } from '../artifact-context.ts';

const CAUSES: [written: string, cause: string][] = [
  ["fatal: unable to access 'https://h/': Could not resolve host: h", 'the name of its host is not known'],
  [
    'fatal: could not read Username for https://h: terminal prompts disabled',
    'it needs a login, and there is none for it on this machine',
  ],
  ['error: RPC failed; curl 18\nfatal: early EOF', 'its host ended the connection early; try again later'],
  ['error: unable to create file FOLDER/aux: Permission denied', 'unable to create file aux: Permission denied'],
  ["fatal: cannot use STAGING/x of 'https://me:pw@h.example/a'", "cannot use x of 'https://h.example/a'"],
];

test('git: what it writes becomes a sentence, without folders of the install', async (t) => {
  const context = await artifactContext(t);
  const folder = join(context.stagingDir, 'built');
  const git = gitIn(folder, context);
  for (const [written, cause] of CAUSES) {
    const stderr = written.replaceAll('FOLDER', folder).replaceAll('STAGING', context.stagingDir);
    const { message, extra } = git.failure('It failed', stderr);
    assert.equal(message, `It failed: ${cause}.`);
    assert.ok(!JSON.stringify(extra).includes(context.stagingDir), JSON.stringify(extra));
  }
});
