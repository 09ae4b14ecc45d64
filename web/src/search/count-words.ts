// How many results there are, and what is counted.
import type { SearchPage } from '../../../src/search/contract.ts';
import { count } from '../parts/words.ts';
import type { SearchState } from './search-url.ts';

export function countSentence({ total, items }: Pick<SearchPage, 'total' | 'items'>, { q }: SearchState): string {
  if (items.length === 0) return '';
  if (q.trim() === '') return `${count(total, 'entry', 'entries')}, newest first`;
  return `${total > items.length ? 'About ' : ''}${count(total, 'result')} for “${q.trim()}”`;
}

/** A catalog holds more than is counted here: versions of one name, and what was withdrawn. */
export function scopeSentence({ allVersions, includeInactive }: SearchState): string {
  const versions = allVersions ? 'Every version is listed' : 'Each name is listed once, however many versions it has';
  return `${versions}; disabled entries are ${includeInactive ? 'listed too' : 'left out'}.`;
}
