// Replaces secrets in a command line with placeholders. Uses no Node module, so that the page can import it.
import { withoutCredentials } from './credentials.ts';
import { type Gap, type GappedText, gapSecrets, isAddress } from './secret-address.ts';

const HIDDEN = '***';
const NAME_BEFORE_A_VALUE = /([\w-]+)(?:=|:\s*|\s+)$/;
/** Bounds the work of a pattern with an end anchor, which is tried at every character. */
const LONGEST_NAME = 300;

/** Replaces the values in `--api-key abc`, `TOKEN=abc`, `X-Api-Key: abc` and URLs with gaps; a word may already be a gap. */
export function gapArguments(words: readonly (string | Gap)[]): GappedText[] {
  const texts = words.map((word) => (typeof word === 'string' ? word : ''));
  const { args: shown } = withoutCredentials({ args: texts });
  return words.map((word, index) =>
    typeof word === 'string' ? gapArgument(word, shown[index] ?? '', texts[index - 1]) : [word],
  );
}

/** `shown` is the word without credentials. */
function gapArgument(word: string, shown: string, before = ''): GappedText {
  if (shown === word) return [word];
  const [, start = '', address = word] = /^([\w-]+=)(.*)$/s.exec(word) ?? [];
  if (isAddress(address) && shown.includes('://')) return [start, ...gapSecrets(address)].filter((part) => part !== '');
  const [first = '', ...others] = shown.split(HIDDEN);
  const parts: (string | Gap)[] = [first];
  let text = first;
  for (const other of others) {
    const [, name = before || 'secret'] = NAME_BEFORE_A_VALUE.exec(text.slice(-LONGEST_NAME)) ?? [];
    parts.push({ name }, other);
    text = other;
  }
  return parts.filter((part) => part !== '');
}
