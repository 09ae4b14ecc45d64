// Describes changes of remotes for the operations page.
import type { RemoteAdded, RemoteRemoved } from '../../../../src/remotes/contract.ts';
import { count } from '../../parts/words.ts';

export function addedSentence({ added, url }: Omit<RemoteAdded, 'total'>): string {
  return added ? `${url} added; the next sync reads it.` : `Already added: ${url}.`;
}

export function removedSentence({ removed, url, purged, missing, note }: Omit<RemoteRemoved, 'total'>): string {
  if (!removed) return `${url} had already been removed.`;
  const sentences = [`${url} removed.`];
  if (purged > 0) sentences.push(`${count(purged, 'entry', 'entries')} removed.`);
  if (missing > 0) sentences.push(`${count(missing, 'entry is', 'entries are')} no longer listed by any remote.`);
  if (note) sentences.push(note);
  return sentences.join(' ');
}
