// Quotes values for commands that people paste into a shell.

/**
 * Returns the value as is, or in double quotes, in a form that sh, PowerShell and cmd read alike. Returns undefined for a
 * value that one of them would split or expand, or that a command would read as an option.
 */
export function shellWord(value: string): string | undefined {
  if (/^\w[\w+:./@-]*$/.test(value)) return value;
  // Not all of Unicode, because PowerShell treats typographic quotes as quotes.
  return /^(?!-)[\p{L}\p{N} _+=:./@,;()[\]&'~-]+$/u.test(value) ? `"${value}"` : undefined;
}
