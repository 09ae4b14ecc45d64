// The reason for a match, without text that is already visible.
import { findMatches, queryTerms } from '../../../src/search/matches.ts';

/** Enough to find where a quote starts. */
const FEW_CHARACTERS = 20;

/**
 * A reason ends with the sentence it is based on; if that is shown above, the part before it is enough. Nothing is left of a
 * reason that only names words of that sentence, because they are highlighted there.
 */
export function shortReason(reason: string, shown: string): string {
  const [, claim, quote = ''] = /^([^“”]*(?:“[^“”]*”[^“”]*)*?):\s*“([^“”]+)”\.?$/.exec(reason.trim()) ?? [];
  if (!claim) return reason;
  if (!isShown(plain(quote), { shown: plain(shown), words: quotedIn(claim) })) return reason;
  return claim.startsWith('Mentions ') ? '' : `${claim}.`;
}

/** If the shown text is cut, the beginning of the quote is enough, as long as it contains the words. */
function isShown(quote: string, { shown, words }: { shown: string; words: readonly string[] }): boolean {
  if (shown.includes(quote)) return true;
  const start = shown.lastIndexOf(quote.slice(0, FEW_CHARACTERS));
  return start >= 0 && quote.startsWith(shown.slice(start)) && words.every((word) => shown.includes(word));
}

function quotedIn(claim: string): string[] {
  return [...claim.matchAll(/“([^“”]+)”/g)].map(([, word = '']) => word.toLowerCase());
}

/** Whether all words of the query are visible, so that no reason is to be expected. */
export function saysItAll(shown: string, query: string): boolean {
  const terms = queryTerms(query);
  const met = new Set(findMatches(shown, terms).map(({ word }) => word));
  return [...terms.values()].every((word) => met.has(word));
}

function plain(text: string): string {
  return text
    .replace(/…$/, '')
    .replace(/[\s.]+$/, '')
    .replaceAll(/\s+/g, ' ')
    .toLowerCase();
}
