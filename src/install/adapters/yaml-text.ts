// Values as YAML that every reader takes for the same, those of the older YAML 1.1 included.
import { type ScalarTag, stringify } from 'yaml';
import type { JsonObject } from '../../lib/json.ts';

/** Names that stay without quotes as keys; the words are truth values in YAML 1.1. */
const PLAIN_KEY = /^(?!(?:y|n|yes|no|on|off|true|false|null)$)[a-z_][a-z0-9_]*$/i;
/** Outside ASCII, what readers refuse, or take for the end of a line. */
const UNSAFE = /[\u007f-\u00a0\u2028\u2029\ufeff\ufffe\uffff]/g;

const text: ScalarTag = {
  tag: 'tag:yaml.org,2002:str',
  default: true,
  identify: (value) => typeof value === 'string',
  resolve: (value) => value,
  // Texts always in quotes: readers of older YAML take `no` or `1_0` for something else than text.
  stringify: ({ value }, { implicitKey }) =>
    implicitKey && PLAIN_KEY.test(String(value)) ? String(value) : quoted(String(value)),
};

/** Without a point, YAML 1.1 takes `1e+21` for a text. */
const largeNumber: ScalarTag = {
  tag: 'tag:yaml.org,2002:float',
  default: true,
  identify: (value) => typeof value === 'number' && /^-?\d+e/.test(String(value)),
  // Without it, the library's own tags for numbers would be preferred.
  test: /^-?\d+\.0e[-+]\d+$/,
  resolve: Number,
  stringify: ({ value }) => String(value).replace('e', '.0e'),
};

export function yamlText(value: JsonObject): string {
  return stringify(value, {
    lineWidth: 0,
    customTags: (tags) => [text, largeNumber, ...tags],
    // The same value twice would become a reference.
    aliasDuplicateObjects: false,
  });
}

function quoted(value: string): string {
  const escaped = (sign: string) => `\\u${sign.charCodeAt(0).toString(16).padStart(4, '0')}`;
  return JSON.stringify(value).replace(UNSAFE, escaped);
}
