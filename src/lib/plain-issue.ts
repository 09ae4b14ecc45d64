// Says in plain words what is wrong with input; zod's own messages are for developers.
import type { z } from 'zod';

const TYPES: Readonly<Record<string, string>> = {
  string: 'a string',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
  array: 'a list',
  object: 'an object',
  record: 'an object',
};

const UNITS: Readonly<Record<string, string>> = { string: ' characters', array: ' items' };

/** For `safeParse(input, { error: plainIssue })`. Undefined keeps the message of the schema, or of zod. */
export function plainIssue(issue: z.core.$ZodRawIssue): string | undefined {
  switch (issue.code) {
    case 'invalid_type': {
      const kind = TYPES[issue.expected] ?? `of type ${issue.expected}`;
      return issue.input === undefined || issue.input === null ? `is missing; it must be ${kind}` : `must be ${kind}`;
    }
    case 'too_small':
      return UNITS[issue.origin] && issue.minimum === 1 ? 'must not be empty' : limit('least', issue.minimum, issue);
    case 'too_big':
      return limit('most', issue.maximum, issue);
    case 'invalid_value':
      return `must be ${issue.values.length > 1 ? 'one of ' : ''}${issue.values.map(String).join(', ')}`;
    case 'unrecognized_keys':
      return `has unknown members: ${issue.keys.map((key) => `'${key}'`).join(', ')}`;
    case 'invalid_union':
      return 'is not one of the types that it may have';
    default:
      return undefined;
  }
}

function limit(which: 'least' | 'most', count: number | bigint, { origin }: { origin: string }): string {
  const unit = UNITS[origin];
  return `must ${unit ? 'have' : 'be'} at ${which} ${count}${unit ?? ''}`;
}
