// Splits long texts into pieces, so that the browser lays out only the visible ones.

const PIECE = 8_000;

/** Cuts at a nearby line end, if possible, and never within a character. */
export function piecesOf(text: string): string[] {
  const pieces: string[] = [];
  for (let at = 0; at < text.length; ) {
    const piece = text.slice(at, at + PIECE);
    const end = at + PIECE < text.length ? cutOf(piece) : piece.length;
    pieces.push(piece.slice(0, end));
    at += end;
  }
  return pieces;
}

function cutOf(piece: string): number {
  const line = piece.lastIndexOf('\n') + 1;
  if (line > 0) return line;
  return /[\ud800-\udbff]$/.test(piece) ? piece.length - 1 : piece.length;
}
