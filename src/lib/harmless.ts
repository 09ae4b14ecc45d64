// Removes invisible characters from untrusted text: terminal control sequences, bidirectional controls, hidden letters.

const ESCAPE = String.fromCharCode(27);
/** Control characters but tab and line end, those that turn the direction of writing, and letters that are not drawn. */
const UNSAFE_SIGN = /(?![\t\n])[\p{Cc}\p{Bidi_Control}\u{E0000}-\u{E007F}]/gu;
const UNSAFE = new RegExp(
  [
    // Whole terminal control sequences: without their first character, the rest would be left as text.
    `${ESCAPE}\\[[\\d;?]*[ -/]*[@-~]`,
    `${ESCAPE}\\][^${ESCAPE}\\u0007]*(?:\\u0007|${ESCAPE}\\\\)?`,
    UNSAFE_SIGN.source,
  ].join('|'),
  'gu',
);

export function harmless(text: string, inTheirPlace = ''): string {
  return text.replace(/\r\n?/g, '\n').replace(UNSAFE, inTheirPlace);
}

/** JSON in which the same is escaped: it commands no terminal, and means what it did. */
export function harmlessJson(json: string): string {
  return json.replace(/\r\n?/g, '\n').replace(UNSAFE_SIGN, (characters) => characters.split('').map(escaped).join(''));
}

function escaped(unit: string): string {
  return `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`;
}
