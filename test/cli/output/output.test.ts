import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { createOutput } from '../../../src/cli/output/output.ts';
import { createProgress, forgiving } from '../../../src/cli/output/progress.ts';
import { createStyle, wantsColor } from '../../../src/cli/output/style.ts';
import { facts, table } from '../../../src/cli/output/table.ts';
import { byteCount, oneLine, plural, shortened, shownMoment, widthOf, wrapped } from '../../../src/cli/output/text.ts';
import { harmless, harmlessJson } from '../../../src/lib/harmless.ts';

const harmful = [
  { name: 'colors', text: '\u001b[31mred\u001b[0m', shown: 'red' },
  { name: 'cursor commands', text: 'a\u001b[2J\u001b[1;1Hb', shown: 'ab' },
  { name: 'a window title', text: '\u001b]0;evil\u0007x', shown: 'x' },
  { name: 'links', text: '\u001b]8;;http://evil\u001b\\click\u001b]8;;\u001b\\', shown: 'click' },
  { name: 'eight-bit controls', text: 'a\u009b31mb', shown: 'a31mb' },
  { name: 'bell and backspace', text: 'a\u0007\bb', shown: 'ab' },
  { name: 'direction marks', text: 'a\u202eb\u2066c', shown: 'abc' },
  { name: 'invisible characters', text: 'a\u{E0041}\u{E0042}\u061cb', shown: 'ab' },
  { name: 'an unfinished escape', text: 'a\u001b', shown: 'a' },
];
for (const { name, text, shown } of harmful) {
  test(`text: removes ${name}`, () => assert.equal(harmless(text), shown));
}

test('text: no remaining text can control a terminal, and line breaks stay', () => {
  const parts = fc.constantFrom(
    '\u001b',
    '[',
    ']',
    '31m',
    '\u0007',
    '\r',
    '\n',
    'a',
    '\u009b',
    '\\',
    '\u202e',
    '\u061c',
    '\u{E0041}',
  );
  fc.assert(
    fc.property(fc.array(parts), (pieces) => {
      assert.doesNotMatch(harmless(pieces.join('')), /(?!\n)[\p{Cc}\u202e\u061c\u{E0041}]/u);
    }),
  );
  assert.equal(harmless('a\r\nb\rc\n\td'), 'a\nb\nc\n\td');
  assert.equal(oneLine(' a\r\n\t b '), 'a b');
});

const widths = [
  { text: 'plain', width: 5 },
  { text: 'é', width: 1 },
  { text: 'e\u0301', width: 1 },
  { text: '日本', width: 4 },
  { text: '👩‍👩‍👧 x', width: 4 },
  { text: '', width: 0 },
];
for (const { text, width } of widths)
  test(`text: '${text}' is ${width} wide`, () => assert.equal(widthOf(text), width));

test('text: is cut and wrapped to a width', () => {
  assert.equal(shortened('postgres-reader', 8), 'postgre…');
  assert.equal(shortened('日本語', 4), '日…');
  assert.equal(shortened('short', 5), 'short');
  assert.deepEqual(wrapped('one two three\nfour', 8), ['one two', 'three', 'four']);
  assert.deepEqual(wrapped('unbreakable', 4), ['unbreakable']);
  assert.deepEqual([0, 999, 1500, 28_400_000].map(byteCount), ['0 B', '999 B', '1.5 kB', '28.4 MB']);
  assert.deepEqual([plural(1, 'remote'), plural(1200, 'entity', 'entities')], ['1 remote', '1,200 entities']);
});

const COLUMNS = [
  { title: 'Name', text: ({ name }: { name: string; count: number }) => name, isFlexible: true },
  { title: 'Count', text: ({ count }: { name: string; count: number }) => String(count), isNumber: true },
];

test('text: shows times in the reader’s time zone, and other text unchanged', () => {
  const moment = new Date(2026, 10, 5, 8, 4, 59);
  assert.equal(shownMoment(moment.toISOString()), '2026-11-05 08:04');
  assert.equal(shownMoment('some day'), 'some day');
});

test('table: aligns columns, and fits them to a terminal', () => {
  const rows = [
    { name: 'a\u001b[31m b', count: 1 },
    { name: 'a-name-that-is-really-very-long', count: 20 },
  ];
  assert.equal(
    table(rows, COLUMNS, undefined),
    'NAME                             COUNT\na b                                  1\na-name-that-is-really-very-long     20\n',
  );
  assert.equal(
    table(rows, COLUMNS, 26),
    'NAME                 COUNT\na b                      1\na-name-that-is-rea…     20\n',
  );
  assert.equal(
    facts([
      ['Name', 'x'],
      ['License', null],
      ['Long name', 'y\nz'],
    ]),
    'Name       x\nLong name  y z\n',
  );
});

const SERVERS = [
  { title: 'State', text: ({ state }: Row) => state },
  { title: 'Server', text: ({ uid }: Row) => uid },
  { title: 'Transport', text: () => 'STDIO' },
  { title: 'Tries', text: () => '2', isNumber: true },
  { title: 'Error', text: ({ error }: Row) => error, style: (text: string) => `<${text}>`, isFlexible: true },
];
interface Row {
  state: string;
  uid: string;
  error: string;
}
const UID = 'mcp_server:one-that-has-a-long-name@1.0.0';

test('table: shortens long text, never what people copy', () => {
  const rows = [{ state: 'new', uid: UID, error: 'the gateway answered 502 and nothing more' }];
  assert.equal(
    table(rows, SERVERS, 90),
    `STATE  SERVER${' '.repeat(37)}TRANSPORT  TRIES  ERROR\nnew    ${UID}  STDIO${' '.repeat(10)}2  <the gateway answered…>\n`,
  );
});

test('table: prints a block for each row when the ids do not fit', () => {
  const rows = [
    { state: 'new', uid: UID, error: 'the gateway answered 502' },
    { state: '', uid: 'mcp_server:other@1.0.0', error: '' },
  ];
  assert.equal(
    table(rows, SERVERS, 40),
    [
      'State      new',
      `Server     ${UID}`,
      'Transport  STDIO',
      'Tries      2',
      'Error      <the gateway answered 502>',
      '',
      'Server     mcp_server:other@1.0.0',
      'Transport  STDIO',
      'Tries      2',
      '',
    ].join('\n'),
  );
});

test('table: is never wider than the terminal, unless that is absurdly narrow', () => {
  fc.assert(
    fc.property(
      fc.array(fc.string({ maxLength: 60 }), { minLength: 1 }),
      fc.integer({ min: 24, max: 120 }),
      (names, width) => {
        const lines = table(
          names.map((name) => ({ name, count: 1 })),
          COLUMNS,
          width,
        ).split('\n');
        for (const line of lines) assert.ok(widthOf(line) <= width, `${widthOf(line)} > ${width}: ${line}`);
      },
    ),
  );
});

test('style: colors are used only on a terminal that supports them, and not with NO_COLOR', () => {
  assert.equal(wantsColor({}, true), true);
  assert.equal(wantsColor({ NO_COLOR: '' }, true), true);
  assert.equal(wantsColor({ NO_COLOR: '1' }, true), false);
  assert.equal(wantsColor({ TERM: 'dumb' }, true), false);
  assert.equal(wantsColor({}, false), false);
  assert.equal(createStyle(true).bad('x'), '\u001b[31mx\u001b[39m');
  assert.equal(createStyle(false).bad('x'), 'x');
});

test('progress: rewrites one line on a terminal', () => {
  const written: string[] = [];
  let now = 0;
  const progress = createProgress({
    isTerminal: true,
    columns: 10,
    writeError: (text) => written.push(text),
    now: () => now,
  });
  progress.show('first');
  progress.show('too soon');
  now = 200;
  progress.show('second and long');
  progress.tell('stays');
  progress.end();
  assert.deepEqual(written, ['\r\u001b[Kfirst', '\r\u001b[Ksecond a…', '\r\u001b[K', 'stays\n']);
});

test('progress: prints occasional lines elsewhere', () => {
  const written: string[] = [];
  let now = 0;
  const progress = createProgress({
    isTerminal: false,
    columns: 10,
    writeError: (text) => written.push(text),
    now: () => now,
  });
  progress.show('at once is too soon');
  now = 10_000;
  progress.show('after a while');
  now = 15_000;
  progress.show('too soon');
  progress.end();
  assert.deepEqual(written, ['after a while\n']);
});

test('progress: prints a line for work of more than ten seconds elsewhere', (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const written: string[] = [];
  const writeError = (text: string) => written.push(text);
  const progress = createProgress({ isTerminal: false, columns: 80, writeError, now: () => 0 });
  progress.show('npm.install …');
  t.mock.timers.tick(9_999);
  assert.deepEqual(written, []);
  t.mock.timers.tick(1);
  progress.tell('ok      npm.install');
  progress.show('lockfile.write …');
  progress.tell('ok      lockfile.write');
  t.mock.timers.tick(15_000);
  assert.deepEqual(written, ['npm.install …\n', 'ok      npm.install\n', 'ok      lockfile.write\n']);
});

/** A terminal that records what is written to it. */
function watchedTerminal(environment: Record<string, string> = {}) {
  const written: string[] = [];
  const write = (text: string) => void written.push(text);
  const shown = { isTerminal: true, isErrorTerminal: true, columns: 80 };
  const rest = { readInput: async () => '', shutdown: new AbortController().signal };
  return { terminal: { environment, ...shown, write, writeError: write, ...rest }, written: () => written.join('') };
}

test('output: foreign text cannot control the terminal, in answers and notes', () => {
  const order = '\u001b]0;owned\u0007\u001b[2J\u001b[8mhidden\u001b[0m\r\u009b\u202e';
  for (const environment of [{}, { NO_COLOR: '1' }] as Record<string, string>[]) {
    const { terminal, written } = watchedTerminal(environment);
    const output = createOutput(terminal, { isJson: false, isQuiet: false });
    const { bad, good } = output.style;
    output.answer({}, () => `a${order}b ${bad(`c${order}d`)} ${order}${good('e')}\n`);
    output.note(`f${order}\ng`);
    const own = 'NO_COLOR' in environment ? ['', '', ''] : ['\u001b[31m', '\u001b[32m', '\u001b[39m'];
    const [red, green, end] = own;
    assert.equal(written(), `ahidden\nb ${red}chidden\nd${end} hidden\n${green}e${end}\nfhidden g\n`);
  }
});

test('output: an answer contains no control sequences except its styles', () => {
  const { terminal, written } = watchedTerminal();
  const output = createOutput(terminal, { isJson: false, isQuiet: false });
  const piece = fc.constantFrom(
    '\u001b',
    '\u001b[',
    '31',
    '1',
    'm',
    ']0;',
    '\u0007',
    '\r',
    '\n',
    'a',
    '\u009b',
    output.style.bad('b'),
  );
  fc.assert(
    fc.property(fc.array(piece), (pieces) => {
      output.answer({}, () => pieces.join(''));
      const rest = written().replaceAll('\u001b[31m', '').replaceAll('\u001b[39m', '').replaceAll('\u001b[1m', '');
      assert.doesNotMatch(rest, /(?!\n)\p{Cc}/u);
    }),
  );
});

test('output: values of the wrong type do not break a table', () => {
  const rows = [{ uid: 3 }, { uid: null }, { uid: '\u001b[2Jx' }, {}] as unknown as { uid: string }[];
  assert.equal(table(rows, [{ title: 'Server', text: ({ uid }) => uid }], undefined), 'SERVER\n3\n\nx\n\n');
});

test('progress: ignores unreadable progress events of a hub', () => {
  const received: string[] = [];
  const listener = forgiving(({ seconds }: { seconds: number }) => received.push(seconds.toFixed(1)));
  listener({ seconds: 'soon' as unknown as number });
  listener({ seconds: 2 });
  assert.deepEqual(received, ['2.0']);
  const failing = forgiving(() => {
    throw new RangeError('a fault of our own');
  });
  assert.throws(() => failing({}), RangeError);
});

test('progress: failed work leaves no progress line on the terminal', async () => {
  const { terminal, written } = watchedTerminal();
  const failing = createOutput(terminal, { isJson: false, isQuiet: false }).working(async (progress) => {
    progress.show('copying …');
    throw new Error('no room');
  });
  await assert.rejects(failing, /no room/);
  assert.equal(written(), '\r\u001b[Kcopying …\r\u001b[K');
});

test('text: JSON keeps its value and cannot control a terminal', () => {
  const hostile = fc.string({
    unit: fc.constantFrom('\u009b', '\u007f', '\u202e', '"', '\\', 'a', '\n', '\u001b', '\u{E0041}'),
  });
  fc.assert(
    fc.property(fc.array(hostile), (texts) => {
      const json = harmlessJson(JSON.stringify(texts, null, 2));
      assert.deepEqual(JSON.parse(json), texts);
      assert.doesNotMatch(json, /(?!\n)[\p{Cc}\u202e\u061c\u{E0041}]/u);
    }),
  );
  assert.deepEqual(JSON.parse(harmlessJson('{\r\n"a":\r1}')), { a: 1 });
});
