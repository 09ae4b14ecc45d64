// Reads REMOTE_CREDENTIALS or REMOTE_CREDENTIALS_FILE: which header is sent to which URLs.
import { readFileSync } from 'node:fs';
import { z } from 'zod';
import { SettingError } from './errors.ts';
import type { Settings } from './settings.ts';

/** A header for every request to a URL that starts with `prefix`. */
export interface RemoteCredential {
  /** Ends with `/`, so that `https://h/a` does not match `https://h/ab`. */
  prefix: string;
  /** Name of the header, in lower case. */
  header: string;
  value: string;
}

const Credential = z.union([
  z.strictObject({ header: z.string().regex(/^[\w-]+: *[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?$/) }),
  z.strictObject({ username: z.string().regex(/^[^:]+$/), password: z.string() }),
]);
const Credentials = z.record(z.url({ protocol: /^https?$/ }), Credential);

/** @throws SettingError, which never contains a value. */
export function remoteCredentials(
  settings: Pick<Settings, 'REMOTE_CREDENTIALS' | 'REMOTE_CREDENTIALS_FILE'>,
): RemoteCredential[] {
  const { REMOTE_CREDENTIALS: inline, REMOTE_CREDENTIALS_FILE: file } = settings;
  if (inline && file) throw invalid('REMOTE_CREDENTIALS_FILE', 'and REMOTE_CREDENTIALS are both set: set one of them.');
  if (file) return credentialsIn('REMOTE_CREDENTIALS_FILE', contentOf(file));
  return inline ? credentialsIn('REMOTE_CREDENTIALS', inline) : [];
}

function credentialsIn(setting: string, text: string): RemoteCredential[] {
  const parsed = Credentials.safeParse(json(text));
  if (!parsed.success) {
    const wanted = '{"header": "<name>: <value>"} or {"username": "…", "password": "…"}';
    throw invalid(setting, `must contain a JSON object that maps http or https addresses to ${wanted}.`);
  }
  return Object.entries(parsed.data).map(([address, credential]) => {
    const { origin, pathname } = new URL(address);
    return { prefix: `${origin}${pathname}`.replace(/\/*$/, '/'), ...headerOf(credential) };
  });
}

function headerOf(credential: z.infer<typeof Credential>): Pick<RemoteCredential, 'header' | 'value'> {
  if ('username' in credential) {
    const login = Buffer.from(`${credential.username}:${credential.password}`).toString('base64');
    return { header: 'authorization', value: `Basic ${login}` };
  }
  const [name = '', ...rest] = credential.header.split(':');
  return { header: name.toLowerCase(), value: rest.join(':').trim() };
}

function contentOf(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    const { code = 'unknown error' } = error as NodeJS.ErrnoException;
    throw invalid('REMOTE_CREDENTIALS_FILE', `names a file that cannot be read (${code}).`);
  }
}

function json(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function invalid(setting: string, problem: string): SettingError {
  return new SettingError(`${setting} ${problem}`, { setting });
}
