// Turns untrusted text into a single short line, so that it cannot imitate a line of the hub.
import { harmlessLine } from '../../lib/harmless.ts';

export function oneLine(text: string): string {
  // Replaced with spaces, so that separate words stay separate.
  return harmlessLine(text, ' ').toWellFormed();
}

/** Cuts between words and adds an ellipsis. */
export function cutText(text: string, most: number): string {
  if (text.length <= most) return text;
  const start = text.slice(0, most);
  return `${start.slice(0, Math.max(start.lastIndexOf(' '), most / 2)).trimEnd()}…`.toWellFormed();
}
