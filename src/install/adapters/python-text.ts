// Values as Python source: whatever a manifest holds stays a value.

/** A literal of a JSON value, in ASCII only: no text can end it, whatever encoding the file is read in. */
export function pyLiteral(value: unknown): string {
  if (typeof value === 'string') return pyString(value);
  if (typeof value === 'number') return Number.isFinite(value) ? String(value) : 'None';
  if (typeof value === 'boolean') return value ? 'True' : 'False';
  if (Array.isArray(value)) return `[${value.map(pyLiteral).join(', ')}]`;
  if (typeof value === 'object' && value !== null) {
    const members = Object.entries(value).filter(([, each]) => each !== undefined);
    return `{${members.map(([key, each]) => `${pyString(key)}: ${pyLiteral(each)}`).join(', ')}}`;
  }
  return 'None';
}

export function pyString(text: string): string {
  const signs = [...text].map((sign) => {
    if (sign === '"' || sign === '\\') return `\\${sign}`;
    const code = sign.codePointAt(0) ?? 0;
    if (code >= 0x20 && code < 0x7f) return sign;
    return code > 0xffff ? `\\U${hex(code, 8)}` : `\\u${hex(code, 4)}`;
  });
  return `"${signs.join('')}"`;
}

function hex(code: number, digits: number): string {
  return code.toString(16).padStart(digits, '0');
}

const KEYWORDS = [
  ...['false', 'none', 'true', 'and', 'as', 'assert', 'async', 'await', 'break', 'class', 'continue', 'def', 'del'],
  ...['elif', 'else', 'except', 'finally', 'for', 'from', 'global', 'if', 'import', 'in', 'is', 'lambda', 'nonlocal'],
  ...['not', 'or', 'pass', 'raise', 'return', 'try', 'while', 'with', 'yield', 'match', 'case', 'type'],
];

/** `pdf_tables` from any text. */
export function pyName(text: string): string {
  const name = text
    .normalize('NFKD')
    .replace(/([a-z0-9])([A-Z])/g, '$1_$2')
    .replace(/[^A-Za-z0-9]+/g, '_')
    .replace(/^_+|_+$/g, '')
    .toLowerCase()
    .slice(0, 60)
    .replace(/_+$/, '');
  return name === '' || /^\d/.test(name) || KEYWORDS.includes(name) ? `entity_${name || 'unnamed'}` : name;
}
