// The reason for a match, without text that is already visible.

/** A reason ends with the sentence it is based on; if that is shown above, the part before it is enough. */
export function shortReason(reason: string, shown: string): string {
  const [, claim, quote = ''] = /^([^“”]*(?:“[^“”]*”[^“”]*)*?):\s*“([^“”]+)”\.?$/.exec(reason.trim()) ?? [];
  if (!claim) return reason;
  const same = plain(shown).includes(plain(quote));
  return same ? `${claim}.` : reason;
}

function plain(text: string): string {
  return text
    .replace(/…$/, '')
    .replace(/[\s.]+$/, '')
    .replaceAll(/\s+/g, ' ')
    .toLowerCase();
}
