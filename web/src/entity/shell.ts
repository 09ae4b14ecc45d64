// Values in commands that people paste into their shell.

/** Quoted where a shell would see more than a word in it. */
export function shellWord(value: string): string {
  return /^[\w@%+=:,./][\w@%+=:,./-]*$/.test(value) ? value : `'${value.replaceAll("'", `'\\''`)}'`;
}
