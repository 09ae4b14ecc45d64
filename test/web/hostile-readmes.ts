// Readmes of a megabyte that a careless parser would take forever to read.

const LENGTH = 1_000_000;
const filled = (unit: string) => unit.repeat(Math.ceil(LENGTH / unit.length));
/** One line after the other, each as hostile as a line can be. */
const lines = (line: string) => filled(`${line}\n`);
const spaces = ' '.repeat(90_000);
const steps = Array.from({ length: 1_400 }, (_, depth) => depth);

export const HOSTILE_READMES: Readonly<Record<string, string>> = {
  'beginnings of pictures': filled('!['),
  'pictures without addresses': filled('![]('),
  'pictures in full': filled('![a](https://a.example/x.png)'),
  'a heading of spaces': `#${' '.repeat(LENGTH)}x`,
  'headings of spaces': lines(`# a${spaces}b`),
  'a heading of characters': `# a ${'#'.repeat(LENGTH)}x`,
  'headings with odd line ends': lines(`# ${'\u2028 '.repeat(20_000)}#x`),
  'brackets that never close': filled('['),
  'brackets that all close': `${'['.repeat(LENGTH / 2)}${']'.repeat(LENGTH / 2)}`,
  'brackets within brackets': filled('[[[[a] b] c] '),
  'links within links': filled('[a]('),
  'links whose targets are spaces': filled(`[a](${' '.repeat(1_900)}`),
  'links whose titles never end': filled('[a](b "'),
  'many links': filled('[a](https://a.example/b) '),
  'stars that never end': filled('*a '),
  'stars alone': filled('*'),
  'stars and letters': filled('**a*b'),
  'low lines alone': filled('_'),
  'low lines within words': filled('_a __b'),
  'waves that never end': filled('~~a ~'),
  'ticks alone': filled('`'),
  'ticks of every length': filled(Array.from({ length: 600 }, (_, length) => '`'.repeat(length)).join(' ')),
  'fences of waves that end with a tick': lines(`${'~'.repeat(90_000)}\``),
  'fences of ticks': lines(`${'`'.repeat(90_000)} x`),
  'bars alone': lines('|'.repeat(90_000)),
  'a table of bars': `${'|'.repeat(LENGTH / 2)}\n${'|-'.repeat(LENGTH / 4)}|`,
  'tables whose lines are spaces': lines(`a|b\n|-|-${spaces}x`),
  'a table with many rows': `a|b\n-|-\n${filled('*1*|`2`\n')}`,
  'quotes within quotes': lines('> '.repeat(45_000)),
  'quotes of every depth': steps.map((depth) => `${'>'.repeat(depth)} a`).join('\n'),
  'lists within lists': steps.map((depth) => `${' '.repeat(depth)}- a`).join('\n'),
  'lists on one line': filled('- '),
  'numbers on one line': filled('1. '),
  'lists whose lines are spaces': `- a\n${lines(spaces)}b`,
  'many items': lines('- a'),
  'many short lines': lines('a'),
  'dashes and spaces': lines(`${'- '.repeat(45_000)}x`),
  'underlines that are none': lines(`a\n${'='.repeat(90_000)}x`),
  'tags that never end': filled('<a '),
  'comments that never end': filled('<!--'),
  'pictures as tags': filled('<img src=https://a.example/x>'),
  'addresses without an end': filled('http'),
  'addresses of dots': filled(`http://${'.'.repeat(1_900)} `),
  'marks that are escaped': filled('\\*'),
  'names of characters': filled('&amp;'),
  'one long word': filled('x'),
  'line ends': `a${filled('\r\n')}b`,
  'letters of other scripts': filled('很😀'),
};
