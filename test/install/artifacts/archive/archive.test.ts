// Valid archives: what is extracted, what is replaced, and what digests do.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import { chmod, lstat, mkdir, mkdtemp, readFile, readlink, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { type TestContext, test } from 'node:test';
import { promisify } from 'node:util';
import { gzipSync } from 'node:zlib';
import { pack } from 'tar-stream';
import { ZipFile } from 'yazl';
import { mcpbKind, zipKind } from '../../../../src/install/artifacts/archive/archive.ts';
import { unlessHere } from '../../../support/programs.ts';
import { startIndexServer } from '../../../support/servers/index-server.ts';
import { building } from '../building.ts';
import { rawTarGz, rawZip } from '../raw-archives.ts';

const run = promisify(execFile);
const sha = (algorithm: string, bytes: Buffer) => createHash(algorithm).update(bytes).digest('hex');

/** The same files in every format. */
const FILES = {
  'readme.md': '# Thing\n',
  'bin/start': '#!/bin/sh\n',
  'src/ünï/naïve.txt': 'text',
  'data.bin': 'x'.repeat(200_000),
};

async function zipped(): Promise<Buffer> {
  const zip = new ZipFile();
  zip.addEmptyDirectory('empty');
  for (const [name, text] of Object.entries(FILES))
    zip.addBuffer(Buffer.from(text), name, { mode: name.startsWith('bin/') ? 0o104755 : 0o100600 });
  zip.end();
  return buffer(zip.outputStream as AsyncIterable<Buffer>);
}

async function tarred(): Promise<Buffer> {
  const tar = pack();
  tar.entry({ name: './', type: 'directory' });
  tar.entry({ name: './empty/', type: 'directory' });
  for (const [name, text] of Object.entries(FILES))
    tar.entry({ name: `./${name}`, mode: name.startsWith('bin/') ? 0o4755 : 0o600 }, text);
  tar.finalize();
  return gzipSync(await buffer(tar as unknown as AsyncIterable<Buffer>));
}

async function madeByPrograms(
  t: TestContext,
  make: (folder: string, archive: string) => Promise<unknown>,
): Promise<Buffer> {
  const around = await mkdtemp(join(tmpdir(), 'hub-archive-'));
  t.after(() => rm(around, { recursive: true }));
  const folder = join(around, 'files');
  for (const [name, text] of Object.entries(FILES)) {
    await mkdir(join(folder, name, '..'), { recursive: true });
    await writeFile(join(folder, name), text);
  }
  await mkdir(join(folder, 'empty'));
  await chmod(join(folder, 'bin/start'), 0o755);
  await make(folder, join(around, 'archive'));
  return readFile(join(around, 'archive'));
}

const MAKERS: Record<string, { make(t: TestContext): Promise<Buffer>; needs?: string }> = {
  'zip by yazl': { make: zipped },
  'tar.gz by tar-stream': { make: tarred },
  'tar.gz by tar': {
    needs: 'tar',
    make: (t) => madeByPrograms(t, (folder, archive) => run('tar', ['-czf', archive, '-C', folder, '.'])),
  },
  'tar.gz by tar in pax form': {
    needs: 'tar',
    make: (t) =>
      madeByPrograms(t, (folder, archive) => run('tar', ['--format=pax', '-czf', archive, '-C', folder, '.'])),
  },
  'zip by Python': {
    needs: 'python3',
    make: (t) =>
      madeByPrograms(t, (folder, archive) =>
        run('python3', [
          '-c',
          `import shutil,os; shutil.make_archive(${JSON.stringify(archive)}, 'zip', ${JSON.stringify(folder)}); os.rename(${JSON.stringify(`${archive}.zip`)}, ${JSON.stringify(archive)})`,
        ]),
      ),
  },
};

for (const [name, { make, needs }] of Object.entries(MAKERS)) {
  test(`${name}: extracts everything, and keeps only the executable bit of modes`, {
    skip: needs ? unlessHere(needs) : false,
  }, async (t) => {
    const host = await startIndexServer(t);
    const stage = await building(t);
    const archive = await make(t);
    host.put('/thing-1.0.tar.gz', archive);
    const installed = await stage.install(zipKind, { url: host.url('/thing-1.0.tar.gz') });
    assert.deepEqual(
      [installed.resolved, installed.integrity],
      [host.url('/thing-1.0.tar.gz'), `sha256:${sha('sha256', archive)}`],
    );
    for (const [path, text] of Object.entries(FILES)) assert.equal(await stage.read(path), text);
    const mode = async (path: string) => (await lstat(join(stage.folder, path))).mode & 0o7777;
    assert.equal((await mode('bin/start')) & 0o7111, 0o111 & ~process.umask());
    assert.equal((await mode('readme.md')) & 0o7111, 0);
    assert.ok((await lstat(join(stage.folder, 'empty'))).isDirectory());
    await stage.assertContained();
  });
}

test('zip: accepts digests in every notation and refuses a wrong one', async (t) => {
  const host = await startIndexServer(t);
  const stage = await building(t);
  const archive = await zipped();
  host.put('/a.zip', archive);
  const url = host.url('/a.zip');
  const sha256 = sha('sha256', archive);
  for (const digest of [`sha256:${sha256}`, sha256, `SHA256:${sha256.toUpperCase()}`, null])
    await stage.install(zipKind, { url, digest });
  const zeros = `sha256:${'0'.repeat(64)}`;
  assert.match(await stage.failure(zipKind, { url, digest: zeros }), /digest is sha256:.*should be sha256:000/);
});

const BAD_SPECS: [object, RegExp][] = [
  [{ url: 'https://example.org/a.zip', digest: `sha256-${'0'.repeat(64)}` }, /must be 'sha256:'/],
  [{}, /url/],
  [{ url: 5 }, /url/],
  [{ url: '' }, /http/],
  [{ url: 'file:///etc/passwd' }, /http/],
  [{ url: '-o/etc/x' }, /http/],
  ...[
    'sha256:12',
    'md5:d41d8cd98f00b204e9800998ecf8427e',
    'a'.repeat(63),
    'a'.repeat(65),
    'g'.repeat(64),
    `sha512:${'a'.repeat(128)}`,
    '',
    ':',
    'sha256:',
  ].map((digest): [object, RegExp] => [{ url: 'https://a.example/x', digest }, /digest/]),
  ...[
    '',
    '.',
    './',
    '..',
    '../x',
    '/etc',
    'a/../../b',
    'a\\b',
    'C:/x',
    '-x',
    '.venv',
    'node_modules/x',
    'vendor',
    'hub.lock.json',
    'HUB.LOCK.JSON',
    '.git/hooks',
    'a/.git',
    '.hub',
    'a\0b',
    'package.json',
  ].map((dest): [object, RegExp] => [{ url: 'https://a.example/x', dest }, /dest/]),
];
for (const [spec, expected] of BAD_SPECS) {
  test(`zip: ${JSON.stringify(spec).slice(0, 80)} is refused`, async (t) => {
    assert.match(await (await building(t)).failure(zipKind, spec), expected);
  });
}

test('zip: keeps links that stay inside the archive', async (t) => {
  const host = await startIndexServer(t);
  const stage = await building(t);
  const link = (name: string, content: string) => ({ name, mode: 0o120777, content });
  host.put(
    '/a.zip',
    rawZip([link('docs/CLAUDE.md', '../AGENTS.md'), { name: 'AGENTS.md', content: 'text' }, link('all', 'docs')]),
  );
  host.put(
    '/a.tgz',
    rawTarGz([
      { name: 'docs/CLAUDE.md', type: '2', linkname: '../AGENTS.md' },
      { name: 'AGENTS.md', content: 'text' },
      { name: 'all', type: '2', linkname: 'docs' },
    ]),
  );
  for (const path of ['/a.zip', '/a.tgz']) {
    await stage.install(zipKind, { url: host.url(path) });
    assert.equal(await readlink(join(stage.folder, 'docs/CLAUDE.md')), '../AGENTS.md');
    assert.equal(await stage.read('all/CLAUDE.md'), 'text');
  }
});

test('zip: reports failing hosts, and does not store a password in the address', async (t) => {
  const host = await startIndexServer(t);
  const stage = await building(t);
  assert.match(await stage.failure(zipKind, { url: host.url('/nothing.zip') }), /its host answered 404/);
  assert.match(await stage.failure(zipKind, { url: 'http://127.0.0.1:1/a.zip' }), /could not be reached/);
  const strict = await building(t, { allowPrivate: false });
  assert.match(await strict.failure(zipKind, { url: host.url('/a.zip') }), /private or loopback/);
  host.put('/a.zip', await zipped());
  const url = host.url('/a.zip').replace('//', '//me:s3cret@');
  const installed = await stage.install(zipKind, { url });
  assert.ok(!JSON.stringify([installed, zipKind.describe(zipKind.spec.parse({ url }))]).includes('s3cret'));
});

test('zip: a frozen install requires the same bytes', async (t) => {
  const host = await startIndexServer(t);
  const stage = await building(t);
  const spec = { url: host.url('/a.zip') };
  host.put('/a.zip', await zipped());
  const { resolved, integrity } = await stage.install(zipKind, spec);
  const locked = { resolved, integrity };
  assert.equal((await stage.install(zipKind, spec, { locked })).integrity, integrity);
  host.put('/a.zip', rawZip([{ name: 'other' }]));
  assert.match(await stage.failure(zipKind, spec, { locked }), /should be sha256/);
  assert.match(await stage.failure(zipKind, spec, { locked: { ...locked, integrity: null } }), /no digest/);
  const elsewhere = { ...locked, resolved: 'https://a.example/' };
  assert.match(await stage.failure(zipKind, spec, { locked: elsewhere }), /The lockfile has https:\/\/a\.example/);
});

test('zip: a file downloaded to resolve is not downloaded again to build', async (t) => {
  const host = await startIndexServer(t);
  const stage = await building(t);
  host.put('/a.zip', await zipped());
  await stage.install(zipKind, { url: host.url('/a.zip') });
  assert.equal(host.seen('/a.zip').length, 1);
});

test('zip: an extraction can be stopped in the middle', async (t) => {
  const host = await startIndexServer(t);
  const stage = await building(t);
  host.answer('/slow.zip', (_request, response) => void response.write('PK\x03\x04'));
  await assert.rejects(
    stage.install(zipKind, { url: host.url('/slow.zip') }, { signal: AbortSignal.timeout(100) }),
    /was stopped/,
  );
  host.put('/many.zip', rawZip(Array.from({ length: 5_000 }, (_, n) => ({ name: `f${n}`, content: 'x' }))));
  const controller = new AbortController();
  const download: typeof stage.context.download = async (request) => {
    const reply = await stage.context.download(request);
    setTimeout(() => controller.abort(), 20);
    return reply;
  };
  await assert.rejects(stage.install(zipKind, { url: host.url('/many.zip') }, { signal: controller.signal, download }));
  await stage.assertContained();
});

const SERVER = `\${__dirname}/server/index.js`;
const BUNDLE = { name: 'thing', server: { mcp_config: { command: 'node', args: [SERVER] } } };

test('mcpb: installs a bundle by its digest, and refuses other archives', async (t) => {
  const host = await startIndexServer(t);
  const stage = await building(t);
  const bundle = rawZip([
    { name: 'manifest.json', content: JSON.stringify(BUNDLE) },
    { name: 'server/index.js', content: '1' },
  ]);
  host.put('/thing.mcpb', bundle);
  const spec = { registry: 'mcpb', package: host.url('/thing.mcpb'), fileSha256: sha('sha256', bundle) };
  const installed = await stage.install(mcpbKind, spec);
  assert.equal(installed.integrity, `sha256:${spec.fileSha256}`);
  assert.deepEqual(installed.bundle?.args, [SERVER]);
  assert.match(await stage.failure(mcpbKind, { ...spec, fileSha256: '0'.repeat(64) }), /should be/);
  for (const fileSha256 of ['12', 'x'.repeat(64), 'a'.repeat(128)])
    assert.match(await stage.failure(mcpbKind, { ...spec, fileSha256 }), /fileSha256/);
  host.put('/other.mcpb', await zipped());
  host.put('/third.mcpb', await tarred());
  host.put('/program.mcpb', Buffer.from('\x7fELF'));
  for (const path of ['/other.mcpb', '/third.mcpb'])
    assert.match(await stage.failure(mcpbKind, { registry: 'mcpb', package: host.url(path) }), /not an MCP bundle/);
  assert.match(
    await stage.failure(mcpbKind, { registry: 'mcpb', package: host.url('/program.mcpb') }),
    /neither a zip/,
  );
  assert.match(await stage.failure(mcpbKind, { registry: 'mcpb', package: 'thing' }), /http/);
});

/** Appended by `mcpb sign`; later versions also count it as a zip comment. */
function signed(bundle: Buffer, { isCounted }: { isCounted: boolean }): Buffer {
  const signature = randomBytes(3_000);
  const length = Buffer.alloc(4);
  length.writeUInt32LE(signature.length);
  const block = Buffer.concat([Buffer.from('MCPB_SIG_V1'), length, signature, Buffer.from('MCPB_SIG_END')]);
  const zip = Buffer.from(bundle);
  if (isCounted) zip.writeUInt16LE(block.length, zip.length - 2);
  return Buffer.concat([zip, block]);
}

for (const isCounted of [false, true])
  test(`mcpb: accepts a signed bundle${isCounted ? ', also when its signature is a comment' : ''}`, async (t) => {
    const host = await startIndexServer(t);
    const stage = await building(t);
    const bundle = signed(rawZip([{ name: 'manifest.json', content: JSON.stringify(BUNDLE) }]), { isCounted });
    host.put('/thing.mcpb', bundle);
    const spec = { registry: 'mcpb', package: host.url('/thing.mcpb'), fileSha256: sha('sha256', bundle) };
    assert.equal((await stage.install(mcpbKind, spec)).integrity, `sha256:${spec.fileSha256}`);
    assert.deepEqual(await stage.files(), ['manifest.json']);
  });
