// Checks responses against the contracts, because something other than a hub may answer at the address.
import type { z } from 'zod';
import { UnreachableError } from '../errors.ts';

/** The path of the field comes from the response, which may be untrusted. */
const LONGEST_FIELD = 80;

/** Returns the response unchanged, including fields of newer hubs. @throws UnreachableError if it is not a hub response. */
export function checkedAnswer<T>(answer: unknown, shape: z.ZodType<T>, hubUrl: string): T {
  const { error } = shape.safeParse(answer, { reportInput: true });
  const mismatch = error?.issues.find(isMismatch);
  if (!mismatch) return answer as T;
  const field = mismatch.path.join('.').slice(0, LONGEST_FIELD);
  const what = field === '' ? '' : `: '${field}' is missing or has the wrong type`;
  throw new UnreachableError(hubUrl, `returned JSON that is not a hub response${what} (is this the right address?)`);
}

/** A newer hub may send new or longer values; only a value of another type shows that the server is not a hub. */
function isMismatch(issue: z.core.$ZodIssue): boolean {
  if (issue.code === 'invalid_union') return issue.errors.every((choice) => choice.some(isMismatch));
  if (issue.code === 'invalid_value') return issue.values.every((value) => typeof value !== typeof issue.input);
  return issue.code === 'invalid_type';
}
