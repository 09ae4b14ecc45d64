// What other programs say when they fail, in words that a person can act on.
import assert from 'node:assert/strict';
import { chmod, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { gitIn } from '../../../src/install/artifacts/git-command.ts';
import { ociInstaller } from '../../../src/install/artifacts/oci.ts';
import { tempDir } from '../../support/databases.ts';
import { stage } from './stage.ts';

const SKOPEO: [says: string, told: RegExp][] = [
  [
    'pinging container registry h.example: Get \\"https://h.example/v2/\\": dial tcp: lookup h.example: no such host',
    /could not be reached/,
  ],
  ['reading manifest 1.0 in h.example/a: manifest unknown', /has no such image or tag/],
  ['reading manifest 1.0 in h.example/a: unauthorized: authentication required', /without a login; only public/],
  ['reading manifest 1.0: toomanyrequests: You have reached your pull rate limit', /no more images for now/],
  ['open /etc/containers/policy.json: no such file or directory', /install the package containers-common/],
  ['tls: failed to verify certificate: x509: certificate signed by unknown authority', /certificate of the registry/],
  ['something \\"else\\" in SCRATCH/parts went wrong', /: something "else" in parts went wrong\.$/],
];

for (const [says, told] of SKOPEO) {
  test(`oci: what skopeo says is told as a sentence: ${told.source}`, async (t) => {
    const programs = await tempDir(t);
    const log = `time="2026-01-01T00:00:00Z" level=fatal msg="${says}"`;
    // Nothing but the shell: the other programs of the machine must not be found.
    const words = log.split('SCRATCH').map((part) => `'${part}'`);
    const script = `#!/bin/sh\n[ "$1" = --version ] && exit 0\necho ${words.join('"$PWD"')} >&2\nexit 1\n`;
    await writeFile(join(programs, 'skopeo'), script);
    await chmod(join(programs, 'skopeo'), 0o755);
    const { failure, targetDir } = await stage(t, { env: { PATH: programs } });
    const message = await failure(ociInstaller, { image: '127.0.0.1:9/a:1.0' });
    assert.match(message, /^skopeo could not pull the image: .*\.$/);
    assert.match(message, told);
    assert.doesNotMatch(message, /level=|msg=/);
    assert.ok(!message.includes(targetDir), message);
  });
}

const GIT: [says: string, told: string][] = [
  ["fatal: unable to access 'https://h/': Could not resolve host: h", 'the name of its host is not known'],
  [
    'fatal: could not read Username for https://h: terminal prompts disabled',
    'it is not public, and only public repositories are fetched',
  ],
  ['error: RPC failed; curl 18\nfatal: early EOF', 'its host broke off before everything was there; try again later'],
  ['error: unable to create file FOLDER/aux: Permission denied', 'unable to create file aux: Permission denied'],
  ["fatal: cannot use SCRATCH/x of 'https://me:pw@h.example/a'", "cannot use x of 'https://h.example/a'"],
];

test('git: what it says is told as a sentence, without folders of the hub', async (t) => {
  const { context } = await stage(t);
  const folder = join(context.workDir, 'checkout');
  const git = gitIn(folder, context);
  for (const [says, told] of GIT) {
    const written = says.replaceAll('FOLDER', folder).replaceAll('SCRATCH', context.workDir);
    const { message, extra } = git.failure('It failed', written);
    assert.equal(message, `It failed: ${told}.`);
    assert.ok(!JSON.stringify(extra).includes(context.targetDir), JSON.stringify(extra));
  }
});
