// Removes invisible characters from untrusted text: terminal control sequences, bidirectional controls, hidden letters.

const ESCAPE = String.fromCharCode(27);
/** Control characters except tab and line feed, bidirectional controls, and invisible letters. */
const UNSAFE_CHAR = /(?![\t\n])[\p{Cc}\p{Bidi_Control}\u{E0000}-\u{E007F}]/gu;
const UNSAFE = new RegExp(
  [
    // Complete terminal control sequences: removing only the first character would leave the rest as text.
    `${ESCAPE}\\[[\\d;?]*[ -/]*[@-~]`,
    `${ESCAPE}\\][^${ESCAPE}\\u0007]*(?:\\u0007|${ESCAPE}\\\\)?`,
    UNSAFE_CHAR.source,
  ].join('|'),
  'gu',
);

export function harmless(text: string, inTheirPlace = ''): string {
  return text.replace(/\r\n?/g, '\n').replace(UNSAFE, inTheirPlace);
}

/** On a single line, so that the text cannot imitate a line of the hub. */
export function harmlessLine(text: string, inTheirPlace = ''): string {
  return harmless(text, inTheirPlace).replace(/\s+/g, ' ').trim();
}

/** Escapes the same characters in JSON: safe on a terminal, with the same meaning. */
export function harmlessJson(json: string): string {
  return json.replace(/\r\n?/g, '\n').replace(UNSAFE_CHAR, (characters) => characters.split('').map(escaped).join(''));
}

function escaped(unit: string): string {
  return `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`;
}
