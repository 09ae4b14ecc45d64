// Which texts the main thread may parse itself, because starting a thread takes longer.

/** Most manifests are shorter, and take a tenth of a millisecond. */
export const LONGEST_LIGHT = 16_000;

/** YAML is never light: eight kilobytes can take a tenth of a second. */
export function isLight({ url, text }: { url: string; text: string }): boolean {
  return text.length <= LONGEST_LIGHT && /^\s*[[{]/.test(text) && !/\.ya?ml(?:[?#]|$)/i.test(url);
}
