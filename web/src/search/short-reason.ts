// Why a result matches, without repeating what is on screen already.

/** Reasons end with the sentence they rest on; when that is shown right above, what comes before it is enough. */
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
