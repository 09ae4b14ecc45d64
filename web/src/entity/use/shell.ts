// Values in commands that people paste into their shell.

/**
 * As it stands, or in double quotes: sh, PowerShell and cmd read both alike.
 * Undefined for a value that one of them would read as more than a word, or a command as an option.
 */
export function shellWord(value: string): string | undefined {
  if (/^\w[\w+:./@-]*$/.test(value)) return value;
  // Letters, not all of Unicode: PowerShell takes typographic quotes for quotes.
  return /^(?!-)[\p{L}\p{N} _+=:./@,;()[\]&'~-]+$/u.test(value) ? `"${value}"` : undefined;
}
