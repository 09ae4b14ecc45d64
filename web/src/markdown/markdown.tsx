// Renders a readme from its parsed parts: untrusted input becomes only text and checked addresses.
import type { ComponentChildren, JSX } from 'preact';
import { headingId } from './anchors.ts';
import type { Block } from './blocks.ts';
import type { Inline } from './inline.ts';
import { repositoryLink, repositoryPicture } from './repository-link.ts';

type ReadBlock = Block<Inline[]>;

interface Given {
  /** Pictures tell other hosts who reads the page; if false, their alternative texts are shown. */
  showImages: boolean;
  /** Ids of all headings, including those not drawn yet. */
  headingIds: ReadonlyMap<ReadBlock, string>;
  onHeading: (id: string) => void;
  /** The readme's repository, if known. */
  repository: string | undefined;
}

interface MarkdownProps extends Given {
  blocks: readonly ReadBlock[];
  /** Whether the browser should lay out only the visible part. */
  isLong: boolean;
}

export function Markdown({ blocks, isLong, ...given }: MarkdownProps) {
  const drawing = { ...given, ids: new Set(given.headingIds.values()) };
  return (
    <div class={isLong ? 'markdown markdown-long' : 'markdown'}>{blocks.map((block) => drawBlock(block, drawing))}</div>
  );
}

interface Drawing extends Given {
  ids: ReadonlySet<string>;
}

function drawBlock(block: ReadBlock, drawing: Drawing): ComponentChildren {
  const inline = (parts: Inline[]) => parts.map((part) => drawInline(part, drawing));
  const inner = (blocks: ReadBlock[]) => blocks.map((each) => drawBlock(each, drawing));
  switch (block.kind) {
    case 'heading':
      return drawHeading(block.level, { id: drawing.headingIds.get(block), children: inline(block.text) });
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
      const items = block.items.map((blocks) => <li>{drawItem(blocks, drawing)}</li>);
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

/** Omits the paragraph element, and its margins, for an item with a single paragraph. */
function drawItem(blocks: ReadBlock[], drawing: Drawing): ComponentChildren {
  return blocks.map((block, index) =>
    block.kind === 'paragraph' && index === 0
      ? block.text.map((part) => drawInline(part, drawing))
      : drawBlock(block, drawing),
  );
}

/** Shifts the level, because the page has headings above those of the readme. */
function drawHeading(level: number, attributes: { id: string | undefined; children: ComponentChildren }): JSX.Element {
  // Focusable for links, but not by tabbing.
  const all = { ...attributes, tabIndex: -1 };
  if (level === 1) return <h3 {...all} />;
  if (level === 2) return <h4 {...all} />;
  return level === 3 ? <h5 {...all} /> : <h6 {...all} />;
}

function drawInline(part: Inline, drawing: Drawing): ComponentChildren {
  const inner = (parts: Inline[]) => parts.map((each) => drawInline(each, drawing));
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
      return drawLink(part.url, inner(part.parts));
    case 'relative':
      return drawRelative(part.target, inner(part.parts), drawing);
    case 'image':
      return drawImage(part.url, part.alt, drawing);
    case 'relative-image': {
      const url = repositoryPicture(part.target, drawing.repository);
      return url === undefined ? part.alt : drawImage(url, part.alt, drawing);
    }
    case 'break':
      return <br />;
  }
}

function drawImage(url: string, alt: string, { showImages }: Drawing): JSX.Element {
  if (showImages) return <img src={url} alt={alt} loading="lazy" referrerpolicy="no-referrer" />;
  return <span class="image-text">{alt || 'picture'}</span>;
}

/** Draws plain text if the link leads nowhere. */
function drawRelative(target: string, children: ComponentChildren, drawing: Drawing): ComponentChildren {
  if (!target.startsWith('#')) {
    const url = repositoryLink(target, drawing.repository);
    return url === undefined ? children : drawLink(url, children);
  }
  const id = headingId(target.slice(1));
  if (!drawing.ids.has(id)) return children;
  return (
    <a
      href={`#${id}`}
      onClick={(event) => {
        event.preventDefault();
        drawing.onHeading(id);
      }}
    >
      {children}
    </a>
  );
}

function drawLink(url: string, children: ComponentChildren): JSX.Element {
  return (
    <a href={url} rel="noopener noreferrer nofollow ugc">
      {children}
    </a>
  );
}
