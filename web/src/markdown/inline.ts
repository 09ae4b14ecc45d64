// Text within a paragraph → parts: emphasis, code, links, pictures. Nothing of it is ever taken as HTML.
import { safeLink } from './safe-link.ts';

export type Inline =
  | { kind: 'text'; text: string }
  | { kind: 'code'; text: string }
  | { kind: 'strong' | 'emphasis' | 'strike'; parts: Inline[] }
  | { kind: 'link'; url: string; parts: Inline[] }
  | { kind: 'image'; url: string; alt: string }
  | { kind: 'break' };

/** How far the end of something may be from its beginning: without a bound, hostile text takes for ever. */
const FARTHEST_END = 2_000;
const DEEPEST = 8;

interface Found {
  parts: Inline[];
  /** Signs that it takes up. */
  length: number;
}

type Reader = (text: string, at: number, depth: number) => Found | undefined;

export function parseInline(text: string, depth = 0): Inline[] {
  const parts: Inline[] = [];
  let plain = '';
  const flush = () => {
    if (plain !== '') parts.push({ kind: 'text', text: withoutEntities(plain) });
    plain = '';
  };
  for (let at = 0; at < text.length; ) {
    const sign = text[at] ?? '';
    const found = depth < DEEPEST ? READERS[sign]?.(text, at, depth) : undefined;
    if (found) {
      flush();
      parts.push(...found.parts);
      at += found.length;
    } else {
      plain += sign;
      at += 1;
    }
  }
  flush();
  return parts;
}

const READERS: Readonly<Record<string, Reader>> = {
  '\\': (text, at) =>
    /[!-/:-@[-`{-~]/.test(text[at + 1] ?? '')
      ? { parts: [{ kind: 'text', text: text[at + 1] ?? '' }], length: 2 }
      : undefined,
  '\n': (text, at) =>
    / {2}$|\\$/.test(text.slice(Math.max(0, at - 2), at)) ? { parts: [{ kind: 'break' }], length: 1 } : undefined,
  '`': readCode,
  '*': readEmphasis,
  _: (text, at, depth) => (/[\p{L}\p{N}]/u.test(text[at - 1] ?? '') ? undefined : readEmphasis(text, at, depth)),
  '~': (text, at, depth) =>
    between(text, at, '~~', (inner) => ({ kind: 'strike', parts: parseInline(inner, depth + 1) })),
  '[': readLink,
  '!': readImage,
  '<': readTag,
  h: readAddress,
};

function readCode(text: string, at: number): Found | undefined {
  const ticks = /^`+/.exec(text.slice(at, at + 20))?.[0] ?? '`';
  return between(text, at, ticks, (inner) => ({ kind: 'code', text: inner.replace(/^ (.*) $/, '$1') }));
}

function readEmphasis(text: string, at: number, depth: number): Found | undefined {
  const sign = text[at] ?? '*';
  const strong = between(text, at, sign + sign, (inner) => ({ kind: 'strong', parts: parseInline(inner, depth + 1) }));
  if (strong || text[at + 1] === sign) return strong;
  return between(text, at, sign, (inner) => ({ kind: 'emphasis', parts: parseInline(inner, depth + 1) }));
}

/** What stands between two marks; blanks just inside them mean that they are none. */
function between(text: string, at: number, mark: string, part: (inner: string) => Inline): Found | undefined {
  if (!text.startsWith(mark, at)) return undefined;
  const start = at + mark.length;
  const inner = text.slice(start, start + FARTHEST_END);
  const end = inner.indexOf(mark, 1);
  const isMark = end > 0 && !/^\s/.test(inner) && (mark.includes('`') || !/\s$/.test(inner.slice(0, end)));
  return isMark ? { parts: [part(inner.slice(0, end))], length: end + 2 * mark.length } : undefined;
}

function readLink(text: string, at: number, depth: number): Found | undefined {
  const found = bracketed(text, at);
  if (!found) return undefined;
  const parts = parseInline(found.label, depth + 1);
  const url = safeLink(found.target);
  return { parts: url ? [{ kind: 'link', url, parts }] : parts, length: found.length };
}

function readImage(text: string, at: number): Found | undefined {
  const found = text[at + 1] === '[' ? bracketed(text, at + 1) : undefined;
  return found && { parts: image(found.target, found.label), length: found.length + 1 };
}

function image(target: string, alt: string): Inline[] {
  const url = safeLink(target);
  if (url?.startsWith('https:')) return [{ kind: 'image', url, alt }];
  return alt === '' ? [] : [{ kind: 'text', text: alt }];
}

/** `[label](target)`; the label may hold brackets of its own. */
function bracketed(text: string, at: number): { label: string; target: string; length: number } | undefined {
  const inner = text.slice(at, at + FARTHEST_END);
  let depth = 0;
  for (let place = 0; place < inner.length; place += 1) {
    if (inner[place] === '\\') place += 1;
    else if (inner[place] === '[') depth += 1;
    else if (inner[place] === ']') depth -= 1;
    // Nobody nests them deeper, but those who mean harm.
    if (depth > 4) return undefined;
    if (depth > 0) continue;
    const target = /^\]\(\s*<?([^\s()<>]*(?:\([^\s()<>]*\)[^\s()<>]*)?)>?(?:\s+(?:"[^"]*"|'[^']*'))?\s*\)/.exec(
      inner.slice(place),
    );
    if (!target) return undefined;
    return { label: inner.slice(1, place), target: target[1] ?? '', length: place + target[0].length };
  }
  return undefined;
}

/** HTML in a readme is layout: its text stays, its tags go; pictures and line breaks are kept. */
function readTag(text: string, at: number): Found | undefined {
  const rest = text.slice(at, at + FARTHEST_END);
  const address = /^<(https?:\/\/[^\s<>]+)>/i.exec(rest);
  if (address?.[1]) return { parts: [addressLink(address[1])], length: address[0].length };
  const [comment] = /^<!--[\s\S]*?-->/.exec(rest) ?? [];
  if (comment) return { parts: [], length: comment.length };
  const tag = /^<\/?([a-z][\w-]*)(?:\s[^<>]*|\/)?>/i.exec(rest);
  if (!tag) return undefined;
  const name = tag[1]?.toLowerCase();
  if (name === 'img')
    return { parts: image(attribute(tag[0], 'src'), attribute(tag[0], 'alt')), length: tag[0].length };
  return { parts: name === 'br' ? [{ kind: 'break' }] : [], length: tag[0].length };
}

function attribute(tag: string, name: string): string {
  const [, double, single, bare] =
    new RegExp(`\\s${name}\\s*=\\s*(?:"([^"]*)"|'([^']*)'|([^\\s"'>]+))`, 'i').exec(tag) ?? [];
  return double ?? single ?? bare ?? '';
}

function readAddress(text: string, at: number): Found | undefined {
  if (!text.startsWith('http', at) || /[\p{L}\p{N}]/u.test(text[at - 1] ?? '')) return undefined;
  const found = /^https?:\/\/[^\s<>"'`]+[^\s<>"'`.,;:!?)*_\]]/i.exec(text.slice(at, at + FARTHEST_END))?.[0];
  return found ? { parts: [addressLink(found)], length: found.length } : undefined;
}

function addressLink(address: string): Inline {
  const url = safeLink(address);
  const parts: Inline[] = [{ kind: 'text', text: address }];
  return url ? { kind: 'link', url, parts } : { kind: 'text', text: address };
}

const ENTITIES: Readonly<Record<string, string>> = {
  amp: '&',
  lt: '<',
  gt: '>',
  quot: '"',
  nbsp: ' ',
  '#39': "'",
  copy: '©',
};

/** They become signs of a text, never markup. */
function withoutEntities(text: string): string {
  return text.replace(/&(#39|[a-z]{2,4});/g, (whole, name: string) => ENTITIES[name] ?? whole);
}
