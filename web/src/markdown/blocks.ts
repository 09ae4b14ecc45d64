// Markdown → blocks: what readmes use of it, in time that grows with their length only.

export type Block =
  | { kind: 'heading'; level: number; text: string }
  | { kind: 'paragraph'; text: string }
  | { kind: 'code'; text: string }
  | { kind: 'quote'; blocks: Block[] }
  | { kind: 'list'; start: number | undefined; items: Block[][] }
  | { kind: 'table'; head: string[]; rows: string[][] }
  | { kind: 'rule' };

const DEEPEST = 6;
const FENCE = /^ {0,3}(`{3,}|~{3,})[^`]*$/;
const HEADING = /^ {0,3}(#{1,6})(?:\s+(.*?))?(?:\s+#+)?\s*$/;
const RULE = /^ {0,3}(?:(?:\*\s*){3,}|(?:-\s*){3,}|(?:_\s*){3,})$/;
const QUOTE = /^ {0,3}> ?/;
const ITEM = /^( {0,3})([*+-]|\d{1,9}[.)])(?: {1,4}|\t|$)/;
const DIVIDER = /^ {0,3}\|?(?:\s*:?-+:?\s*\|)+\s*(?::?-+:?\s*\|?\s*)?$/;

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
  /** Lines that it takes up, at least one. */
  taken: number;
}

function readBlock(lines: readonly string[], at: number, depth: number): Read {
  const line = lines[at] ?? '';
  if (line.trim() === '') return { taken: 1 };
  const [, fence] = FENCE.exec(line) ?? [];
  if (fence) return readCode(lines, at, fence);
  const [, marks, title = ''] = HEADING.exec(line) ?? [];
  if (marks) return { block: { kind: 'heading', level: marks.length, text: title }, taken: 1 };
  if (RULE.test(line)) return { block: { kind: 'rule' }, taken: 1 };
  if (depth < DEEPEST && QUOTE.test(line)) return readQuote(lines, at, depth);
  if (depth < DEEPEST && ITEM.test(line)) return readList(lines, at, depth);
  if (line.includes('|') && DIVIDER.test(lines[at + 1] ?? '')) return readTable(lines, at);
  return readParagraph(lines, at);
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

/** Lines that are indented belong to the item before them, and so do blank ones between such. */
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
    if (isSibling && !RULE.test(line)) {
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
  return /^(?: {2,}|\t)\s*\S/.test(line);
}

function outdented(line: string, width: number): string {
  const blanks = /^ */.exec(line)?.[0].length ?? 0;
  return line.startsWith('\t') ? line.slice(1) : line.slice(Math.min(blanks, width));
}

function readTable(lines: readonly string[], at: number): Read {
  const rows = countWhile(lines, at + 2, (line) => line.includes('|'));
  const head = cells(lines[at] ?? '');
  const body = lines.slice(at + 2, at + 2 + rows).map((line) => cells(line).slice(0, head.length));
  return { block: { kind: 'table', head, rows: body }, taken: rows + 2 };
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
  return [FENCE, HEADING, RULE, QUOTE, ITEM].some((pattern) => pattern.test(line));
}

function countWhile(lines: readonly string[], from: number, holds: (line: string) => boolean): number {
  let end = from;
  while (end < lines.length && holds(lines[end] ?? '')) end += 1;
  return end - from;
}
