// Finds secrets in URLs by the names of their parameters, so that they are not stored or shown.

/** Stands for a value that is provided later. */
export interface Gap {
  name: string;
}
export type GappedText = readonly (string | Gap)[];

const SECRET_NAME = /key|token|secret|passw|credential|auth|cookie|private/i;
const SECRET_PARAMETER = /^(code|sig|signature|x-amz-signature|pwd|pass|pat|jwt|session_?id)$/i;
const LOGIN = /^([a-z][a-z0-9+.-]*:\/\/)([^/?#]*)@/i;
const PARAMETER = /[?&#;]([^=?&#;]+)=([^&#;]*)/g;

/** Short parameter names that stand for secrets, in addition to the obvious ones. */
export function isSecretParameter(name: string): boolean {
  return SECRET_PARAMETER.test(name);
}

export function isSecretName(name: string): boolean {
  return SECRET_NAME.test(name);
}

/** Splits a URL into parts in which the login and the values of secret parameters are gaps. */
export function gapSecrets(address: string): GappedText {
  const [whole = '', scheme = '', login = ''] = LOGIN.exec(address) ?? [];
  const rest = address.slice(whole.length);
  const parts: (string | Gap)[] = whole === '' ? [] : [scheme, ...gapLogin(login), '@'];
  let end = 0;
  for (const { index, 0: parameter, 1: name = '', 2: value = '' } of rest.matchAll(PARAMETER)) {
    const plainName = decoded(name);
    if (!isSecretName(plainName) && !isSecretParameter(plainName)) continue;
    const start = index + parameter.length - value.length;
    parts.push(rest.slice(end, start), { name: plainName });
    end = start + value.length;
  }
  return [...parts, rest.slice(end)].filter((part) => part !== '');
}

function gapLogin(login: string): (string | Gap)[] {
  return login.includes(':') ? [{ name: 'username' }, ':', { name: 'password' }] : [{ name: 'token' }];
}

export function fillGaps(text: GappedText, value: (gap: Gap) => string, literal = (part: string) => part): string {
  return text.map((part) => (typeof part === 'string' ? literal(part) : value(part))).join('');
}

/** For display and for files. */
export function shownAddress(address: string): string {
  return fillGaps(gapSecrets(address.replace(LOGIN, '$1')), () => '***');
}

export function isAddress(text: string): boolean {
  return /^[a-z][a-z0-9+.-]*:\/\//i.test(text) && URL.canParse(text);
}

/** Decodes a percent-encoded name. */
export function decoded(name: string): string {
  try {
    return decodeURIComponent(name);
  } catch {
    return name;
  }
}
