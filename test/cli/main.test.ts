import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { VERSION } from '../../src/version.ts';
import { lines } from './process.ts';
import { inTerminal } from './terminal/in-terminal.ts';

for (const args of [['version'], ['--version'], ['-V']]) {
  test(`hub ${args.join(' ')}: prints the version`, async () => {
    assert.deepEqual(await inTerminal(args), { exitCode: 0, out: `${VERSION}\n`, error: '' });
  });
}

test('hub version --json: prints the version as JSON', async () => {
  const { exitCode, out } = await inTerminal(['version', '--json']);
  assert.deepEqual([exitCode, JSON.parse(out)], [0, { version: VERSION }]);
});

for (const args of [['--help'], ['-h'], ['help']]) {
  test(`hub ${args.join(' ')}: lists the commands`, async () => {
    const { exitCode, out, error } = await inTerminal(args);
    assert.equal(exitCode, 0);
    assert.match(out, /^Usage: hub /);
    for (const command of ['serve', 'version']) assert.match(out, new RegExp(`^ +${command}\\b`, 'm'));
    assert.equal(error, '');
    assert.match(out, /^Search and show:\n {2}search /m);
    assert.doesNotMatch(out, /^Commands:/m, 'each command is in a section');
    assert.doesNotMatch(out, /^ +names\b/m, 'only completion scripts call it');
  });
}

test('hub serve --help: lists its options, with examples', async () => {
  const { exitCode, out } = await inTerminal(['serve', '--help']);
  assert.equal(exitCode, 0);
  assert.match(out, /--demo/);
  assert.match(out, /Examples:/);
});

test('hub export --help: is never wider than the terminal', async () => {
  const { out } = await inTerminal(['export', '--help'], { columns: 70 });
  const [, details = ''] = /\n\n(The format `jsonl`[\s\S]*?)\n\nExamples/.exec(out) ?? [];
  assert.ok(details.split('\n').length > 1);
  for (const line of details.split('\n')) assert.ok(line.length <= 70, line);
});

const wrong = [
  { args: [], says: /Usage: hub/ },
  { args: ['frobnicate'], says: /unknown command 'frobnicate'/ },
  { args: ['sevre'], says: /Did you mean serve\?/ },
  { args: ['token', 'create'], says: /Did you mean tokens\?/ },
  { args: ['tokens', 'create'], says: /unknown command 'create'\n'hub tokens --help' .*: add, list, remove\./ },
  { args: ['serve', '--port', '80'], says: /unknown option '--port'/ },
  { args: ['serve', 'now'], says: /too many arguments/ },
  { args: ['--frobnicate'], says: /unknown option '--frobnicate'/ },
];
for (const { args, says } of wrong) {
  test(`hub ${args.join(' ')}: is refused with a hint and exit code 2`, async () => {
    const { exitCode, out, error } = await inTerminal(args);
    assert.equal(exitCode, 2);
    assert.match(error, says);
    assert.equal(out, '');
  });
}

test('a wrong command line prints two lines, not the whole help', async () => {
  for (const args of [['search', '--type', 'nope'], ['show'], ['frobnicate'], ['pending', 'frobnicate']]) {
    const { error } = await inTerminal(args);
    assert.equal(lines(error).length, 2, error);
    assert.match(lines(error)[1] ?? '', /^'hub .*--help' /);
  }
});

const skip = existsSync('/dev/full') || process.env.CI ? false : '*** no /dev/full ***';
test('the executable reports a failed write to stdout, and ignores one to stderr', { skip }, () => {
  const hub = `'${process.execPath}' '${fileURLToPath(new URL('../../src/bin/hub.ts', import.meta.url))}'`;
  const shell = (line: string) => spawnSync('sh', ['-c', line], { encoding: 'utf8', cwd: '/' });
  const full = shell(`${hub} version > /dev/full`);
  assert.equal(full.status, 1);
  assert.match(full.stderr, /^hub: The output could not be written: ENOSPC/);
  const closed = shell(`${hub} --help | head -1`);
  assert.deepEqual([closed.status, lines(closed.stdout).length, closed.stderr], [0, 1, '']);
  assert.equal(shell(`${hub} frobnicate 2> /dev/full`).status, 2);
});
