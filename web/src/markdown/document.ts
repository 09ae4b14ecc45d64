// Parses a readme for rendering, and limits it to what a browser can draw at once.
import { nameHeadings } from './anchors.ts';
import { type Block, parseBlocks } from './blocks.ts';
import { type Allowance, type Inline, parseInline } from './inline.ts';
import { repositoryPicture } from './repository-link.ts';

export interface MarkdownDocument {
  blocks: Block<Inline[]>[];
  /** Heading → id. */
  headingIds: ReadonlyMap<Block<Inline[]>, string>;
  /** Whether it contains pictures. */
  hasImages: boolean;
  /** Whether the text was truncated. */
  isCut: boolean;
  /** Whether the browser should lay out only the visible part. */
  isLong: boolean;
}

/** The text is truncated at any of these limits: some texts consist only of marks, others only of line breaks. */
const MOST_CHARACTERS = 100_000;
const MOST_LINES = 3_000;
const MOST_PARTS = 6_000;
const MANY_PARTS = 1_000;
/** A browser lays out a paragraph or a code block as a whole. */
const LONGEST_BLOCK = 10_000;

interface Limits extends Allowance {
  isCut: boolean;
  /** Levels of the enclosing headings. */
  levels: number[];
}

export function readMarkdown(text: string, repository?: string): MarkdownDocument {
  const beginning = beginningOf(text);
  const limits: Limits = { left: MOST_PARTS, isCut: beginning.length < text.length, levels: [] };
  const blocks = readBlocks(parseBlocks(beginning), limits);
  const isCut = limits.isCut || limits.left <= 0;
  const isLong = isCut || limits.left < MOST_PARTS - MANY_PARTS;
  return {
    blocks,
    headingIds: nameHeadings(blocks),
    hasImages: blocks.some((block) => hasImages(block, repository)),
    isCut,
    isLong,
  };
}

/** Cuts at a line end, if possible, so that no mark loses its counterpart. */
function beginningOf(text: string): string {
  const isShort = text.length <= MOST_CHARACTERS;
  const lines = text.slice(0, MOST_CHARACTERS).split(/\r\n?|\n/, MOST_LINES + 2);
  if (isShort && lines.length <= MOST_LINES) return text;
  const whole = lines.slice(0, Math.min(MOST_LINES, lines.length - 1));
  return whole.length > 0 ? whole.join('\n') : text.slice(0, MOST_CHARACTERS);
}

function readBlocks(blocks: readonly Block[], limits: Limits): Block<Inline[]>[] {
  return within(limits, blocks, (block) => readBlock(block, limits));
}

function readBlock(block: Block, limits: Limits): Block<Inline[]> {
  switch (block.kind) {
    case 'heading':
      return { ...block, level: rank(block.level, limits), text: parseInline(cut(block.text, limits), limits) };
    case 'paragraph':
      return { ...block, text: parseInline(cut(block.text, limits), limits) };
    case 'quote':
      return { ...block, blocks: readBlocks(block.blocks, limits) };
    case 'list':
      return { ...block, items: within(limits, block.items, (item) => readBlocks(ticked(item), limits)) };
    case 'table': {
      const cells = (row: readonly string[]) => within(limits, row, (cell) => parseInline(cut(cell, limits), limits));
      return { ...block, head: cells(block.head), rows: within(limits, block.rows, cells) };
    }
    case 'code':
      return { ...block, text: cut(block.text, limits) };
    case 'rule':
      return block;
  }
}

/** The nesting depth of a heading: many readmes start with level two, or skip a level. */
function rank(level: number, { levels }: Limits): number {
  while ((levels.at(-1) ?? 0) >= level) levels.pop();
  return levels.push(level);
}

function cut(text: string, limits: Limits): string {
  if (text.length <= LONGEST_BLOCK) return text;
  limits.isCut = true;
  return text.slice(0, LONGEST_BLOCK);
}

/** Recognizes a task: `[x] done`. */
function ticked(item: readonly Block[]): readonly Block[] {
  const [first, ...others] = item;
  if (first?.kind !== 'paragraph') return item;
  const text = first.text.replace(/^\[([ xX])\] /, (_box, mark) => (mark === ' ' ? '☐ ' : '☑ '));
  return [{ ...first, text }, ...others];
}

function within<From, To>(limits: Limits, all: readonly From[], read: (each: From) => To): To[] {
  const done: To[] = [];
  for (const each of all) {
    if (limits.left <= 0) break;
    limits.left -= 1;
    done.push(read(each));
  }
  return done;
}

function hasImages(block: Block<Inline[]>, repository: string | undefined): boolean {
  const isImage = (part: Inline): boolean =>
    part.kind === 'image' ||
    (part.kind === 'relative-image' && repositoryPicture(part.target, repository) !== undefined) ||
    ('parts' in part && part.parts.some(isImage));
  const isInside = (each: Block<Inline[]>) => hasImages(each, repository);
  switch (block.kind) {
    case 'heading':
    case 'paragraph':
      return block.text.some(isImage);
    case 'quote':
      return block.blocks.some(isInside);
    case 'list':
      return block.items.some((item) => item.some(isInside));
    case 'table':
      return [block.head, ...block.rows].some((row) => row.some((cell) => cell.some(isImage)));
    case 'code':
    case 'rule':
      return false;
  }
}
