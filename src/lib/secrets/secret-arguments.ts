// Replaces secrets in a command line with placeholders. Uses no Node module, so that the page can import it.
import { withoutCredentials } from './credentials.ts';
import { type Gap, type GappedText, gapSecrets, isAddress } from './secret-address.ts';

const HIDDEN = '***';
const NAME_BEFORE_A_VALUE = /([\w-]+)(?:=|:\s*|\s+)$/;
/** A pattern that looks for an end is tried at every character of a text. */
const LONGEST_NAME = 300;

/** `--api-key abc`, `TOKEN=abc` and `X-Api-Key: abc` lose their values, and so do addresses; a word may be a gap already. */
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
