// Removes credentials from text: from command lines, and from URLs in prose.
import { decoded, isAddress, isSecretParameter, shownAddress } from './secret-address.ts';
import { isHarmlessValue, isSecretKey, isSecretVariable } from './secret-names.ts';

const HIDDEN = '***';
const OPTION = /^--?[\w-]+$/;
/** Excludes `package==1.0`, which is a version. */
const ASSIGNED = /^(-{0,2})([A-Za-z_][\w.-]*)=(?!=)(.*)$/s;
const HEADER = /^([A-Za-z][\w-]*):(\s*)(\S.*)$/s;
const HEADER_OPTION = /^(-H|--headers?|--http-headers?)$/;
/** All other headers are confidential. */
const OPEN_HEADER = /^(accept(-.*)?|content-.*|user-agent|host|origin|cache-control|connection)$/i;
/** For list elements: `Token: renewed before it expires` is a sentence. */
const ONE_VALUE = /^(\w+ )?\S+$/;
/** These patterns scan long untrusted texts, so neither may read any part twice. */
const LOGIN_IN_TEXT = /\b([a-z][a-z0-9+.-]{0,30}:\/\/)([^\s/?#@"'`]+)@(?=[\w[])/gi;
const ADDRESS_IN_TEXT = /\/\/(?:[^\s"'`<>]|(?<==)(?:'[^\s']*'|"[^\s"]*"))+/g;
/** `//host/:_authToken=…` is a line of an npm configuration. */
const PARAMETER_IN_TEXT = /([?&#;]|\/:)([\w.%-]{1,100})=([^&#;]+)/g;
const END_OF_A_SENTENCE = /[.,:!?)\]}]{0,3}$/;
const WORD_OF_AN_EXAMPLE = /^(user(name)?|pass(word)?|pwd|login|token|secret|(api_?)?key|\.{3}|…)$/i;
const COMMAND_LINE_WORD = /(?:"[^"]*"|'[^']*'|[^\s"'])+/g;

export function hidden(value: string | number, name = ''): string | number {
  return isHarmlessValue(name, value) ? value : HIDDEN;
}

/** Keeps all prose; removes only logins and secret parameters of URLs. */
export function shownText(text: string): string {
  if (isOneAddress(text)) return shownAddress(text);
  const [, dashes, name = '', value = ''] = ASSIGNED.exec(text) ?? [];
  if (dashes && isSecretKey(name)) return `${dashes}${name}=${hidden(value, name)}`;
  // Most texts contain no address, and scanning long ones takes a while.
  if (!text.includes('//')) return text;
  return text
    .replace(LOGIN_IN_TEXT, (found, scheme: string, login: string) => (isHarmlessLogin(login) ? found : scheme))
    .replace(ADDRESS_IN_TEXT, (address) => address.replace(PARAMETER_IN_TEXT, shownParameter));
}

/** Stricter than for a single URL: in prose, `?keyword=` and `?author=` are not secrets. */
function shownParameter(found: string, sign: string, written: string, value: string): string {
  const name = decoded(written);
  const isSecret = isSecretKey(name) || isSecretParameter(name) || /^_?(key|auth)$/i.test(name);
  if (!isSecret || isHarmlessValue(name, value)) return found;
  const [end = ''] = END_OF_A_SENTENCE.exec(value) ?? [];
  return `${sign}${written}=${HIDDEN}${end}`;
}

/** An element of a list, which may be a command line: the word after `--api-key` and the value in `TOKEN=…` are secrets. */
export function shownWord(word: string, before?: unknown): string {
  const option = typeof before === 'string' && OPTION.test(before) ? before : '';
  if (isSecretKey(option) && !word.startsWith('-')) return String(hidden(word, option));
  if (isOneAddress(word)) return shownAddress(word);
  return shownAssignment(word) ?? shownHeader(word, option) ?? shownText(word);
}

/** A number after `--pin-token` is a secret too. */
export function shownNumber(value: number, before?: unknown): string | number {
  return typeof before === 'string' && OPTION.test(before) && isSecretKey(before) ? hidden(value, before) : value;
}

/** Preserves spaces and quotes. */
export function shownCommandLine(line: string): string {
  let before: string | undefined;
  return line.replace(COMMAND_LINE_WORD, (word) => {
    const [, quote = '', inner = word] = /^(["'])(.*)\1$/s.exec(word) ?? [];
    const shown = shownWord(inner, before);
    before = inner;
    return `${quote}${shown}${quote}`;
  });
}

function shownAssignment(word: string): string | undefined {
  const [found, dashes = '', name = '', value = ''] = ASSIGNED.exec(word) ?? [];
  if (found === undefined) return undefined;
  const isVariable = dashes === '' && name === name.toUpperCase();
  const isSecret = isVariable ? isSecretVariable(name) : isSecretKey(name);
  const bare = value.replace(/^(["'])(.*)\1$/s, '$2');
  if (isSecret) return isHarmlessValue(name, bare) ? word : `${dashes}${name}=${HIDDEN}`;
  // For `--env=TOKEN=…` and `DATABASE_URL=postgres://…`.
  const shown = shownWord(bare, HEADER_OPTION.test(dashes + name) ? '-H' : undefined);
  return shown === bare ? word : `${dashes}${name}=${shown}`;
}

function shownHeader(word: string, option: string): string | undefined {
  const [found, name = '', blank = '', value = ''] = HEADER.exec(word) ?? [];
  if (found === undefined) return undefined;
  const isAsked = HEADER_OPTION.test(option);
  // `-H localhost:80` is a host, not a header.
  const isSecret = (isAsked && blank !== '' && !OPEN_HEADER.test(name)) || isSecretKey(name);
  return isSecret && (isAsked || ONE_VALUE.test(value)) ? `${name}:${blank}${hidden(value, name)}` : undefined;
}

/** `git@` is not a secret; `user:password@` and `<user>:<password>@` are only examples. */
function isHarmlessLogin(login: string): boolean {
  return (
    login === 'git' || login.split(':').every((part) => WORD_OF_AN_EXAMPLE.test(part) || isHarmlessValue('', part))
  );
}

function isOneAddress(text: string): boolean {
  return !/\s/.test(text) && isAddress(text);
}
