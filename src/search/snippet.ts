// Cuts a snippet of about 200 characters at word boundaries, around the words of the query if they occur.
import { findMatches, type QueryTerms } from './matches.ts';

const LENGTH = 200;
/** What is shown before the first match when the text does not begin with it. */
const BEFORE_MATCH = 60;

/** Undefined when there is no text. */
export function makeSnippet(text: string, terms: QueryTerms): string | undefined {
  const plain = text.replace(/\s+/g, ' ').trim();
  if (plain === '') return undefined;
  if (plain.length <= LENGTH) return plain;
  const start = startOf(plain, terms);
  const end = start + LENGTH >= plain.length ? plain.length : wordEnd(plain, start);
  const shown = plain.slice(start, end).toWellFormed().trim();
  return `${start > 0 ? '…' : ''}${shown}${end < plain.length ? '…' : ''}`;
}

/** The beginning of a text says best what it is about: it is left only when nothing that was looked for is in it. */
function startOf(text: string, terms: QueryTerms): number {
  const [first] = findMatches(text, terms);
  if (!first || first.end <= LENGTH) return 0;
  const wanted = Math.max(0, Math.min(first.start - BEFORE_MATCH, text.length - LENGTH));
  const blank = text.indexOf(' ', wanted);
  // A text without spaces is cut anywhere, but never within a pair of surrogates.
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
