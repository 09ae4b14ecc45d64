// Parses the text of a manifest or an index: JSON as JSON, everything else as YAML 1.2.
import { createRequire } from 'node:module';
import { HubError } from '../errors.ts';

/** A few aliases are convenient; many could make a small file fill the memory. */
const MOST_YAML_ALIASES = 50;

/**
 * `name` is the file name or URL. JSON is never passed to the YAML parser, which breaks on tabs and on escaped surrogate
 * pairs; `text` is returned only for JSON, to be stored unchanged.
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
  // Explicit, because a document may request the YAML 1.1 schema.
  schema: 'core',
  maxAliasCount: MOST_YAML_ALIASES,
  // As in JSON, the last of two equal keys wins; checking for duplicates takes quadratic time.
  uniqueKeys: false,
  // Warnings about unusual tags would go to the terminal.
  logLevel: 'error',
} as const;

/** Loads the YAML parser with the first document that is not JSON, which keeps startup fast. */
const require = createRequire(import.meta.url);

/** Converted through JSON, because YAML allows what JSON does not: circular lists, NaN. */
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

/** Parser messages are written for developers, not for the authors of documents. */
const OWN_WORDS: readonly [theirs: RegExp, ours: string][] = [
  [/multiple documents/, 'it contains several documents, but must contain one'],
  [/call stack/, 'it is nested too deeply'],
  [/circular structure/, 'an alias in it refers to itself'],
  [/alias count/, 'its aliases expand to too much data'],
];
