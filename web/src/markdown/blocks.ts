// Parses the Markdown that readmes use into blocks, in linear time.

/** `Text` is the raw text, or its parsed form. */
export type Block<Text = string> =
  | { kind: 'heading'; level: number; text: Text }
  | { kind: 'paragraph'; text: Text }
  | { kind: 'code'; text: string }
  | { kind: 'quote'; blocks: Block<Text>[] }
  | { kind: 'list'; start: number | undefined; items: Block<Text>[][] }
  | { kind: 'table'; head: Text[]; rows: Text[][] }
  | { kind: 'rule' };

const DEEPEST = 6;
// No pattern may have two repetitions that match the same characters: hostile lines would take forever.
const FENCE = /^ {0,3}(`{3,}|~{3,})/;
const HEADING = /^ {0,3}(#{1,6})(?=\s|$)/;
const QUOTE = /^ {0,3}> ?/;
const ITEM = /^( {0,3})([*+-]|\d{1,9}[.)])(?: {1,4}|\t|$)/;

export function parseBlocks(text: string, depth = 0): Block[] {
  const lines = text.replace(/\r\n?/g, '\n').split('\n');
  const blocks: Block[] = [];
  for (let at = 0; at < lines.length; ) {
    const { block, taken } = readBlock(lines, at, depth);
    if (block) blocks.push(block);
    at += taken;
  }
  return blocks;
}

interface Read {
  block?: Block;
  /** Number of consumed lines, at least one. */
  taken: number;
}

function readBlock(lines: readonly string[], at: number, depth: number): Read {
  const line = lines[at] ?? '';
  if (line.trim() === '') return { taken: 1 };
  const fence = fenceOf(line);
  if (fence) return readCode(lines, at, fence);
  const [before, marks] = HEADING.exec(line) ?? [];
  if (marks)
    return { block: { kind: 'heading', level: marks.length, text: title(line.slice(before?.length)) }, taken: 1 };
  if (isRule(line)) return { block: { kind: 'rule' }, taken: 1 };
  if (depth < DEEPEST && QUOTE.test(line)) return readQuote(lines, at, depth);
  if (depth < DEEPEST && ITEM.test(line)) return readList(lines, at, depth);
  if (line.includes('|') && isDivider(lines[at + 1] ?? '')) return readTable(lines, at);
  return readParagraph(lines, at);
}

function fenceOf(line: string): string | undefined {
  const [before = '', fence] = FENCE.exec(line) ?? [];
  // Backticks followed by others in the same line are inline code.
  return fence?.startsWith('`') && line.includes('`', before.length) ? undefined : fence;
}

/** The text of a heading, without closing marks. */
function title(text: string): string {
  const whole = text.trim();
  let end = whole.length;
  while (whole[end - 1] === '#') end -= 1;
  return end === 0 || /\s/.test(whole[end - 1] ?? '') ? whole.slice(0, end).trimEnd() : whole;
}

function isRule(line: string): boolean {
  const [, sign] = /^ {0,3}([*_-])/.exec(line) ?? [];
  if (!sign) return false;
  let count = 0;
  for (const each of line) {
    if (each === sign) count += 1;
    else if (each.trim() !== '') return false;
  }
  return count >= 3;
}

function readCode(lines: readonly string[], at: number, fence: string): Read {
  let end = at + 1;
  while (end < lines.length && !lines[end]?.trimStart().startsWith(fence)) end += 1;
  return { block: { kind: 'code', text: lines.slice(at + 1, end).join('\n') }, taken: end - at + 1 };
}

function readQuote(lines: readonly string[], at: number, depth: number): Read {
  const taken = countWhile(lines, at, (line) => QUOTE.test(line));
  const inner = lines.slice(at, at + taken).map((line) => line.replace(QUOTE, ''));
  return { block: { kind: 'quote', blocks: parseBlocks(inner.join('\n'), depth + 1) }, taken };
}

/** Indented lines, and blank ones between them, belong to the preceding item. */
function readList(lines: readonly string[], at: number, depth: number): Read {
  const [, indent = '', mark = ''] = ITEM.exec(lines[at] ?? '') ?? [];
  const isNumbered = /\d/.test(mark);
  const items: string[][] = [];
  let width = 2;
  let end = at;
  for (; end < lines.length; end += 1) {
    const line = lines[end] ?? '';
    const next = lines[end + 1] ?? '';
    const item = ITEM.exec(line);
    const isSibling = item && (item[1] ?? '').length < indent.length + 2 && /\d/.test(item[2] ?? '') === isNumbered;
    if (isSibling && !isRule(line)) {
      width = item[0].length;
      items.push([line.slice(width)]);
    } else if (isIndented(line)) items.at(-1)?.push(outdented(line, width));
    else if (line.trim() === '' && (isIndented(next) || ITEM.test(next))) items.at(-1)?.push('');
    else if (line.trim() === '' || startsBlock(line)) break;
    else items.at(-1)?.push(line);
  }
  const parsed = items.map((item) => parseBlocks(item.join('\n'), depth + 1));
  const start = isNumbered ? Number.parseInt(mark, 10) : undefined;
  return { block: { kind: 'list', start, items: parsed }, taken: Math.max(1, end - at) };
}

function isIndented(line: string): boolean {
  return /^(?: {2}|\t)/.test(line) && line.trim() !== '';
}

function outdented(line: string, width: number): string {
  const spaces = /^ */.exec(line)?.[0].length ?? 0;
  return line.startsWith('\t') ? line.slice(1) : line.slice(Math.min(spaces, width));
}

function readTable(lines: readonly string[], at: number): Read {
  const rows = countWhile(lines, at + 2, (line) => line.includes('|'));
  const head = cells(lines[at] ?? '');
  const body = lines.slice(at + 2, at + 2 + rows).map((line) => cells(line).slice(0, head.length));
  return { block: { kind: 'table', head, rows: body }, taken: rows + 2 };
}

function isDivider(line: string): boolean {
  return line.includes('|') && cells(line).every((cell) => /^:?-+:?$/.test(cell));
}

function cells(line: string): string[] {
  const bare = line.trim().replace(/^\||\|$/g, '');
  return bare.split(/(?<!\\)\|/).map((cell) => cell.trim().replaceAll('\\|', '|'));
}

function readParagraph(lines: readonly string[], at: number): Read {
  const taken = 1 + countWhile(lines, at + 1, (line) => line.trim() !== '' && !startsBlock(line) && !isUnderline(line));
  const text = lines
    .slice(at, at + taken)
    .join('\n')
    .trim();
  const underline = lines[at + taken] ?? '';
  if (isUnderline(underline)) {
    return { block: { kind: 'heading', level: underline.includes('=') ? 1 : 2, text }, taken: taken + 1 };
  }
  return { block: { kind: 'paragraph', text }, taken };
}

function isUnderline(line: string): boolean {
  return /^ {0,3}(?:=+|-{2,})\s*$/.test(line);
}

function startsBlock(line: string): boolean {
  return fenceOf(line) !== undefined || isRule(line) || [HEADING, QUOTE, ITEM].some((pattern) => pattern.test(line));
}

function countWhile(lines: readonly string[], from: number, holds: (line: string) => boolean): number {
  let end = from;
  while (end < lines.length && holds(lines[end] ?? '')) end += 1;
  return end - from;
}
