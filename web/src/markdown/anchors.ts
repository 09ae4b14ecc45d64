// Places within a readme that its own links lead to: headings, named as the hosts of repositories name them.
import type { Block } from './blocks.ts';
import type { Inline } from './inline.ts';

/** Ids of a stranger never meet those of the page. */
const PREFIX = 'readme-';

/** `## Set-up & use` is at `#set-up--use`; of several that are alike, the second one at `…-1`. */
export function nameHeadings(blocks: readonly Block<Inline[]>[]): ReadonlyMap<Block<Inline[]>, string> {
  /** How often each name was counted on. */
  const taken = new Map<string, number>();
  const names = new Map<Block<Inline[]>, string>();
  for (const heading of headingsIn(blocks)) {
    const slug = slugOf(textOf(heading.text));
    let name = slug;
    // A heading may be called what another one was named for being the second.
    for (let count = taken.get(slug) ?? 0; taken.has(name); name = `${slug}-${count}`) {
      count += 1;
      taken.set(slug, count);
    }
    taken.set(name, 0);
    names.set(heading, `${PREFIX}${name}`);
  }
  return names;
}

/** Reads the text behind `#` in a link, encoded or not. */
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
