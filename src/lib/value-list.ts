// Parses comma-separated values, quoted if they contain a comma (RFC 4180). Uses no Node module, so that the page can import it.

/** A quoted value, or everything up to the next comma: an unclosed quote is an ordinary character. */
const VALUE = /\s*"((?:[^"]|"")*)"\s*(?:,|$)|([^,]*)(?:,|$)/gy;

/** Trims the values; drops empty ones and duplicates. */
export function readValues(text: string): string[] {
  const values = [...text.matchAll(VALUE)]
    .map(([, quoted, plain = '']) => (quoted?.replaceAll('""', '"') ?? plain).trim())
    .filter((value) => value !== '');
  return [...new Set(values)];
}

export function writeValues(values: readonly string[]): string {
  return values.map((value) => (/^\s*"|,/.test(value) ? `"${value.replaceAll('"', '""')}"` : value)).join(',');
}
