// The text of a manifest or an index → a document: JSON is read as JSON, the rest as YAML 1.2.
import { createRequire } from 'node:module';
import { HubError } from '../errors.ts';

/** A few aliases are a convenience; many are a way to make a small file fill the memory. */
const MOST_YAML_ALIASES = 50;

/**
 * `name` is the file's name or address. JSON is never given to the YAML parser, which breaks on tabs and on
 * escaped surrogate pairs; `text` comes back only for JSON, to be stored as it is.
 *
 * @throws HubError `invalid_manifest`
 */
export function parseManifestText(name: string, text: string): { document: unknown; text?: string } {
  const unmarked = text.replace(/^\ufeff/, '');
  const mayBeJson = /^\s*[[{]/.test(unmarked);
  const mayBeYaml = !mayBeJson || /\.ya?ml(?:[?#]|$)/i.test(name);
  try {
    if (mayBeJson) return { document: JSON.parse(unmarked), text: unmarked };
  } catch (error) {
    if (!mayBeYaml) throw unreadable('JSON', error);
  }
  try {
    return { document: readYaml(unmarked) };
  } catch (error) {
    throw unreadable('YAML', error);
  }
}

const YAML_RULES = {
  // Named, because a document may ask for the schema of YAML 1.1.
  schema: 'core',
  maxAliasCount: MOST_YAML_ALIASES,
  // As in JSON, the last of two equal keys counts; to look for them takes the square of the number of keys.
  uniqueKeys: false,
  // Warnings about odd tags would go to the terminal.
  logLevel: 'error',
} as const;

/** Loaded with the first document that is not JSON, so that a starting hub does not wait for it. */
const require = createRequire(import.meta.url);

/** Through JSON, because YAML can also say what JSON cannot: a list that holds itself, not-a-number. */
function readYaml(text: string): unknown {
  const { parse } = require('yaml') as typeof import('yaml');
  return JSON.parse(JSON.stringify(parse(text, YAML_RULES)));
}

function unreadable(format: 'JSON' | 'YAML', error: unknown): HubError {
  const { message } = error as Error;
  const [firstLine = ''] = message.split('\n', 1);
  const reason = OWN_WORDS.find(([theirs]) => theirs.test(message))?.[1] ?? firstLine.replace(/[.:]$/, '');
  return new HubError('invalid_manifest', `The document cannot be read as ${format}: ${reason}.`, { cause: error });
}

/** What parsers say to those who call them is of no use to the author of a document. */
const OWN_WORDS: readonly [theirs: RegExp, ours: string][] = [
  [/multiple documents/, 'it contains several documents, but must contain one'],
  [/call stack/, 'it is nested too deeply'],
  [/circular structure/, 'an alias in it refers to itself'],
  [/alias count/, 'its aliases expand to too much data'],
];
