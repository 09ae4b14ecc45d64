// Readmes of a megabyte that take a careless parser forever.

const LENGTH = 1_000_000;
const filled = (unit: string) => unit.repeat(Math.ceil(LENGTH / unit.length));
/** Fills the text with hostile lines. */
const lines = (line: string) => filled(`${line}\n`);
const spaces = ' '.repeat(90_000);
const steps = Array.from({ length: 1_400 }, (_, depth) => depth);

export const HOSTILE_READMES: Readonly<Record<string, string>> = {
  'starts of pictures': filled('!['),
  'pictures without addresses': filled('![]('),
  'complete pictures': filled('![a](https://a.example/x.png)'),
  'a heading of spaces': `#${' '.repeat(LENGTH)}x`,
  'headings of spaces': lines(`# a${spaces}b`),
  'a heading of characters': `# a ${'#'.repeat(LENGTH)}x`,
  'headings with unusual line breaks': lines(`# ${'\u2028 '.repeat(20_000)}#x`),
  'unclosed brackets': filled('['),
  'closed brackets': `${'['.repeat(LENGTH / 2)}${']'.repeat(LENGTH / 2)}`,
  'nested brackets': filled('[[[[a] b] c] '),
  'nested links': filled('[a]('),
  'links whose targets are spaces': filled(`[a](${' '.repeat(1_900)}`),
  'links with unclosed titles': filled('[a](b "'),
  'many links': filled('[a](https://a.example/b) '),
  'unclosed stars': filled('*a '),
  'only stars': filled('*'),
  'stars and letters': filled('**a*b'),
  'only underscores': filled('_'),
  'underscores within words': filled('_a __b'),
  'unclosed tildes': filled('~~a ~'),
  'only backticks': filled('`'),
  'backticks of every length': filled(Array.from({ length: 600 }, (_, length) => '`'.repeat(length)).join(' ')),
  'fences of tildes that end with a backtick': lines(`${'~'.repeat(90_000)}\``),
  'fences of backticks': lines(`${'`'.repeat(90_000)} x`),
  'only pipes': lines('|'.repeat(90_000)),
  'a table of pipes': `${'|'.repeat(LENGTH / 2)}\n${'|-'.repeat(LENGTH / 4)}|`,
  'tables whose lines are spaces': lines(`a|b\n|-|-${spaces}x`),
  'a table with many rows': `a|b\n-|-\n${filled('*1*|`2`\n')}`,
  'nested quotes': lines('> '.repeat(45_000)),
  'quotes of every depth': steps.map((depth) => `${'>'.repeat(depth)} a`).join('\n'),
  'lists within lists': steps.map((depth) => `${' '.repeat(depth)}- a`).join('\n'),
  'lists on one line': filled('- '),
  'numbers on one line': filled('1. '),
  'lists whose lines are spaces': `- a\n${lines(spaces)}b`,
  'many items': lines('- a'),
  'many short lines': lines('a'),
  'dashes and spaces': lines(`${'- '.repeat(45_000)}x`),
  'invalid underlines': lines(`a\n${'='.repeat(90_000)}x`),
  'unclosed tags': filled('<a '),
  'unclosed comments': filled('<!--'),
  'pictures as tags': filled('<img src=https://a.example/x>'),
  'endless addresses': filled('http'),
  'addresses of dots': filled(`http://${'.'.repeat(1_900)} `),
  'escaped marks': filled('\\*'),
  'character references': filled('&amp;'),
  'one long word': filled('x'),
  'line breaks': `a${filled('\r\n')}b`,
  'letters of other scripts': filled('很😀'),
};
