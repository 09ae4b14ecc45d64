// Parses the text of a paragraph into parts: emphasis, code, links, pictures. Nothing is ever treated as HTML.
import { isRelative } from './repository-link.ts';
import { safeLink } from './safe-link.ts';

export type Inline =
  | { kind: 'text'; text: string }
  | { kind: 'code'; text: string }
  | { kind: 'strong' | 'emphasis' | 'strike'; parts: Inline[] }
  | { kind: 'link'; url: string; parts: Inline[] }
  /** The target as written; resolved when it is drawn. */
  | { kind: 'relative'; target: string; parts: Inline[] }
  | { kind: 'image'; url: string; alt: string }
  /** A picture with the target as written. */
  | { kind: 'relative-image'; target: string; alt: string }
  | { kind: 'break' };

/** Limit for the distance between the start and end of a mark: without it, hostile text takes forever. */
const FARTHEST_END = 2_000;
const DEEPEST = 8;

interface Found {
  parts: Inline[];
  /** Number of consumed characters. */
  length: number;
}

/** The remaining number of parts that may be created. */
export interface Allowance {
  left: number;
}

interface Context {
  depth: number;
  allowance: Allowance;
  /** The end of the next comment; searched only once, because there may be many unterminated comments. */
  commentEnd: number;
}

type Reader = (text: string, at: number, context: Context) => Found | undefined;

/** Stops when the allowance is used up. */
export function parseInline(text: string, allowance: Allowance = { left: Number.POSITIVE_INFINITY }): Inline[] {
  return read(text, { depth: 0, allowance, commentEnd: 0 });
}

function read(text: string, context: Context): Inline[] {
  const { allowance } = context;
  const parts: Inline[] = [];
  let plainFrom = 0;
  let at = 0;
  const flush = () => {
    if (at === plainFrom) return;
    parts.push({ kind: 'text', text: withoutEntities(text.slice(plainFrom, at)) });
    allowance.left -= 1;
  };
  while (at < text.length && allowance.left > 0) {
    const found = context.depth < DEEPEST ? READERS[text[at] ?? '']?.(text, at, context) : undefined;
    if (found) {
      flush();
      parts.push(...found.parts);
      allowance.left -= found.parts.length;
      at += found.length;
      plainFrom = at;
    } else {
      at += 1;
    }
  }
  flush();
  return parts;
}

function readInside(text: string, { depth, allowance }: Context): Inline[] {
  return read(text, { depth: depth + 1, allowance, commentEnd: 0 });
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
  _: (text, at, context) => (/[\p{L}\p{N}]/u.test(text[at - 1] ?? '') ? undefined : readEmphasis(text, at, context)),
  '~': (text, at, context) =>
    between(text, at, '~~', (inner) => ({ kind: 'strike', parts: readInside(inner, context) })),
  '[': readLink,
  '!': readImage,
  '<': readTag,
  h: readAddress,
};

function readCode(text: string, at: number): Found | undefined {
  const ticks = /^`+/.exec(text.slice(at, at + 20))?.[0] ?? '`';
  return between(text, at, ticks, (inner) => ({ kind: 'code', text: inner.replace(/^ (.*) $/, '$1') }));
}

function readEmphasis(text: string, at: number, context: Context): Found | undefined {
  const sign = text[at] ?? '*';
  const strong = between(text, at, sign + sign, (inner) => ({ kind: 'strong', parts: readInside(inner, context) }));
  if (strong || text[at + 1] === sign) return strong;
  return between(text, at, sign, (inner) => ({ kind: 'emphasis', parts: readInside(inner, context) }));
}

/** The text between two marks; a mark next to an inner space does not count. */
function between(text: string, at: number, mark: string, part: (inner: string) => Inline): Found | undefined {
  if (!text.startsWith(mark, at)) return undefined;
  const start = at + mark.length;
  const inner = text.slice(start, start + FARTHEST_END);
  const end = inner.indexOf(mark, 1);
  const isMark = end > 0 && !/^\s/.test(inner) && (mark.includes('`') || !/\s$/.test(inner.slice(0, end)));
  return isMark ? { parts: [part(inner.slice(0, end))], length: end + 2 * mark.length } : undefined;
}

function readLink(text: string, at: number, context: Context): Found | undefined {
  const found = bracketed(text, at);
  if (!found) return undefined;
  const parts = readInside(found.label, context);
  const { target, length } = found;
  const url = safeLink(target);
  if (url) return { parts: [{ kind: 'link', url, parts }], length };
  return { parts: isRelative(target) ? [{ kind: 'relative', target, parts }] : parts, length };
}

function readImage(text: string, at: number): Found | undefined {
  const found = text[at + 1] === '[' ? bracketed(text, at + 1) : undefined;
  return found && { parts: image(found.target, found.label), length: found.length + 1 };
}

function image(target: string, alt: string): Inline[] {
  const url = safeLink(target);
  if (url?.startsWith('https:')) return [{ kind: 'image', url, alt }];
  if (!url && isRelative(target) && !target.startsWith('#')) return [{ kind: 'relative-image', target, alt }];
  return alt === '' ? [] : [{ kind: 'text', text: alt }];
}

/** Parses `[label](target)`; the label may contain nested brackets. */
function bracketed(text: string, at: number): { label: string; target: string; length: number } | undefined {
  const inner = text.slice(at, at + FARTHEST_END);
  let depth = 0;
  for (let index = 0; index < inner.length; index += 1) {
    if (inner[index] === '\\') index += 1;
    else if (inner[index] === '[') depth += 1;
    else if (inner[index] === ']') depth -= 1;
    // Deeper nesting occurs only in hostile text.
    if (depth > 4) return undefined;
    if (depth > 0) continue;
    const found = targetAt(inner, index + 1);
    return found && { label: inner.slice(1, index), target: found.target, length: found.end };
  }
  return undefined;
}

/** Parses `(target "title")` in steps, because a single pattern could backtrack over spaces. */
function targetAt(text: string, at: number): { target: string; end: number } | undefined {
  if (text[at] !== '(') return undefined;
  const start = at + 1 + lengthOf(/\s*<?/y, text, at + 1);
  let end = start + lengthOf(/[^\s()<>]*/y, text, start);
  end += lengthOf(/\([^\s()<>]*\)[^\s()<>]*/y, text, end);
  const target = text.slice(start, end);
  if (text[end] === '>') end += 1;
  end += lengthOf(/\s*/y, text, end);
  end += lengthOf(/"[^"]*"|'[^']*'/y, text, end);
  end += lengthOf(/\s*/y, text, end);
  return text[end] === ')' ? { target, end: end + 1 } : undefined;
}

/** The length of a sticky pattern's match at a position. */
function lengthOf(pattern: RegExp, text: string, at: number): number {
  pattern.lastIndex = at;
  return pattern.exec(text)?.[0].length ?? 0;
}

/** HTML in a readme is layout: keeps its text, drops its tags, except for pictures and line breaks. */
function readTag(text: string, at: number, context: Context): Found | undefined {
  if (text.startsWith('<!--', at)) return skipComment(text, at, context);
  const rest = text.slice(at, at + FARTHEST_END);
  const address = /^<(https?:\/\/[^\s<>]+)>/i.exec(rest);
  if (address?.[1]) return { parts: [addressLink(address[1])], length: address[0].length };
  const tag = /^<\/?([a-z][\w-]*)(?:\s[^<>]*|\/)?>/i.exec(rest);
  if (!tag) return undefined;
  const name = tag[1]?.toLowerCase();
  if (name === 'img')
    return { parts: image(attribute(tag[0], 'src'), attribute(tag[0], 'alt')), length: tag[0].length };
  return { parts: name === 'br' ? [{ kind: 'break' }] : [], length: tag[0].length };
}

function skipComment(text: string, at: number, context: Context): Found | undefined {
  if (context.commentEnd >= 0 && context.commentEnd < at + 4) context.commentEnd = text.indexOf('-->', at + 4);
  return context.commentEnd < 0 ? undefined : { parts: [], length: context.commentEnd + 3 - at };
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

/** Decodes entities to characters of text, never to markup. */
function withoutEntities(text: string): string {
  return text.replace(/&(#39|[a-z]{2,4});/g, (whole, name: string) => ENTITIES[name] ?? whole);
}
