// Repositories that are larger than an install brings in, or have no end at all.
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import { test } from 'node:test';
import { GIT_LIMITS } from '../../../../src/install/artifacts/git/budget.ts';
import { createGitKind } from '../../../../src/install/artifacts/git/git.ts';
import { startGitHost } from '../../git-host.ts';
import { building } from '../building.ts';

const gitWithin = (mostReceivedBytes: number) => createGitKind({ ...GIT_LIMITS, mostReceivedBytes });
const SENTENCE = /was not fetched completely: its host sent more than \d+ bytes/;

test('git: a repository that is larger than allowed is refused, and nothing is left of it', async (t) => {
  const host = await startGitHost(t);
  await host.create('large', { 'a.bin': randomBytes(300_000).toString('hex') });
  const place = await building(t);
  const spec = { repo: host.url('large') };
  assert.match(await place.failure(gitWithin(200_000), spec), SENTENCE);
  await place.install(gitWithin(2_000_000), spec);
});

test('git: a repository and its submodules count together', async (t) => {
  const host = await startGitHost(t);
  const inner = await host.create('inner', { 'b.bin': randomBytes(100_000).toString('hex') });
  await host.create('outer', { 'a.bin': randomBytes(100_000).toString('hex') });
  await host.commit('outer', { '.gitmodules': `[submodule "i"]\n\tpath = i\n\turl = ${host.url('inner')}\n` });
  await host.git('outer', 'update-index', '--add', '--cacheinfo', `160000,${inner},i`);
  await host.git('outer', 'commit', '--quiet', '--message', 'with a submodule');
  const place = await building(t);
  const kind = gitWithin(180_000);
  assert.match(await place.failure(kind, { repo: host.url('outer'), submodules: true }), SENTENCE);
  await place.install(kind, { repo: host.url('outer') });
});

test('git: a host that sends without end is stopped while it sends', async (t) => {
  const host = await startGitHost(t);
  await host.create('endless');
  let posts = 0;
  let sentBytes = 0;
  host.intercept = (request, response) => {
    if (request.method !== 'POST') return false;
    posts += 1;
    // The first one asks which branches there are.
    if (posts === 1) return false;
    request.resume();
    response.writeHead(200, { 'content-type': 'application/x-git-upload-pack-result' });
    sendForever(response, (bytes) => {
      sentBytes += bytes;
    });
    return true;
  };
  const place = await building(t);
  const kind = gitWithin(1_000_000);
  assert.match(await place.failure(kind, { repo: host.url('endless') }), SENTENCE);
  assert.ok(sentBytes > 1_000_000, `${sentBytes} bytes`);
});

/** A pack of many objects, whose first one never ends. */
function sendForever(response: ServerResponse, onSent: (bytes: number) => void): void {
  const packet = (payload: Buffer) =>
    Buffer.concat([Buffer.from((payload.length + 4).toString(16).padStart(4, '0')), payload]);
  const band = (payload: Buffer) => packet(Buffer.concat([Buffer.from([1]), payload]));
  const header = Buffer.from('PACK\0\0\0\x02\0\0\x27\x10', 'latin1');
  // A blob of 2^39 bytes, as a zlib stream of blocks that are stored as they are.
  const blob = Buffer.from([0xb0, 0x80, 0x80, 0x80, 0x80, 0x01, 0x78, 0x01]);
  response.write(packet(Buffer.from('shallow-info\n')));
  response.write(Buffer.from('0001'));
  response.write(packet(Buffer.from('packfile\n')));
  response.write(band(Buffer.concat([header, blob])));
  const block = Buffer.concat([Buffer.from([0, 0, 0xf0, 0xff, 0x0f]), randomBytes(0xf000)]);
  const send = () => {
    if (response.destroyed) return;
    onSent(block.length);
    // Slowly enough that it is somebody's watching that stops it, not a full disk.
    response.write(band(block), () => setTimeout(send, 2));
  };
  send();
}
