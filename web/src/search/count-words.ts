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
  if (allVersions && includeInactive) return 'Every version and disabled entries are counted.';
  if (allVersions) return 'Every version is counted; disabled entries are left out.';
  if (includeInactive) return 'Each name is counted once, whatever its versions; disabled entries too.';
  return 'Each name is counted once, whatever its versions; disabled entries are left out.';
}
