// A readme → what is drawn of it: never more than a browser draws at once, however long it is.
import { nameHeadings } from './anchors.ts';
import { type Block, parseBlocks } from './blocks.ts';
import { type Allowance, type Inline, parseInline } from './inline.ts';
import { repositoryPicture } from './repository-link.ts';

export interface MarkdownDocument {
  blocks: Block<Inline[]>[];
  /** Ids of its headings. */
  places: ReadonlyMap<Block<Inline[]>, string>;
  /** Whether it shows pictures, if its reader lets it. */
  hasImages: boolean;
  /** Whether there is more than the blocks hold. */
  isCut: boolean;
  /** Whether only what is on screen should be laid out. */
  isLong: boolean;
}

/** What is longer than any of these is not read to its end: some are made of nothing but marks, others of nothing but lines. */
const MOST_SIGNS = 100_000;
const MOST_LINES = 3_000;
const MOST_PARTS = 6_000;
const MANY_PARTS = 1_000;
/** A browser lays out one paragraph or one piece of code at a time. */
const LONGEST_BLOCK = 10_000;

interface Limits extends Allowance {
  isCut: boolean;
  /** Levels of the headings that what follows is under. */
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
    places: nameHeadings(blocks),
    hasImages: blocks.some((block) => hasImages(block, repository)),
    isCut,
    isLong,
  };
}

/** Ends with a line where there is one, so that no mark loses its other half. */
function beginningOf(text: string): string {
  const isShort = text.length <= MOST_SIGNS;
  const lines = text.slice(0, MOST_SIGNS).split(/\r\n?|\n/, MOST_LINES + 2);
  if (isShort && lines.length <= MOST_LINES) return text;
  const whole = lines.slice(0, Math.min(MOST_LINES, lines.length - 1));
  return whole.length > 0 ? whole.join('\n') : text.slice(0, MOST_SIGNS);
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

/** How many headings deep it is: many readmes begin with their second level, or leave one out. */
function rank(level: number, { levels }: Limits): number {
  while ((levels.at(-1) ?? 0) >= level) levels.pop();
  return levels.push(level);
}

function cut(text: string, limits: Limits): string {
  if (text.length <= LONGEST_BLOCK) return text;
  limits.isCut = true;
  return text.slice(0, LONGEST_BLOCK);
}

/** A task: `[x] done`. */
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
