// Several values in one text, between commas; one that holds a comma stands in quotes (RFC 4180). Needs nothing of Node: the page uses it too.

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
