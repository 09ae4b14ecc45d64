import assert from 'node:assert/strict';
import { DatabaseSync } from 'node:sqlite';
import { test } from 'node:test';
import { compileGlob, likeOfGlob } from '../../src/lib/glob.ts';

const cases: { pattern: string; matches: string[]; not: string[] }[] = [
  { pattern: 'com.acme', matches: ['com.acme'], not: ['com.acme.evil', 'com.acm', 'xcom.acme', 'comxacme'] },
  { pattern: 'com.acme*', matches: ['com.acme', 'com.acme.tools', 'com.acmes'], not: ['org.com.acme', ''] },
  { pattern: 'Com.ACME.*', matches: ['com.acme.a'], not: ['com.acme'] },
  { pattern: '*', matches: ['', 'anything'], not: [] },
  { pattern: '*gpl*', matches: ['gpl', 'agpl-3.0', 'mit or gpl-2.0'], not: ['mit'] },
  { pattern: 'a?c', matches: ['abc', 'a.c'], not: ['ac', 'abbc'] },
  { pattern: '*a*b*c', matches: ['abc', 'xaxbxc', 'ababcabc'], not: ['acb', 'abcx'] },
  { pattern: '??*', matches: ['ab', 'abc'], not: ['a', ''] },
  { pattern: 'a_b%\\c*', matches: ['a_b%\\c', 'a_b%\\cd'], not: ['axb%\\c', 'a_bx\\c', 'a_b%c'] },
  { pattern: '[a-z]+(.*)', matches: ['[a-z]+(.whatever)'], not: ['abc'] },
];
const database = new DatabaseSync(':memory:');
const like = database.prepare("select ? like ? escape '\\' as found");
const isLike = (text: string, pattern: string) => like.get(text, likeOfGlob(pattern))?.found === 1;

for (const { pattern, matches, not } of cases) {
  test(`glob: ${pattern} matches the same texts in code and in SQL`, () => {
    const isMatch = compileGlob(pattern);
    for (const text of matches) assert.equal(isMatch(text), true, `'${text}'`);
    for (const text of not) assert.equal(isMatch(text), false, `'${text}'`);
    for (const text of [...matches, ...not]) assert.equal(isLike(text, pattern), isMatch(text), `'${text}' in SQL`);
  });
}

test('glob: a pattern that would hang a regular expression is matched', () => {
  const isMatch = compileGlob(`${'*a'.repeat(100)}b`);
  assert.equal(isMatch('a'.repeat(10_000)), false);
});
