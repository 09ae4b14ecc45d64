// What happened to a remote, in words for the operations page.
import type { RemoteAdded, RemoteRemoved } from '../../../src/remotes/contract.ts';
import { count } from '../parts/words.ts';

export function addedSentence({ added, url }: Pick<RemoteAdded, 'added' | 'url'>): string {
  return added ? `${url} added; the next sync reads it.` : `Already added: ${url}.`;
}

export function removedSentence({ removed, url, purged, missing }: Omit<RemoteRemoved, 'total'>): string {
  if (!removed) return `${url} had already been removed.`;
  const sentences = [`${url} removed.`];
  if (purged > 0) sentences.push(`${count(purged, 'entry', 'entries')} deleted.`);
  if (missing > 0) sentences.push(`${count(missing, 'entry is', 'entries are')} no longer listed by any remote.`);
  return sentences.join(' ');
}
