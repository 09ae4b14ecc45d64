// Turns untrusted text into a single short line, so that it cannot imitate a line of the hub.
import { harmless } from '../../lib/harmless.ts';

export function oneLine(text: string): string {
  // Spaces in their place: words that were apart stay so.
  return harmless(text, ' ').replace(/\s+/g, ' ').trim().toWellFormed();
}

/** Between words, with an ellipsis where something is missing. */
export function cutText(text: string, most: number): string {
  if (text.length <= most) return text;
  const start = text.slice(0, most);
  return `${start.slice(0, Math.max(start.lastIndexOf(' '), most / 2)).trimEnd()}…`.toWellFormed();
}
