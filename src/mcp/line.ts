// Texts of strangers as single lines that are not too long, so that none can pass for a line of the hub's own.

/** Whatever ends a line, steers a terminal or turns the direction of writing, and letters that nobody sees. */
const UNSEEN = /[\s\p{Cc}\p{Bidi_Control}\u{E0000}-\u{E007F}]+/gu;

export function oneLine(text: string): string {
  return text.replace(UNSEEN, ' ').trim().toWellFormed();
}

/** Between words, with an ellipsis where something is missing. */
export function cutText(text: string, most: number): string {
  if (text.length <= most) return text;
  const start = text.slice(0, most);
  return `${start.slice(0, Math.max(start.lastIndexOf(' '), most / 2)).trimEnd()}…`.toWellFormed();
}
