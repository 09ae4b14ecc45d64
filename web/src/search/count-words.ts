// Describes the number of results.
import type { SearchPage } from '../../../src/search/contract.ts';
import { count } from '../parts/words.ts';
import type { SearchState } from './search-url.ts';

export function countSentence({ total, items }: Pick<SearchPage, 'total' | 'items'>, { q, sort }: SearchState): string {
  if (items.length === 0) return '';
  if (q.trim() === '')
    return `${count(total, 'entry', 'entries')}${sort === 'relevance' || sort === 'created_at' ? ', most recently added first' : ''}`;
  return `${total > items.length ? 'About ' : ''}${count(total, 'result')} for “${q.trim()}”`;
}
