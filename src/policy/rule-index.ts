// Finds the rules that may match an entity without testing each, with an index on the patterns of one member.
import { compileGlob } from '../lib/glob.ts';
import { type Facts, NONE, type PatternMember } from './conditions.ts';
import type { Rule } from './document.ts';

/** Most selective first. */
const MEMBERS: readonly PatternMember[] = ['name', 'publisher', 'license', 'remote', 'artifact', 'transport', 'type'];

/** Returns candidates in the order of the rules; not all of them match. */
export function indexRules(rules: readonly Rule[]): (facts: Facts) => number[] {
  const always: number[] = [];
  const indexes = new Map<PatternMember, ReturnType<typeof createPatternIndex>>();
  for (const [number, { match = {} }] of rules.entries()) {
    const member = MEMBERS.find((name) => match[name]);
    if (!member) {
      always.push(number);
      continue;
    }
    const index = indexes.get(member) ?? createPatternIndex();
    indexes.set(member, index);
    for (const pattern of match[member] ?? []) index.add(pattern.toLowerCase(), number);
  }
  return ({ texts }) => {
    const found = new Set(always);
    for (const [member, index] of indexes) {
      const values = texts[member];
      for (const text of values.length > 0 ? values : [NONE]) index.find(text, found);
    }
    return [...found].sort((a, b) => a - b);
  };
}

function createPatternIndex() {
  const exact = new Map<string, number[]>();
  /** Rules by the length of the text before the first wildcard, then by that text. */
  const prefixes = new Map<number, Map<string, number[]>>();
  const others: { isMatch: (text: string) => boolean; number: number }[] = [];
  return {
    add(pattern: string, number: number) {
      const wildcard = pattern.search(/[*?]/);
      if (wildcard === 0) {
        others.push({ isMatch: compileGlob(pattern), number });
      } else if (wildcard === -1) {
        append(exact, pattern, number);
      } else {
        const ofLength = prefixes.get(wildcard) ?? new Map<string, number[]>();
        prefixes.set(wildcard, ofLength);
        append(ofLength, pattern.slice(0, wildcard), number);
      }
    },
    find(text: string, found: Set<number>) {
      for (const number of exact.get(text) ?? []) found.add(number);
      for (const [length, ofLength] of prefixes) {
        for (const number of ofLength.get(text.slice(0, length)) ?? []) found.add(number);
      }
      for (const { isMatch, number } of others) if (isMatch(text)) found.add(number);
    },
  };
}

function append(lists: Map<string, number[]>, key: string, number: number): void {
  const list = lists.get(key);
  if (list) list.push(number);
  else lists.set(key, [number]);
}
