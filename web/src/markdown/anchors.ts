// Places within a readme that its own links lead to: headings, named as the hosts of repositories name them.
import type { Block } from './blocks.ts';
import type { Inline } from './inline.ts';

/** Ids of a stranger never meet those of the page. */
const PREFIX = 'readme-';

/** `## Set-up & use` is at `#set-up--use`; of several that are alike, the second one at `…-1`. */
export function nameHeadings(blocks: readonly Block<Inline[]>[]): ReadonlyMap<Block<Inline[]>, string> {
  const seen = new Map<string, number>();
  const names = new Map<Block<Inline[]>, string>();
  for (const heading of headingsIn(blocks)) {
    const slug = slugOf(textOf(heading.text));
    const count = seen.get(slug) ?? 0;
    seen.set(slug, count + 1);
    names.set(heading, `${PREFIX}${count === 0 ? slug : `${slug}-${count}`}`);
  }
  return names;
}

/** Of what stands behind `#` in a link, encoded or not. */
export function placeId(fragment: string): string {
  return `${PREFIX}${decoded(fragment).toLowerCase()}`;
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

function headingsIn(blocks: readonly Block<Inline[]>[]): Extract<Block<Inline[]>, { kind: 'heading' }>[] {
  return blocks.flatMap((block) => {
    if (block.kind === 'heading') return [block];
    if (block.kind === 'quote') return headingsIn(block.blocks);
    return block.kind === 'list' ? block.items.flatMap(headingsIn) : [];
  });
}

function slugOf(text: string): string {
  return text
    .trim()
    .toLowerCase()
    .replace(/[^\p{L}\p{M}\p{N}\s_-]/gu, '')
    .replace(/\s/g, '-');
}

function textOf(parts: readonly Inline[]): string {
  return parts.map((part) => ('text' in part ? part.text : 'parts' in part ? textOf(part.parts) : '')).join('');
}
