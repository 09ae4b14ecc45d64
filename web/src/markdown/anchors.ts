// Ids for the headings of a readme, which its links refer to, named like those of repository hosts.
import type { Block } from './blocks.ts';
import type { Inline } from './inline.ts';

/** Separates untrusted ids from those of the page. */
const PREFIX = 'readme-';

/** `## Set-up & use` becomes `#set-up--use`; a repeated heading gets the suffix `-1`. */
export function nameHeadings(blocks: readonly Block<Inline[]>[]): ReadonlyMap<Block<Inline[]>, string> {
  /** Name → last suffix used. */
  const taken = new Map<string, number>();
  const names = new Map<Block<Inline[]>, string>();
  for (const heading of headingsIn(blocks)) {
    const slug = slugOf(textOf(heading.text));
    let name = slug;
    // A heading may equal the suffixed name of another one.
    for (let count = taken.get(slug) ?? 0; taken.has(name); name = `${slug}-${count}`) {
      count += 1;
      taken.set(slug, count);
    }
    taken.set(name, 0);
    names.set(heading, `${PREFIX}${name}`);
  }
  return names;
}

/** Converts the fragment of a link, encoded or not, to an id. */
export function headingId(fragment: string): string {
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
