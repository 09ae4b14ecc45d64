// The text of a manifest or an index → a document: JSON is read as JSON, the rest as YAML 1.2.
import { parse as parseYaml } from 'yaml';
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
  const isYaml = /\.ya?ml(?:[?#]|$)/i.test(name) || !/^\s*[[{]/.test(text);
  try {
    return isYaml
      ? { document: parseYaml(text, { maxAliasCount: MOST_YAML_ALIASES }) }
      : { document: JSON.parse(text), text };
  } catch (error) {
    const message = (error as Error).message.split('\n', 1)[0];
    throw new HubError('invalid_manifest', `The document cannot be read as ${isYaml ? 'YAML' : 'JSON'}: ${message}.`);
  }
}
