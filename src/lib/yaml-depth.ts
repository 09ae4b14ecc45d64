// Checks how deeply YAML is nested before it is parsed: the parser recurses, and takes seconds for thousands of levels.
import { createRequire } from 'node:module';

/** No real policy comes close. */
const DEEPEST = 100;

/** Loads the YAML parser with the first document. */
const require = createRequire(import.meta.url);

/** Counts open brackets, and entries that begin on the same line (`- - -`). Indentation needs too much text to nest deeply. */
export function isYamlTooDeep(text: string): boolean {
  const { Lexer } = require('yaml') as typeof import('yaml');
  let open = 0;
  let entries = 0;
  for (const token of new Lexer().lex(text)) {
    if (token === '[' || token === '{') open += 1;
    else if (token === ']' || token === '}') open -= 1;
    else if (open === 0 && (token === '-' || token === '?' || token === ':')) entries += 1;
    else if (token.startsWith('\n') || token.startsWith('\r')) entries = 0;
    if (open > DEEPEST || entries > DEEPEST) return true;
  }
  return false;
}
