// Whether glue code is still what an install wrote.
import { readFile } from 'node:fs/promises';
import { fileDigest, pathInside } from '../../lib/files.ts';
import { isJsonObject, type JsonObject, jsonDigest } from '../../lib/json.ts';
import type { LockedAdapter } from '../contract.ts';
import { different, type Found, missing, SAME } from './check.ts';

export async function verifyAdapter(adapter: LockedAdapter, targetDir: string): Promise<Found> {
  const file = await pathInside(targetDir, adapter.path);
  if (typeof adapter.entry === 'string') return verifyEntry(await textOf(file), adapter.entry, adapter.integrity);
  const digest = await fileDigest(file).catch(absent);
  if (digest === undefined) return missing('the file is gone');
  return digest === adapter.integrity ? SAME : different('the file was changed');
}

/** Only the entry: the rest of such a file belongs to others. */
function verifyEntry(text: string | undefined, name: string, integrity: string): Found {
  if (text === undefined) return missing('the file is gone');
  const entry = entryIn(text, name);
  if (entry === undefined) return missing(`the entry '${name}' is gone`);
  const isSame = readings(entry).some((each) => jsonDigest(each) === integrity);
  return isSame ? SAME : different(`the entry '${name}' was changed, or its values filled in`);
}

function entryIn(text: string, name: string): JsonObject | undefined {
  try {
    const document: unknown = JSON.parse(text.replace(/^\uFEFF/, ''));
    if (!isJsonObject(document)) return undefined;
    const sections = Object.values(document).filter(isJsonObject);
    return sections.map((section) => section[name]).find(isJsonObject);
  } catch {
    return undefined;
  }
}

/** Settings of the client, and values in the place of a placeholder, are no change: installs keep them too. */
function readings(entry: JsonObject): JsonObject[] {
  const written = ['type', 'command', 'args', 'env', 'url', 'headers'];
  const own = Object.fromEntries(Object.entries(entry).filter(([key]) => written.includes(key)));
  const placeholders = [(name: string) => `\${${name}}`, (name: string) => `\${env:${name}}`];
  return [own, ...placeholders.map((placeholder) => withPlaceholders(own, placeholder))];
}

function withPlaceholders(entry: JsonObject, placeholder: (name: string) => string): JsonObject {
  const { env } = entry;
  if (!isJsonObject(env)) return entry;
  return { ...entry, env: Object.fromEntries(Object.keys(env).map((name) => [name, placeholder(name)])) };
}

function textOf(file: string): Promise<string | undefined> {
  return readFile(file, 'utf8').catch(absent);
}

export function absent(error: NodeJS.ErrnoException): undefined {
  if (error.code === 'ENOENT' || error.code === 'ENOTDIR') return undefined;
  throw error;
}
