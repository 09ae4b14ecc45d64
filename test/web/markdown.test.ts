import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { headingId } from '../../web/src/markdown/anchors.ts';
import { type Block, parseBlocks } from '../../web/src/markdown/blocks.ts';
import { readMarkdown } from '../../web/src/markdown/document.ts';
import { type Inline, parseInline } from '../../web/src/markdown/inline.ts';
import { repositoryLink, repositoryPicture } from '../../web/src/markdown/repository-link.ts';
import { safeLink } from '../../web/src/markdown/safe-link.ts';
import { piecesOf } from '../../web/src/parts/pieces.ts';
import { tooLong } from '../support/in-time.ts';
import { HOSTILE_READMES } from './hostile-readmes.ts';

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
  ["[b]( <https://a.example/x>\n 't' )", [{ kind: 'link', url: 'https://a.example/x', parts: [plain('b')] }]],
  ['![b](./x.png)', [{ kind: 'relative-image', target: './x.png', alt: 'b' }]],
  ['![b](#x)', [plain('b')]],
  ['![b](//a.example/x.png)', [plain('b')]],
  ['![b](data:image/png;base64,AA)', [plain('b')]],
  ['[b](./docs)', [{ kind: 'relative', target: './docs', parts: [plain('b')] }]],
  ['[b](#c)', [{ kind: 'relative', target: '#c', parts: [plain('b')] }]],
  ['[b](//a.example/x)', [plain('b')]],
  ['[b](\\\\a.example)', [plain('b')]],
  ['[b](javascript:alert(1))', [plain('b')]],
  ['<p align="center">a</p><!-- b -->', [plain('a')]],
  ['a<!-- b --> c <!-- *d*\n--> *e', [plain('a'), plain(' c '), plain(' *e')]],
  ['a <!-- *b*', [plain('a <!-- '), { kind: 'emphasis', parts: [plain('b')] }]],
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
  [
    '#\n### ##\n# a#\n#b',
    [
      { kind: 'heading', level: 1, text: '' },
      { kind: 'heading', level: 3, text: '' },
      { kind: 'heading', level: 1, text: 'a#' },
      paragraph('#b'),
    ],
  ],
  ['# a\u2028b #', [{ kind: 'heading', level: 1, text: 'a\u2028b' }]],
  ['```a```', [paragraph('```a```')]],
  ['~~~ `js`\na\n~~~', [{ kind: 'code', text: 'a' }]],
  ['a | b\n- | x', [paragraph('a | b'), { kind: 'list', start: undefined, items: [[paragraph('| x')]] }]],
  [
    '* * *\n- - x',
    [
      { kind: 'rule' },
      { kind: 'list', start: undefined, items: [[{ kind: 'list', start: undefined, items: [[paragraph('x')]] }]] },
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
  test(`links: ${JSON.stringify(address)} is not a link`, () => assert.equal(safeLink(address), undefined));
}

const REPOSITORY = 'https://github.com/o/r';
const RELATIVE: [target: string, repository: string | undefined, url: string | undefined][] = [
  ['docs/a.md', REPOSITORY, 'https://github.com/o/r/blob/HEAD/docs/a.md'],
  ['./docs/a.md#b', 'https://github.com/o/r.git', 'https://github.com/o/r/blob/HEAD/docs/a.md#b'],
  ['/LICENSE', 'git+https://github.com/o/r/', 'https://github.com/o/r/blob/HEAD/LICENSE'],
  ['a.md', 'https://gitlab.com/o/r', 'https://gitlab.com/o/r/-/blob/HEAD/a.md'],
  ['../b.md', 'https://github.com/o/r/tree/main/packages/a', 'https://github.com/o/r/blob/main/packages/b.md'],
  ['/b.md', 'https://github.com/o/r/tree/main/packages/a', 'https://github.com/o/r/blob/main/b.md'],
  ['../../issues', REPOSITORY, 'https://github.com/o/r/issues'],
  ['../../issues?q=is%3Aopen', REPOSITORY, 'https://github.com/o/r/issues?q=is%3Aopen'],
  ['../../tree/next/docs', REPOSITORY, 'https://github.com/o/r/tree/next/docs'],
  ['../../issues', 'https://gitlab.com/o/r', 'https://gitlab.com/o/r/-/issues'],
  ['../../LICENSE', 'https://github.com/o/r/tree/main/packages/a', 'https://github.com/o/r/blob/main/LICENSE'],
  ['docs/../LICENSE', REPOSITORY, 'https://github.com/o/r/blob/HEAD/LICENSE'],
  // These lead out of the files of the repository.
  ['../LICENSE', REPOSITORY, undefined],
  ['../LICENSE', 'https://gitlab.com/o/r', undefined],
  ['../docs/a.md', REPOSITORY, undefined],
  ['../blob/docs/a.md', REPOSITORY, undefined],
  ['../../LICENSE', REPOSITORY, undefined],
  ['../issues', REPOSITORY, undefined],
  ['../../issues-of-ours.md', REPOSITORY, undefined],
  ['../../../LICENSE', 'https://github.com/o/r/tree/main/packages/a', undefined],
  ['../../../../evil/x', REPOSITORY, undefined],
  ['docs/a.md', undefined, undefined],
  ['docs/a.md', 'https://git.example.org/o/r', undefined],
  // Host names that are also members of every object.
  ['docs/a.md', 'https://constructor/o/r', undefined],
  ['docs/a.md', 'https://__proto__/o/r', undefined],
  ['docs/a.md', 'https://github.com/o', undefined],
  ['docs/a.md', 'javascript:alert(1)//github.com/o/r', undefined],
  ['docs/a.md', 'http://github.com/o/r', undefined],
  ['//evil.example/x', REPOSITORY, undefined],
  ['\\\\evil.example', REPOSITORY, undefined],
  ['javascript:alert(1)', REPOSITORY, undefined],
  ['java\nscript:alert(1)', REPOSITORY, undefined],
  ['', REPOSITORY, undefined],
];
for (const [target, repository, url] of RELATIVE) {
  test(`links: ${JSON.stringify(target)} in ${repository} leads to ${url ?? 'nothing'}`, () =>
    assert.equal(repositoryLink(target, repository), url));
}

const PICTURES: [target: string, repository: string | undefined, url: string | undefined][] = [
  ['docs/a.png', REPOSITORY, 'https://github.com/o/r/raw/HEAD/docs/a.png'],
  ['./a.svg?raw=true', REPOSITORY, 'https://github.com/o/r/raw/HEAD/a.svg?raw=true'],
  ['/a.png', 'https://github.com/blob/blob/tree/main/b', 'https://github.com/blob/blob/raw/main/a.png'],
  ['a.png', 'https://gitlab.com/o/r', 'https://gitlab.com/o/r/-/raw/HEAD/a.png'],
  // Not files.
  ['../../issues', REPOSITORY, undefined],
  ['../../raw/next/a.png', REPOSITORY, undefined],
  ['../../../../evil/x.png', REPOSITORY, undefined],
  ['//evil.example/x.png', REPOSITORY, undefined],
  ['a.png', 'https://git.example.org/o/r', undefined],
  ['a.png', undefined, undefined],
];
for (const [target, repository, url] of PICTURES) {
  test(`pictures: ${JSON.stringify(target)} in ${repository} is ${url ?? 'not shown'}`, () =>
    assert.equal(repositoryPicture(target, repository), url));
}

test('pictures: unresolvable ones do not offer to load pictures', () => {
  const text = '| a |\n|-|\n| [![b](docs/b.png)](c) |';
  assert.equal(readMarkdown(text, REPOSITORY).hasImages, true);
  assert.equal(readMarkdown(text).hasImages, false);
  assert.equal(readMarkdown('![b](../../../../x.png)', REPOSITORY).hasImages, false);
});

test('links: a relative one leads into its repository or nowhere', () => {
  const part = fc.constantFrom('..', '.', '/', '\\', '@', ':', '#', '?', '%2e%2e', 'a', 'evil.example', '\t', 'https:');
  fc.assert(
    fc.property(fc.array(part, { maxLength: 12 }), (parts) => {
      const url = repositoryLink(parts.join(''), REPOSITORY);
      assert.ok(url === undefined || url.startsWith('https://github.com/o/r/'), url);
    }),
    { numRuns: 2_000 },
  );
});

test('markdown: headings have ids like those of repository hosts, apart from the page’s ids', () => {
  const text = '# Set-up & *use*\n> ## `a.b`\n\n- # Ünicode 数\n\n## Same\n## Same\n## readme';
  assert.deepEqual(
    [...readMarkdown(text).headingIds.values()],
    ['readme-set-up--use', 'readme-ab', 'readme-ünicode-数', 'readme-same', 'readme-same-1', 'readme-readme'],
  );
  const idsOf = (each: string) => [...readMarkdown(each).headingIds.values()];
  assert.deepEqual(idsOf('# A\n# A\n# A-1\n# A-1\n# A'), [
    'readme-a',
    'readme-a-1',
    'readme-a-1-1',
    'readme-a-1-2',
    'readme-a-2',
  ]);
  assert.deepEqual(idsOf('# A-1\n# A\n# A'), ['readme-a-1', 'readme-a', 'readme-a-2']);
  assert.equal(headingId('%C3%9Cnicode-数'), 'readme-ünicode-数');
  assert.equal(headingId('100%'), 'readme-100%');
});

test('markdown: any text is parsed completely, and every address in it is safe', () => {
  const characters = fc.constantFrom(
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
      fc.array(characters, { maxLength: 60 }).map((all) => all.join('')),
      (text) => {
        parseBlocks(text);
        for (const url of addressesIn(parseInline(text))) assert.match(url, /^(https?|mailto):/);
      },
    ),
    { numRuns: 2_000 },
  );
});

/** Ten times the time on an idle machine; quadratic parsing takes minutes. */
const LONGEST_MS = 500;

function timeOf(work: () => void): number {
  const begun = performance.now();
  work();
  return performance.now() - begun;
}

for (const [name, text] of Object.entries(HOSTILE_READMES)) {
  test(`markdown: parses ${name} quickly`, () => {
    assert.equal(
      tooLong(LONGEST_MS, () => timeOf(() => readMarkdown(text))),
      undefined,
    );
    const { blocks } = readMarkdown(text);
    assert.ok(partsIn(blocks) <= 15_000, `${partsIn(blocks)} parts and lists of them`);
  });

  test(`blocks: parses ${name} in linear time`, () => {
    assert.equal(
      tooLong(4 * LONGEST_MS, () => timeOf(() => parseBlocks(text))),
      undefined,
    );
  });
}

test('markdown: a readme of usual length is parsed completely, and says whether it has pictures', () => {
  const usual = `# Title\n\n${'Some *words* and `code`, [a link](https://a.example/).\n\n'.repeat(300)}`;
  const whole = readMarkdown(usual);
  assert.equal(whole.isCut, false);
  assert.equal(whole.hasImages, false);
  assert.equal(whole.blocks.length, 301);
  for (const picture of ['![a](https://a.example/x.png)', '<img src="https://a.example/x.png">']) {
    for (const text of [picture, `> ${picture}`, `- a\n  - ${picture}`, `|a|\n|-|\n|**${picture}**|`])
      assert.ok(readMarkdown(text).hasImages, text);
    assert.equal(readMarkdown(`\`\`\`\n${picture}\n\`\`\``).hasImages, false, 'code shows no pictures');
  }
});

test('markdown: headings of a readme skip no level', () => {
  const levelsOf = (text: string) =>
    readMarkdown(text).blocks.flatMap((each) => (each.kind === 'heading' ? each.level : []));
  assert.deepEqual(levelsOf('## a\n## b\n#### c\n### d\n# e\n###### f'), [1, 1, 2, 2, 1, 2]);
});

test('markdown: an overlong readme is parsed up to the end of a line', () => {
  const { blocks, isCut } = readMarkdown('One line of a paragraph.\n\n'.repeat(50_000));
  assert.ok(isCut);
  assert.ok(blocks.length > 1_000);
  assert.equal(new Set(blocks.map((block) => JSON.stringify(block))).size, 1, 'no line is split');
  assert.ok(readMarkdown('**a** '.repeat(10_000)).isCut, 'also a short text with many elements');
});

test('markdown: a text is split at line breaks without loss', () => {
  for (const text of ['', 'short', 'a line\n'.repeat(20_000), '😀'.repeat(20_001), `x${'😀'.repeat(9_000)}\ny`]) {
    const pieces = piecesOf(text);
    assert.equal(pieces.join(''), text);
    assert.ok(pieces.every((piece) => piece.length <= 8_000 && piece.isWellFormed()));
  }
  assert.ok(piecesOf('a line\n'.repeat(20_000)).every((piece) => piece.endsWith('\n')));
});

/** Counts blocks, items, cells and parts, roughly the number of rendered elements. */
function partsIn(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0;
  return Object.values(value).reduce((sum: number, each) => sum + partsIn(each), 1);
}

function addressesIn(parts: readonly Inline[]): string[] {
  return parts.flatMap((part) => [
    ...('url' in part ? [part.url] : []),
    ...('parts' in part ? addressesIn(part.parts) : []),
  ]);
}
