import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { type Block, parseBlocks } from '../../web/src/markdown/blocks.ts';
import { type Inline, parseInline } from '../../web/src/markdown/inline.ts';
import { safeLink } from '../../web/src/markdown/safe-link.ts';

const plain = (text: string): Inline => ({ kind: 'text', text });

const INLINE: [markdown: string, parts: Inline[]][] = [
  ['plain text', [plain('plain text')]],
  ['a **b** c', [plain('a '), { kind: 'strong', parts: [plain('b')] }, plain(' c')]],
  ['*a* _b_', [{ kind: 'emphasis', parts: [plain('a')] }, plain(' '), { kind: 'emphasis', parts: [plain('b')] }]],
  ['snake_case_name', [plain('snake_case_name')]],
  ['2 * 3 * 4', [plain('2 * 3 * 4')]],
  ['~~old~~', [{ kind: 'strike', parts: [plain('old')] }]],
  ['`a*b*`', [{ kind: 'code', text: 'a*b*' }]],
  ['``a ` b``', [{ kind: 'code', text: 'a ` b' }]],
  ['\\*not\\*', [plain('*'), plain('not'), plain('*')]],
  ['a  \nb', [plain('a  '), { kind: 'break' }, plain('b')]],
  ['a<br/>b', [plain('a'), { kind: 'break' }, plain('b')]],
  ['[b](https://a.example/x)', [{ kind: 'link', url: 'https://a.example/x', parts: [plain('b')] }]],
  ['[b](https://a.example/x_(y) "t")', [{ kind: 'link', url: 'https://a.example/x_(y)', parts: [plain('b')] }]],
  ['<https://a.example/>', [{ kind: 'link', url: 'https://a.example/', parts: [plain('https://a.example/')] }]],
  [
    'see https://a.example/x.',
    [plain('see '), { kind: 'link', url: 'https://a.example/x', parts: [plain('https://a.example/x')] }, plain('.')],
  ],
  ['![b](https://a.example/x.png)', [{ kind: 'image', url: 'https://a.example/x.png', alt: 'b' }]],
  ['<img alt="b" src="https://a.example/x.png">', [{ kind: 'image', url: 'https://a.example/x.png', alt: 'b' }]],
  ['![b](./x.png)', [plain('b')]],
  ['[b](./docs)', [plain('b')]],
  ['[b](javascript:alert(1))', [plain('b')]],
  ['<p align="center">a</p><!-- b -->', [plain('a')]],
  ['<script>alert(1)</script>', [plain('alert(1)')]],
  ['1 < 2 &amp; 3 &lt;b&gt;', [plain('1 < 2 & 3 <b>')]],
];

for (const [markdown, parts] of INLINE) {
  test(`inline: ${JSON.stringify(markdown)}`, () => assert.deepEqual(parseInline(markdown), parts));
}

const paragraph = (text: string): Block => ({ kind: 'paragraph', text });

const BLOCKS: [markdown: string, blocks: Block[]][] = [
  ['', []],
  ['a\nb\n\nc', [paragraph('a\nb'), paragraph('c')]],
  [
    '# A\n## B ##',
    [
      { kind: 'heading', level: 1, text: 'A' },
      { kind: 'heading', level: 2, text: 'B' },
    ],
  ],
  [
    'A\n===\nB\n---',
    [
      { kind: 'heading', level: 1, text: 'A' },
      { kind: 'heading', level: 2, text: 'B' },
    ],
  ],
  ['a\r\n***\r\nb', [paragraph('a'), { kind: 'rule' }, paragraph('b')]],
  ['```js\n# a\n\n```\nb', [{ kind: 'code', text: '# a\n' }, paragraph('b')]],
  ['~~~\nnever closed', [{ kind: 'code', text: 'never closed' }]],
  ['> a\n> > b', [{ kind: 'quote', blocks: [paragraph('a'), { kind: 'quote', blocks: [paragraph('b')] }] }]],
  ['- a\n- b\n  c', [{ kind: 'list', start: undefined, items: [[paragraph('a')], [paragraph('b\nc')]] }]],
  ['3. a\n4. b', [{ kind: 'list', start: 3, items: [[paragraph('a')], [paragraph('b')]] }]],
  [
    '- a\n  - b',
    [
      {
        kind: 'list',
        start: undefined,
        items: [[paragraph('a'), { kind: 'list', start: undefined, items: [[paragraph('b')]] }]],
      },
    ],
  ],
  ['| a | b |\n|---|:-:|\n| 1 | x \\| y |', [{ kind: 'table', head: ['a', 'b'], rows: [['1', 'x | y']] }]],
];

for (const [markdown, blocks] of BLOCKS) {
  test(`blocks: ${JSON.stringify(markdown)}`, () => assert.deepEqual(parseBlocks(markdown), blocks));
}

test('blocks: lists within lists keep their depth', () => {
  const [outer] = parseBlocks('1. a\n   - b\n     - c\n\n     d\n2. e');
  const shape = (block: Block | undefined): unknown =>
    block?.kind === 'list' ? block.items.map((item) => item.map(shape)) : block && 'text' in block && block.text;
  assert.deepEqual(shape(outer), [['a', [['b', [['c']], 'd']]], ['e']]);
});

const UNSAFE = [
  'javascript:alert(1)',
  'JaVaScRiPt:alert(1)',
  ' javascript:alert(1)',
  'java\nscript:alert(1)',
  '\u0001javascript:alert(1)',
  'data:text/html,<script>alert(1)</script>',
  'vbscript:x',
  'file:///etc/passwd',
  'blob:https://a.example/x',
  'https://bank.example@evil.example/',
  '//a.example/x',
  './x',
  '#x',
  '',
];

for (const address of UNSAFE) {
  test(`links: ${JSON.stringify(address)} becomes none`, () => assert.equal(safeLink(address), undefined));
}

test('markdown: any text is read to its end, and every address in it is a safe one', () => {
  const signs = fc.constantFrom(
    '*',
    '_',
    '`',
    '[',
    ']',
    '(',
    ')',
    '!',
    '<',
    '>',
    '\n',
    ' ',
    '#',
    '- ',
    '1. ',
    '|',
    '\\',
    'a',
    'javascript:',
    'https://a.b/',
    '&lt;',
    '~~',
    '    ',
    '```',
  );
  fc.assert(
    fc.property(
      fc.array(signs, { maxLength: 60 }).map((all) => all.join('')),
      (text) => {
        parseBlocks(text);
        for (const url of addressesIn(parseInline(text))) assert.match(url, /^(https?|mailto):/);
      },
    ),
    { numRuns: 2_000 },
  );
});

const HOSTILE = {
  'stars that never end': '*a '.repeat(60_000),
  'brackets that never close': '['.repeat(100_000),
  'links within links': '[a]('.repeat(40_000),
  'quotes within quotes': '> '.repeat(50_000),
  'lists within lists': Array.from({ length: 3_000 }, (_, depth) => `${'  '.repeat(depth)}- a`).join('\n'),
  'tags that never end': '<a '.repeat(60_000),
  'comments that never end': '<!--'.repeat(50_000),
  'ticks of every length': Array.from({ length: 600 }, (_, length) => '`'.repeat(length)).join(' '),
  'a table of bars': `${'|'.repeat(50_000)}\n${'|-'.repeat(50_000)}|`,
  'dashes and blanks': `${'- '.repeat(80_000)}x`,
  'addresses without an end': 'http'.repeat(50_000),
};

for (const [name, text] of Object.entries(HOSTILE)) {
  test(`markdown: ${name} take no longer than other texts`, () => {
    const begun = performance.now();
    for (const block of parseBlocks(text.slice(0, 200_000))) if (block.kind === 'paragraph') parseInline(block.text);
    // A quadratic reader would take minutes.
    assert.ok(performance.now() - begun < 3_000, `${Math.round(performance.now() - begun)} ms`);
  });
}

function addressesIn(parts: readonly Inline[]): string[] {
  return parts.flatMap((part) => [
    ...('url' in part ? [part.url] : []),
    ...('parts' in part ? addressesIn(part.parts) : []),
  ]);
}
