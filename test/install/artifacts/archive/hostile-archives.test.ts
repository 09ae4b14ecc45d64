// Malicious and broken archives: each is refused by name, writes nothing outside, and leaves nothing behind.
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { test } from 'node:test';
import { deflateRawSync, gzipSync } from 'node:zlib';
import { zipKind } from '../../../../src/install/artifacts/archive/archive.ts';
import { startIndexServer } from '../../../support/servers/index-server.ts';
import { building } from '../building.ts';
import { paxEntry, type RawTarEntry, type RawZipEntry, rawTar, rawTarGz, rawZip } from '../raw-archives.ts';

const OTHER_TYPE = /only files, folders and symbolic links are/;

type Hostile = [name: string, archive: () => Buffer, expected: RegExp];

const GOOD = { name: 'good.txt', content: 'fine' };
const DEEP = `${'d/'.repeat(60)}f`;

/** Names that are refused in every format. */
const NAMES: [name: string, expected: RegExp][] = [
  ['../escaped', /must not contain '\.\.'|invalid relative path/],
  ['../../escaped', /must not contain '\.\.'|invalid relative path/],
  ['a/../../escaped', /must not contain '\.\.'|invalid relative path/],
  ['a/..', /must not contain '\.\.'|invalid relative path/],
  ['/etc/escaped', /must be relative|absolute path/],
  ['//escaped', /must be relative|absolute path/],
  ['C:/escaped', /must be relative|absolute path/],
  ['c:escaped', /must be relative|absolute path/],
  ['a\\b', /must not contain '\\'|invalid characters/],
  ['..\\escaped', /must not contain '\\'|invalid characters/],
  ['\\\\server\\share', /must not contain '\\'|invalid characters/],
  ['a//b', /empty segments/],
  ['a/./b', /empty segments/],
  ['a\u0007b', /control characters/],
  ['a\nb', /control characters/],
  ['con', /not valid on every system/],
  ['docs/NUL.txt', /not valid on every system/],
  ['com1.log', /not valid on every system/],
  ['a.', /not valid on every system/],
  ['a /b', /not valid on every system/],
  ['.git/config', /folder that git uses/],
  ['sub/.GIT/hooks/post-checkout', /folder that git uses/],
  ['photo\u202egnp.exe', /direction/],
  [DEEP, /folders deep/],
  ['n'.repeat(256), /too long/],
  [`${'long-folder-name/'.repeat(70)}f`, /longer than/],
];

const nameCases = NAMES.flatMap(([name, expected]): Hostile[] => [
  [`zip: the name ${shown(name)}`, () => rawZip([GOOD, { name }]), expected],
  [`tar: the name ${shown(name)}`, () => rawTarGz([GOOD, paxEntry({ path: name }), { name: 'short' }]), expected],
]);

/** Pairs of names that exclude each other. */
const PAIRS: [string, string, RegExp][] = [
  ['a', 'a', /twice/],
  ['Readme.md', 'README.md', /same name/],
  ['docs/a', 'Docs/b', /same name/],
  ['caf\u00e9', 'cafe\u0301', /same name/],
  ['stra\u00dfe', 'STRASSE', /same name/],
  ['a', 'a/b', /both a file and a folder/],
  ['a/b', 'a', /both a file and a folder/],
  ['a', 'a/', /both a file and a folder/],
  ['./a', 'a', /twice|empty segments/],
];

const pairCases = PAIRS.flatMap(([first, second, expected]): Hostile[] => [
  [`zip: ${first} and ${second}`, () => rawZip([{ name: first }, { name: second }]), expected],
  [`tar: ${first} and ${second}`, () => rawTarGz([tarNamed(first), tarNamed(second)]), expected],
]);

const zip = (name: string, entry: Partial<RawZipEntry>, expected: RegExp): Hostile => [
  `zip: ${name}`,
  () => rawZip([GOOD, { name: 'entry', content: 'some text', ...entry }]),
  expected,
];
/** More than may be extracted at any ratio. */
const ZEROS = Buffer.alloc(33_000_000);

const zipCases: Hostile[] = [
  zip('a link to an absolute path', { mode: 0o120777, content: '/etc/passwd' }, /'entry' is a link that leads out/),
  zip('a link to the folder above', { mode: 0o120777, content: '..' }, /leads out/),
  zip('a link without a target', { mode: 0o120777, content: '' }, /readable target/),
  zip('a link with a long target', { mode: 0o120777, content: 'x/'.repeat(3_000) }, /readable target/),
  zip('a link with NUL in its target', { mode: 0o120777, content: 'a\0b' }, /readable target/),
  [
    'zip: a link that leads out through another',
    () =>
      rawZip([
        { name: 'deep/er/up', mode: 0o120777, content: '../..' },
        { name: 'evil', mode: 0o120777, content: 'deep/er/up/../canary' },
      ]),
    /'evil' is a link that leads out/,
  ],
  zip('a link by Windows attributes', { mode: 0, dosAttributes: 0x400 }, /is a Windows link/),
  zip('a character device', { mode: 0o020666 }, OTHER_TYPE),
  zip('a block device', { mode: 0o060666 }, OTHER_TYPE),
  zip('a pipe', { mode: 0o010666 }, OTHER_TYPE),
  zip('a socket', { mode: 0o140666 }, OTHER_TYPE),
  zip('an encrypted entry', { flags: 0x801 }, /is encrypted/),
  zip('a strongly encrypted entry', { flags: 0x841 }, /encrypt/),
  zip('an unknown method', { method: 99 }, /method/),
  zip('a size that is too small', { content: Buffer.alloc(100_000), claimedBytes: 10 }, /too many bytes/),
  zip('a size that is too large', { claimedBytes: 100_000 }, /not enough bytes/),
  zip('a wrong checksum', { checksum: 1 }, /checksum/),
  zip(
    'compressed bytes beyond the end',
    { claimedPackedBytes: 900_000 },
    /'entry' is broken|list of entries cannot be used/,
  ),
  zip('a missing local header', { offset: 3 }, /invalid local file header|shares its bytes/),
  zip('an offset beyond the end', { offset: 0x7fffffff }, /broken|readable/),
  zip('a bomb', { content: ZEROS }, /bomb/),
  zip('a bomb that claims gigabytes', { claimedBytes: 0xfffffff0 }, /more than|bomb/),
  zip('a folder with content', { name: 'folder/' }, /folder with content/),
  zip('a stored stream that is not deflate', { method: 8, claimedPackedBytes: 2 }, /broken/),
  [
    'zip: many entries for the same bytes',
    () =>
      rawZip([
        { name: 'a', content: randomBytes(9_000) },
        ...[1, 2, 3].map((n) => ({ name: `b${n}`, content: 'x', sameBytesAs: 0 })),
      ]),
    /shares its bytes/,
  ],
  ['zip: more entries than allowed', () => rawZip([GOOD], { entryCount: 50_001 }), /more than 50000 entries/],
  ['zip: fewer entries than announced', () => rawZip([GOOD], { entryCount: 5 }), /list of entries cannot be used/],
  ['zip: no entries', () => rawZip([]), /empty/],
  [
    'zip: truncated',
    () => rawZip([GOOD, { name: 'b', content: randomBytes(5_000) }]).subarray(0, 3_000),
    /list of entries cannot be used/,
  ],
  ['zip: only its first bytes', () => Buffer.from('PK\x03\x04'), /list of entries cannot be used/],
  ['zip: NUL in a name', () => rawZip([{ name: 'a\0b' }]), /control characters/],
  [
    'zip: a second name in an extra field',
    () => rawZip([{ name: 'plain', flags: 0, extra: unicodePath('plain', '../escaped') }]),
    /\.\./,
  ],
];

const tar = (name: string, entries: RawTarEntry[], expected: RegExp): Hostile => [
  `tar: ${name}`,
  () => rawTarGz([GOOD, ...entries]),
  expected,
];

const tarCases: Hostile[] = [
  tar('a symbolic link', [{ name: 'l', type: '2', linkname: '/etc/passwd' }], /'l' is a link that leads out/),
  tar('a symbolic link out', [{ name: 'a/l', type: '2', linkname: '../../canary' }], /'a\/l' is a link that leads out/),
  tar(
    'a link, then a file through it',
    [{ name: 'l', type: '2', linkname: '..' }, { name: 'l/escaped' }],
    /both a file and a folder/,
  ),
  tar('a hard link', [{ name: 'h', type: '1', linkname: '../canary' }], OTHER_TYPE),
  tar('a character device', [{ name: 'd', type: '3' }], OTHER_TYPE),
  tar('a block device', [{ name: 'd', type: '4' }], OTHER_TYPE),
  tar('a pipe', [{ name: 'p', type: '6' }], OTHER_TYPE),
  tar('a sparse file', [{ name: 's', type: 'S' }], OTHER_TYPE),
  tar('an unknown type', [{ name: 's', type: 'Z' }], OTHER_TYPE),
  tar('a size that is too large', [{ name: 'a', content: 'x', claimedBytes: 5_000_000 }], /not a readable tar/),
  tar('a size of many gigabytes', [{ name: 'a', claimedBytes: 0o77777777777 }], /more than/),
  tar('a size that is not a number', [paxEntry({ size: 'many' }), { name: 'a' }], /readable|refused/),
  tar('a negative size', [paxEntry({ size: '-5' }), { name: 'a' }], /readable|refused/),
  tar('a wrong checksum', [{ name: 'a', checksum: '000001\0 ' }], /not a readable tar/),
  tar('a header of many megabytes', [{ name: 'x', type: 'x', content: Buffer.alloc(5_000_000) }], /not a readable tar/),
  tar(
    'a GNU long name that leads out',
    [{ name: '././@LongLink', type: 'L', content: '../escaped\0' }, { name: 'a' }],
    /\.\./,
  ),
  tar(
    'a global name that leads out',
    [paxEntry({ path: '../escaped' }, 'g'), paxEntry({ comment: 'x' }), { name: 'a' }],
    /\.\./,
  ),
  tar('NUL in a name', [paxEntry({ path: 'a\0b' }), { name: 'a' }], /control characters/),
  tar('a bomb', [{ name: 'zeros', content: ZEROS }], /bomb/),
  ['tar: endless zeros', () => gzipSync(Buffer.alloc(97_000_000), { level: 1 }), /bomb/],
  [
    'tar: more entries than allowed',
    // Repeats the header of the folder itself, so nothing is created on disk.
    () => gzipSync(Buffer.alloc(512 * 50_001, rawTar([{ name: './', type: '5' }], { end: false })), { level: 1 }),
    /more than 50000 entries/,
  ],
  [
    'tar: truncated',
    () => rawTarGz([GOOD, { name: 'b', content: randomBytes(9_000) }]).subarray(0, 4_000),
    /not a readable tar/,
  ],
  [
    'tar: truncated before compression',
    () => gzipSync(rawTar([GOOD, { name: 'b', content: randomBytes(9_000) }]).subarray(0, 3_000)),
    /not a readable tar/,
  ],
  ['tar: a wrong gzip checksum', () => flipped(rawTarGz([GOOD]), -6), /not a readable tar/],
  ['tar: no entries', () => gzipSync(Buffer.alloc(1_024)), /empty/],
  ['gzip of something else', () => gzipSync('x'.repeat(5_000)), /not a readable tar/],
];

/** One extra field of an unknown kind. */
const REMARK = Buffer.concat([Buffer.from([0x99, 0x99, 0x60, 0xea]), Buffer.alloc(0xea60)]);

const otherCases: Hostile[] = [
  [
    'zip: a directory full of extra fields',
    () => rawZip(Array.from({ length: 540 }, (_, n) => ({ name: `f${n}`, extra: REMARK }))),
    /bytes of comments/,
  ],
  ['an empty file', () => Buffer.alloc(0), /neither a zip nor/],
  ['an HTML page', () => Buffer.from('<!doctype html><title>Sign in</title>'), /neither a zip nor/],
  ['an executable', () => Buffer.concat([Buffer.from('\x7fELF'), randomBytes(1_000)]), /neither a zip nor/],
  ['a tar without gzip', () => rawTar([GOOD]), /neither a zip nor/],
  ['a raw deflate stream', () => deflateRawSync('x'), /neither a zip nor/],
  ['one byte', () => Buffer.from('P'), /neither a zip nor/],
];

test('hostile archives are refused, and leave nothing behind', async (t) => {
  const host = await startIndexServer(t);
  const stage = await building(t);
  for (const [name, archive, expected] of [...nameCases, ...pairCases, ...zipCases, ...tarCases, ...otherCases])
    await t.test(name, async () => {
      host.put('/a.zip', archive());
      assert.match(await stage.failure(zipKind, { url: host.url('/a.zip') }), expected);
    });
});

function tarNamed(name: string): RawTarEntry {
  return { name, type: name.endsWith('/') ? '5' : '0' };
}

/** The Info-ZIP field for a name in UTF-8. */
function unicodePath(name: string, real: string): Buffer {
  const body = Buffer.alloc(9 + Buffer.byteLength(real));
  body.writeUInt16LE(0x7075, 0);
  body.writeUInt16LE(body.length - 4, 2);
  body.writeUInt8(1, 4);
  body.writeUInt32LE(crcOf(name), 5);
  body.write(real, 9);
  return body;
}

function crcOf(text: string): number {
  return rawZip([{ name: 'x', content: text }]).readUInt32LE(14);
}

function flipped(bytes: Buffer, at: number): Buffer {
  const copy = Buffer.from(bytes);
  const index = copy.length + at;
  copy[index] = (copy[index] ?? 0) ^ 0xff;
  return copy;
}

function shown(name: string): string {
  const text = JSON.stringify(name);
  return text.length > 40 ? `${text.slice(0, 40)}…` : text;
}
