// Parses the text of a policy; reports every error with line and column.

import { createRequire } from 'node:module';
import type { Document, LineCounter } from 'yaml';
import type { z } from 'zod';
import { HubError } from '../errors.ts';
import { plainIssue } from '../lib/plain-issue.ts';
import { LARGEST_POLICY, PolicyDocument } from './document.ts';

/** A fault in a policy and its position; lines and columns are counted from 1. */
interface PolicyFault {
  line: number;
  column: number;
  path: string;
  message: string;
}

const MOST_FAULTS = 20;
/** No real policy comes close. The parser recurses, and takes seconds for thousands of levels. */
const DEEPEST = 100;

/** Used to load the YAML parser with the first policy, because most hubs have none. */
const require = createRequire(import.meta.url);

/** Cached, because counting, storing and applying a change each parse the same text. */
let last: { text: string; policy: PolicyDocument } | undefined;

/** Accepts YAML or JSON. @throws HubError `invalid_policy` */
export function readPolicy(text: string): PolicyDocument {
  if (last?.text === text) return last.policy;
  const { policy, faults } = checkPolicy(text);
  if (policy) {
    last = { text, policy };
    return policy;
  }
  throw new HubError('invalid_policy', `The policy cannot be used: ${faults.slice(0, 3).map(faultLine).join('; ')}.`, {
    faults: faults.map((fault) => ({ path: fault.path, message: faultLine(fault) })),
  });
}

function faultLine({ line, column, path, message }: PolicyFault): string {
  return `line ${line}, column ${column}: ${path ? `${path} ` : ''}${message}`;
}

function checkPolicy(text: string): { policy?: PolicyDocument; faults: PolicyFault[] } {
  if (text.length > LARGEST_POLICY)
    return { faults: [atStart(`must not be longer than ${LARGEST_POLICY} characters`)] };
  if (text.includes('\u0000') || !text.isWellFormed()) return { faults: [atStart('must be text in UTF-8')] };
  if (isTooDeep(text)) return { faults: [atStart('is nested too deeply')] };
  const { parseDocument, LineCounter: Counter } = require('yaml') as typeof import('yaml');
  const lines = new Counter();
  // JSON is parsed as YAML too, to get the position of every value.
  const document = parseDocument(text.replace(/^\ufeff/, ''), {
    lineCounter: lines,
    schema: 'core',
    logLevel: 'error',
    // Compares each key with every other one, which takes seconds for thousands.
    uniqueKeys: false,
  });
  if (document.errors.length > 0) return { faults: document.errors.slice(0, MOST_FAULTS).map(syntaxFault) };
  const repeated = repeatedKey(document);
  if (repeated) return { faults: [{ ...atStart('map keys must be unique'), ...startOf(repeated, lines) }] };
  const value = plainValue(document);
  if ('fault' in value) return { faults: [atStart(value.fault)] };
  if (value.value === null) return { faults: [atStart("the policy is empty; it must start with 'version: 1'")] };
  const { data, error } = PolicyDocument.safeParse(value.value, { error: plainIssue });
  if (data) return { policy: data, faults: [] };
  const faults = error.issues.flatMap((issue) => schemaFaults(issue, { document, lines }));
  return { faults: faults.slice(0, MOST_FAULTS) };
}

/** Counts open brackets, what begins before a value (`- - &a !b`), and indentation. */
function isTooDeep(text: string): boolean {
  const { Lexer } = require('yaml') as typeof import('yaml');
  let [open, begun, isNewLine] = [0, 0, true];
  for (const token of new Lexer().lex(text)) {
    if (isNewLine && token.startsWith(' ') && token.length > DEEPEST * 4) return true;
    isNewLine = /^[\r\n]/.test(token);
    if (token === '[' || token === '{') open += 1;
    else if (token === ']' || token === '}') open = Math.max(0, open - 1);
    else if (/^[-?:&!]/.test(token)) begun += 1;
    else if (token === ',' || (isNewLine && open === 0)) begun = 0;
    if (open > DEEPEST || begun > DEEPEST) return true;
  }
  return false;
}

function plainValue(document: Document): { value: unknown } | { fault: string } {
  try {
    return { value: document.toJS({ maxAliasCount: 50 }) };
  } catch {
    return { fault: 'uses aliases that expand to too much data' };
  }
}

function repeatedKey(document: Document): unknown {
  const { visit, isScalar } = require('yaml') as typeof import('yaml');
  let repeated: unknown;
  visit(document, {
    Map(_, { items }) {
      const known = new Set<unknown>();
      repeated = items.find(({ key }) => isScalar(key) && (known.has(key.value) || !known.add(key.value)))?.key;
      return repeated === undefined ? undefined : visit.BREAK;
    },
  });
  return repeated;
}

function atStart(message: string): PolicyFault {
  return { line: 1, column: 1, path: '', message };
}

function syntaxFault({ message, linePos }: { message: string; linePos?: readonly { line: number; col: number }[] }) {
  const [sentence = ''] = message.split(/ at line \d+/, 1);
  const [{ line, col } = { line: 1, col: 1 }] = linePos ?? [];
  return { line, column: col, path: '', message: `${sentence.charAt(0).toLowerCase()}${sentence.slice(1)}` };
}

interface Source {
  document: Document;
  lines: LineCounter;
}

function schemaFaults(issue: z.core.$ZodIssue, source: Source): PolicyFault[] {
  const at = (path: readonly PropertyKey[], message: string) => ({ ...positionOf(path, source), message });
  if (issue.code === 'unrecognized_keys') {
    return issue.keys
      .slice(0, MOST_FAULTS)
      .map((key) => at([...issue.path, key], 'is not a known field here; check its spelling'));
  }
  return [at(issue.path, issue.message)];
}

/** The position of the value, or of its nearest existing parent. For an unknown key, the position of the key. */
function positionOf(path: readonly PropertyKey[], { document, lines }: Source): Omit<PolicyFault, 'message'> {
  for (let length = path.length; length >= 0; length -= 1) {
    const part = path.slice(0, length);
    const node = length === 0 ? document.contents : document.getIn(part, true);
    const start = startOf(keyOf(part, document) ?? node, lines);
    if (start) return { ...start, path: (length === 0 ? path : part).map(String).join('.') };
  }
  return { line: 1, column: 1, path: path.map(String).join('.') };
}

function keyOf(path: readonly PropertyKey[], document: Document): unknown {
  const { isMap, isScalar } = require('yaml') as typeof import('yaml');
  const parent = path.length === 1 ? document.contents : document.getIn(path.slice(0, -1), true);
  if (!isMap(parent)) return undefined;
  return parent.items.find(({ key }) => isScalar(key) && key.value === path.at(-1))?.key;
}

function startOf(node: unknown, lines: LineCounter): Pick<PolicyFault, 'line' | 'column'> | undefined {
  const start = (node as { range?: readonly number[] } | undefined)?.range?.[0];
  if (start === undefined) return undefined;
  const { line, col } = lines.linePos(start);
  return { line, column: col };
}
