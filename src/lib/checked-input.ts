// Validates input against a schema, with faults in plain words.
import type { z } from 'zod';
import { invalidMembers } from '../errors.ts';
import { plainIssue } from './plain-issue.ts';

/** `whole` names what a fault without a path is about. @throws HubError `invalid_request` */
export function checkedInput<Schema extends z.ZodType>(
  schema: Schema,
  given: unknown,
  whole?: string,
): z.output<Schema> {
  const { data, error } = schema.safeParse(given, { error: plainIssue });
  if (error)
    throw invalidMembers(
      error.issues.map(({ path, message }) => ({ path: path.join('.'), message })),
      whole,
    );
  return data;
}
