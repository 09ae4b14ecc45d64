// Documents of strangers without the credentials in them: found by the names that they stand under, and in addresses.
import { isJsonObject, type JsonObject } from './json.ts';
import { isAddress, isSecretName, shownAddress } from './secret-address.ts';

const HIDDEN = '***';
/** What only says where a value belongs is no secret, and people need to see it. */
const PLACEHOLDER = /^\s*$|^<.*>$|\$\{[^}]+\}|^\$\w+$|\{[\w.:-]+\}|^your[-_ ]|^x{3,}$|^changeme$/i;
const SECRET_WORD = /^(secret|password|passwd|passphrase|pwd|token|apikey|credential|credentials|cookie|jwt)$/;
const WORDS_BEFORE_KEY = /^(api|private|access|client|secret|auth|signing|encryption|account|subscription|master)$/;
const WORDS_AFTER_AUTH = /^(value|username|password|token|key)$/;
/** `token_url` and `password_required` speak of a secret, and hold none. */
const LAST_WORD_OF_A_REMARK =
  /^(url|uri|endpoint|type|name|env|header|required|ttl|expiry|file|path|limit|description|hint|method|methods)$/;
/** Everything in these is for the server alone, whatever it is called. */
const CLOSED = /^(headers|cookies|credentials|secrets|auth|authentication|authorization)$/i;
/** …but for what describes it. */
const DESCRIPTION =
  /^(type|scheme|kind|name|key|in|format|flow|scopes?|title|description|required|placeholder|.*_?ur[il])$/i;
const ENVIRONMENT = /^(env|environment)$/i;
const OPTION = /^(--?[\w-]+)(=)?(.*)$/s;

type Place = 'open' | 'closed' | 'environment';

/** A value of JSON as it may be shown to anybody: what is secret is `***`, everything else is as it was. */
export function withoutCredentials<T>(value: T): T {
  return shown(value, 'open') as T;
}

function shown(value: unknown, place: Place): unknown {
  if (typeof value === 'string') return place === 'closed' ? hidden(value) : shownText(value);
  if (Array.isArray(value)) return value.map((each, index) => shownElement(each, value[index - 1], place));
  return isJsonObject(value) ? shownObject(value, place) : value;
}

function shownText(text: string): string {
  if (isAddress(text)) return shownAddress(text);
  const [, name = '', equals, value = ''] = OPTION.exec(text) ?? [];
  return equals && isSecretOption(name) ? `${name}=${hidden(value)}` : text;
}

/** Of a command line, the word after `--api-key` is one. */
function shownElement(value: unknown, before: unknown, place: Place): unknown {
  const follows = typeof before === 'string' && /^--?[\w-]+$/.test(before) && isSecretOption(before);
  return follows && typeof value === 'string' && !value.startsWith('-') ? hidden(value) : shown(value, place);
}

function shownObject(object: JsonObject, place: Place): JsonObject {
  const named = [object.name, object.key].find((each) => typeof each === 'string');
  const isOfSecret = object.isSecret === true || (named !== undefined && isSecretKey(String(named)));
  return Object.fromEntries(
    Object.entries(object).map(([key, value]) => {
      const isItsValue = isOfSecret && (key === 'value' || key === 'default');
      return [key, isItsValue ? hiddenLeaf(value, place) : shownMember(key, value, place)];
    }),
  );
}

function shownMember(key: string, value: unknown, place: Place): unknown {
  if (place === 'closed') return shown(value, DESCRIPTION.test(key) ? 'open' : 'closed');
  const isSecret = place === 'environment' ? isSecretName(key) : isSecretKey(key);
  if (isSecret && typeof value === 'string') return hidden(value);
  if (CLOSED.test(key) && typeof value === 'object') return shown(value, 'closed');
  return shown(value, ENVIRONMENT.test(key) ? 'environment' : 'open');
}

function hiddenLeaf(value: unknown, place: Place): unknown {
  if (typeof value === 'string') return hidden(value);
  return typeof value === 'number' ? HIDDEN : shown(value, place);
}

function hidden(text: string): string {
  return PLACEHOLDER.test(text) ? text : HIDDEN;
}

function isSecretOption(option: string): boolean {
  return isSecretKey(option.replace(/^-+/, ''));
}

function isSecretKey(key: string): boolean {
  const words = key
    .replace(/([a-z])([A-Z])/g, '$1 $2')
    .toLowerCase()
    .split(/[^a-z0-9]+/);
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
