// Cuts a snippet of about 200 characters at word boundaries, around the query words if they occur.
import { findMatches, type QueryTerms } from './matches.ts';

const LENGTH = 200;
/** How much is shown before the first match if the snippet does not start at the beginning. */
const BEFORE_MATCH = 60;

/** Undefined when the text is empty. */
export function makeSnippet(text: string, terms: QueryTerms): string | undefined {
  const plain = text.replace(/\s+/g, ' ').trim();
  if (plain === '') return undefined;
  if (plain.length <= LENGTH) return plain;
  const start = startOf(plain, terms);
  const end = start + LENGTH >= plain.length ? plain.length : wordEnd(plain, start);
  const shown = plain.slice(start, end).toWellFormed().trim();
  return `${start > 0 ? '…' : ''}${shown}${end < plain.length ? '…' : ''}`;
}

/** The beginning describes a text best: the snippet starts elsewhere only if the beginning contains no match. */
function startOf(text: string, terms: QueryTerms): number {
  const [first] = findMatches(text, terms);
  if (!first || first.end <= LENGTH) return 0;
  const wanted = Math.max(0, Math.min(first.start - BEFORE_MATCH, text.length - LENGTH));
  const blank = text.indexOf(' ', wanted);
  // A text without spaces may be cut anywhere except within a surrogate pair.
  return blank >= 0 && blank < first.start ? blank + 1 : wanted + (isLowSurrogate(text, wanted) ? 1 : 0);
}

function wordEnd(text: string, start: number): number {
  const end = start + LENGTH;
  const blank = text.lastIndexOf(' ', end);
  if (blank > start + LENGTH / 2) return blank;
  return isLowSurrogate(text, end) ? end - 1 : end;
}

function isLowSurrogate(text: string, index: number): boolean {
  return /[\udc00-\udfff]/.test(text.charAt(index));
}
