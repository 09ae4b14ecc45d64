// Fails if a file contains a phrase that the style guide rules out; run by `npm run check:words`.
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';

const OUTDATED: readonly [RegExp, string][] = [
  [/\bwhoever\b/i, 'name the person or program: the caller, an operator'],
  [/\banew\b/i, 'again'],
  [/\bby itself\b/i, 'automatically, alone'],
  [/\bany more\b/i, 'no longer'],
  [/\bmend(s|ed|ing)?\b/i, 'fix'],
  [/(?<!there )\b(is|are|was|were) no (?!longer|more\b)[a-z]/i, 'is not a …, or has no …'],
  [/(?<!there )\b(is|are) none of (a|the) /i, 'is not a …'],
  [/\b(ASCII|invisible|unseen|harmless|odd|of) signs\b(?! of)/i, 'characters'],
  [/\bblanks\b/i, 'spaces'],
  [/\bdoors?\b/i, 'entry point'],
  [/^\s*(\/\/|\/\*\*|\*) Of (?!course)/, 'a comment starts with its subject'],
];
const CHECKED = /\.(ts|tsx|mjs|css|md|yaml|yml)$|\.env\.example$|Dockerfile$/;
// The rules themselves, and text by other people.
const EXEMPT = /^(scripts\/check-words\.ts|bench\/search-data\/|test\/fixtures\/|demo\/)/;

const files = execFileSync('git', ['ls-files'], { encoding: 'utf8' })
  .split('\n')
  .filter((path) => CHECKED.test(path) && !EXEMPT.test(path));
const findings = files.flatMap((path) => findingsIn(path));
for (const finding of findings) process.stderr.write(`${finding}\n`);
process.exitCode = findings.length > 0 ? 1 : 0;

function findingsIn(path: string): string[] {
  const text = readFileSync(path, 'utf8');
  return OUTDATED.flatMap(([pattern, better]) =>
    [...text.matchAll(overLines(pattern))].map((found) => {
      const line = text.slice(0, found.index).split('\n').length;
      return `${path}:${line}: '${found[0].trim().replaceAll(/\s+/g, ' ')}': write ${better}`;
    }),
  );
}

/** Finds the phrase even if a line ends within it, in prose or in a comment. */
function overLines({ source, flags }: RegExp): RegExp {
  return new RegExp(source.replaceAll(' ', '(?: |\\n *(?:(?:\\/\\/|\\*) )?)'), `${flags}gm`);
}
