// A readme, drawn from its parts: what a stranger wrote is only ever text and checked addresses.
import type { ComponentChildren, JSX } from 'preact';
import type { Block } from './blocks.ts';
import type { Inline } from './inline.ts';

type ReadBlock = Block<Inline[]>;

interface MarkdownProps {
  blocks: readonly ReadBlock[];
  /** Pictures come from other hosts, which then know who reads; without it their descriptions stand for them. */
  showImages: boolean;
  /** Whether only what is on screen should be laid out. */
  isLong: boolean;
}

export function Markdown({ blocks, showImages, isLong }: MarkdownProps) {
  return (
    <div class={isLong ? 'markdown markdown-long' : 'markdown'}>
      {blocks.map((block) => drawBlock(block, showImages))}
    </div>
  );
}

function drawBlock(block: ReadBlock, showImages: boolean): ComponentChildren {
  const inline = (parts: Inline[]) => parts.map((part) => drawInline(part, showImages));
  const inner = (blocks: ReadBlock[]) => blocks.map((each) => drawBlock(each, showImages));
  switch (block.kind) {
    case 'heading':
      return drawHeading(block.level, inline(block.text));
    case 'paragraph':
      return <p>{inline(block.text)}</p>;
    case 'code':
      return (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls
        <pre tabIndex={0}>
          <code>{block.text}</code>
        </pre>
      );
    case 'quote':
      return <blockquote>{inner(block.blocks)}</blockquote>;
    case 'list': {
      const items = block.items.map((blocks) => <li>{drawItem(blocks, showImages)}</li>);
      return block.start === undefined ? <ul>{items}</ul> : <ol start={block.start}>{items}</ol>;
    }
    case 'table':
      return (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls
        <div class="table-scroll" tabIndex={0}>
          <table>
            <thead>
              <tr>
                {block.head.map((cell) => (
                  <th scope="col">{inline(cell)}</th>
                ))}
              </tr>
            </thead>
            <tbody>
              {block.rows.map((row) => (
                <tr>
                  {row.map((cell) => (
                    <td>{inline(cell)}</td>
                  ))}
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      );
    case 'rule':
      return <hr />;
  }
}

/** A single paragraph in an item needs no space around it. */
function drawItem(blocks: ReadBlock[], showImages: boolean): ComponentChildren {
  return blocks.map((block, place) =>
    block.kind === 'paragraph' && place === 0
      ? block.text.map((part) => drawInline(part, showImages))
      : drawBlock(block, showImages),
  );
}

/** The page has headings of its own; those of a readme are below them. */
function drawHeading(level: number, children: ComponentChildren): JSX.Element {
  if (level === 1) return <h3>{children}</h3>;
  if (level === 2) return <h4>{children}</h4>;
  return level === 3 ? <h5>{children}</h5> : <h6>{children}</h6>;
}

function drawInline(part: Inline, showImages: boolean): ComponentChildren {
  const inner = (parts: Inline[]) => parts.map((each) => drawInline(each, showImages));
  switch (part.kind) {
    case 'text':
      return part.text;
    case 'code':
      return <code>{part.text}</code>;
    case 'strong':
      return <strong>{inner(part.parts)}</strong>;
    case 'emphasis':
      return <em>{inner(part.parts)}</em>;
    case 'strike':
      return <s>{inner(part.parts)}</s>;
    case 'link':
      return (
        <a href={part.url} rel="noopener noreferrer nofollow ugc">
          {inner(part.parts)}
        </a>
      );
    case 'image':
      if (showImages) return <img src={part.url} alt={part.alt} loading="lazy" referrerpolicy="no-referrer" />;
      return <span class="image-text">{part.alt || 'picture'}</span>;
    case 'break':
      return <br />;
  }
}
