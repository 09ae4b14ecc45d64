// Recognizes field names that suggest a credential, and values that are only placeholders.
import { isSecretName } from './secret-address.ts';

const SECRET_WORD = /^(secret|password|passwd|passphrase|pwd|token|apikey|credential|cookie|jwt|pat)$/;
const WORDS_BEFORE_KEY = /^(api|private|access|client|secret|auth|signing|encryption|account|subscription|master)$/;
const WORDS_AFTER_AUTH = /^(value|username|password|token|key)$/;
/** `token_url` and `password_required` describe a secret, but do not contain one. */
const LAST_WORD_OF_A_REMARK =
  /^(url|uri|endpoint|host|port|type|mode|name|env|header|required|enabled|ttl|expiry|file|path|limit|count|policy|description|hint|method)$/;
/** `max_tokens` and `price_per_token` count a model's tokens. */
const COUNTED = /(^| )(tokens|(max|min|per|total|input|output) token)( |$)/;
const NUMBER = /^[\d.,_]+[km]?$/i;

const VARIABLE = String.raw`\w[\w-]*(?:[:.]\w[\w-]*)*`;
const STANDS_FOR_A_VALUE = [
  '<[^<>]*>',
  String.raw`\$\{${VARIABLE}\}`,
  String.raw`\$(?:env:)?\w+`,
  String.raw`\{${VARIABLE}\}`,
  String.raw`\$?\{\{\s*${VARIABLE}\s*\}\}`,
  String.raw`%[a-z]\w*%`,
  'your[-_ ].*',
  'x{3,}',
  'changeme',
  'required|optional|string|none|true|false',
];
/** May follow the scheme of a header: `Bearer ${TOKEN}`. Never part of a longer value: `sk-{x}-abc` is a secret. */
const PLACEHOLDER = new RegExp(`^(?:[a-z-]{2,20}\\s+)?(?:${STANDS_FOR_A_VALUE.join('|')})$`, 'is');

/** For object keys and command line options. */
export function isSecretKey(key: string): boolean {
  const words = wordsOf(key).map((word) => word.replace(/(?<=[^s])s$/, ''));
  const last = words.at(-1) ?? '';
  if (LAST_WORD_OF_A_REMARK.test(last)) return false;
  if (words.includes('authorization')) return true;
  return words.some(
    (word, index) =>
      SECRET_WORD.test(word) ||
      (word === 'key' && WORDS_BEFORE_KEY.test(words[index - 1] ?? '')) ||
      (words.includes('auth') && WORDS_AFTER_AUTH.test(last)),
  );
}

/** For environment variables: shorter names count as secret too. */
export function isSecretVariable(name: string): boolean {
  const words = wordsOf(name);
  if (LAST_WORD_OF_A_REMARK.test(words.at(-1) ?? '')) return false;
  return isSecretName(name) || isSecretKey(name) || words.includes('pass');
}

/** Whether the value may be shown although its name suggests a secret. */
export function isHarmlessValue(name: string, value: string | number): boolean {
  const text = String(value).trim();
  if (NUMBER.test(text) && COUNTED.test(wordsOf(name).join(' '))) return true;
  return text === '' || PLACEHOLDER.test(text);
}

function wordsOf(name: string): string[] {
  return name
    .replace(/([a-z])([A-Z])/g, '$1 $2')
    .toLowerCase()
    .split(/[^a-z0-9]+/)
    .filter((word) => word !== '');
}
