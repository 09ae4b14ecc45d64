// Values separated by commas in one text; values that contain a comma are quoted (RFC 4180). Uses no Node module, so that the page can import it.

/** A value in quotes, or whatever stands before the next comma: a quote that is never closed is an ordinary character. */
const VALUE = /\s*"((?:[^"]|"")*)"\s*(?:,|$)|([^,]*)(?:,|$)/gy;

/** Trimmed; what is empty is left out, and so is what was there before. */
export function readValues(text: string): string[] {
  const values = [...text.matchAll(VALUE)]
    .map(([, quoted, plain = '']) => (quoted?.replaceAll('""', '"') ?? plain).trim())
    .filter((value) => value !== '');
  return [...new Set(values)];
}

export function writeValues(values: readonly string[]): string {
  return values.map((value) => (/^\s*"|,/.test(value) ? `"${value.replaceAll('"', '""')}"` : value)).join(',');
}
