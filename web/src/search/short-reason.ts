// The reason for a match, without text that is already visible.
import { findMatches, queryTerms } from '../../../src/search/matches.ts';

/**
 * A reason ends with the sentence it is based on; if that is shown above, the part before it is enough. Nothing is left of a
 * reason that only names words of that sentence, because they are highlighted there.
 */
export function shortReason(reason: string, shown: string): string {
  const [, claim, quote = ''] = /^([^“”]*(?:“[^“”]*”[^“”]*)*?):\s*“([^“”]+)”\.?$/.exec(reason.trim()) ?? [];
  if (!claim) return reason;
  if (!plain(shown).includes(plain(quote))) return reason;
  return claim.startsWith('Mentions ') ? '' : `${claim}.`;
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
